"""The modals in which a decision is given with words, sent off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.rules.decisions import Approve, Deny
from agent.rules.ids import ApprovalId
from bot.slack.answering import Answer
from bot.slack.cards.forms import form_errors, read_approve, read_deny, read_grant
from bot.slack.cards.modals import StateValues
from bot.slack.cards.refusals import saving_text
from bot.slack.deciding import Meant, attempt
from bot.slack.ids import (
    APPROVE_MODAL,
    DENY_MODAL,
    GRANT_MODAL,
    LASTS_BLOCK,
    NOTE_BLOCK,
    REASON_BLOCK,
)
from bot.slack.outcomes import answer_submission
from bot.slack.payloads import Submission
from bot.slack.persons import Submitter
from bot.slack.services import Services


@dataclass(frozen=True, slots=True)
class _Form:
    title: str
    #: The decision, or what is wrong by block id.
    read: Callable[[StateValues], Approve | Deny | dict[str, str]]
    #: What it says, whatever its parts are.
    says: Approve | Deny
    #: Where its words are written, and where stands what belongs to no input of its own.
    words_block: str
    other_block: str

    def meant(self, values: StateValues) -> Meant:
        found = self.read(values)
        return Meant(self.says, found) if isinstance(found, dict) else Meant(found)


_FORMS: Final[Mapping[str, _Form]] = {
    DENY_MODAL: _Form("Deny", read_deny, Deny(), REASON_BLOCK, REASON_BLOCK),
    APPROVE_MODAL: _Form("Approve", read_approve, Approve(), NOTE_BLOCK, NOTE_BLOCK),
    GRANT_MODAL: _Form("Allow beforehand", read_grant, Approve(), NOTE_BLOCK, LASTS_BLOCK),
}


async def decide_by_form(services: Services, ack: AsyncAck, body: dict[str, Any]) -> None:
    """Decide as the form says; its card is redrawn by whoever draws the thread. Raises ``BadPayload``."""
    submission = Submission.parse(body)
    approval_id, form = submission.approval_id, _FORMS[submission.callback_id]
    saving = saving_text(approval_id, is_directly=True)
    person = Submitter(services, ack, submission, form.title, saving)
    work = _decide(services, approval_id, submission, form)
    await services.answering.answer(person, work, approval_id)


async def _decide(
    services: Services, approval_id: ApprovalId, submission: Submission, form: _Form
) -> Answer:
    """What is wrong stands at its input, and nothing is decided."""
    meant = form.meant(submission.values)
    outcome = await attempt(services, approval_id, submission.actor, lambda *_: meant)
    return await answer_submission(
        services,
        outcome,
        approval_id,
        block_id=form.other_block,
        errors_of=lambda error, _: form_errors(error.errors, form.words_block, form.other_block),
    )
