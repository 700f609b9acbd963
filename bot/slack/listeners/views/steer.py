"""The Steer modal, sent off."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.cards.refusals import saving_text
from bot.slack.payloads import Submission
from bot.slack.persons import Submitter
from bot.slack.services import Services
from bot.slack.steering import decide_by_modal


async def steer(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    submission = Submission.parse(body)
    approval_id = submission.approval_id
    work = decide_by_modal(services, approval_id, submission)
    person = Submitter(
        services, ack, submission, "Steer", saving_text(approval_id, is_directly=True)
    )
    await services.answering.answer(person, work, approval_id)
