"""The modals in which a decision is given with words, sent off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.errors import DecisionRefused, InvalidArgs, NotFound, StoreUnavailable
from agent.rules.decisions import Approve, Deny
from agent.rules.ids import ApprovalId
from bot.slack.answering import Answer
from bot.slack.cards.forms import form_errors, read_approve, read_deny, read_grant
from bot.slack.cards.modals import StateValues
from bot.slack.cards.refusals import (
    NOTHING_SENT,
    saving_text,
    store_unavailable_text,
)
from bot.slack.deciding import (
    UNDECIDED,
    asked_of,
    decide_shown,
    decided_answer,
    explain,
    explain_too_late,
)
from bot.slack.ids import (
    APPROVE_MODAL,
    DENY_MODAL,
    GRANT_MODAL,
    LASTS_BLOCK,
    NOTE_BLOCK,
    REASON_BLOCK,
)
from bot.slack.ineligible import record_ineligible
from bot.slack.opening import why_not_now
from bot.slack.payloads import Submission
from bot.slack.people import NotEligible
from bot.slack.persons import Submitter
from bot.slack.services import Services

Read = Callable[[StateValues], Approve | Deny | dict[str, str]]
#: Of each form: its title, how it is read, what it says where a part is wrong, and where that stands which is
#: wrong otherwise.
_FORMS: Mapping[str, tuple[str, Read, Approve | Deny, str]] = {
    DENY_MODAL: ("Deny", read_deny, Deny(), REASON_BLOCK),
    APPROVE_MODAL: ("Approve", read_approve, Approve(), NOTE_BLOCK),
    GRANT_MODAL: ("Allow beforehand", read_grant, Approve(), LASTS_BLOCK),
}


async def decide_by_form(services: Services, ack: AsyncAck, body: dict[str, Any]) -> None:
    """Decide as the form says; its card is redrawn by whoever draws the thread. Raises ``BadPayload``."""
    submission = Submission.parse(body)
    approval_id = submission.approval_id
    title, *_ = _FORMS[submission.callback_id]
    person = Submitter(services, ack, submission, title, saving_text(approval_id))
    work = _decide(services, approval_id, submission)
    await services.answering.answer(person, work, approval_id)


async def _decide(services: Services, approval_id: ApprovalId, submission: Submission) -> Answer:
    """What is wrong stands at its input, and nothing is decided."""
    actor, state = submission.actor, None
    _, read, meant, block_id = _FORMS[submission.callback_id]
    found = read(submission.values)
    decision = meant if isinstance(found, dict) else found
    try:
        approval, state = await asked_of(services, approval_id, actor)
        if isinstance(found, dict):
            # That they may not, or are too late, comes before what is wrong.
            told = await why_not_now(services, approval, state, actor, "call")
            return Answer(text=f"{told} {NOTHING_SENT}") if told else Answer(errors=found)
        state = await decide_shown(services, approval, state, found, actor)
    except InvalidArgs as error:
        return Answer(errors=form_errors(error.errors, block_id))
    except StoreUnavailable:
        # The modal stays, with everything that was typed.
        run_id = state.run_id if state else None
        return Answer(errors={block_id: store_unavailable_text(run_id)})
    except (DecisionRefused, NotFound) as error:
        return Answer(text=await explain_too_late(services, error, approval_id))
    except NotEligible as error:
        await record_ineligible(services, approval_id, lambda _: decision, actor, error)
        return Answer(text=await explain(services, error, approval_id))
    except UNDECIDED as error:
        return Answer(text=await explain(services, error, approval_id))
    return Answer(if_late=decided_answer(state, approval_id).if_late)
