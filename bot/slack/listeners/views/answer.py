"""The modal of a question, sent off."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.cards.refusals import saving_text
from bot.slack.payloads import Submission
from bot.slack.persons import Submitter
from bot.slack.questions import answer_by_modal
from bot.slack.services import Services


async def answer(ack: AsyncAck, body: dict[str, Any], services: Services) -> None:
    submission = Submission.parse(body)
    approval_id = submission.approval_id
    work = answer_by_modal(services, approval_id, submission)
    saving = saving_text(approval_id, "answer", is_directly=True)
    person = Submitter(services, ack, submission, "Answer", saving)
    await services.answering.answer(person, work, approval_id)
