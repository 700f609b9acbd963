"""What is chosen in the menu of a call's card."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any, Final

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.errors import NotFound
from agent.rules.calls import Call
from agent.rules.ids import ApprovalId
from agent.rules.state import Approval, RunState
from bot.slack.answering import Answer
from bot.slack.cards.forms import approve_modal, deny_modal, grant_modal
from bot.slack.cards.modals import View
from bot.slack.cards.more import why_text
from bot.slack.cards.refusals import NOT_SHOWN
from bot.slack.deciding import asked_of, is_shown_in_full
from bot.slack.fields import BadPayload
from bot.slack.opening import Draw, WhyNot, open_for, why_not_now
from bot.slack.outcomes import Done, explain, outcome_of
from bot.slack.payloads import Actor, Click
from bot.slack.persons import Clicker
from bot.slack.services import Services

_WHY: Final = "why"


async def choose_more(services: Services, ack: AsyncAck, body: dict[str, Any]) -> None:
    """Open the form that was chosen, or explain. Raises ``BadPayload``."""
    click = Click.parse(body)
    about = click.approval_id
    person = Clicker(services, ack, click, saving="")
    await services.answering.answer(person, _work(services, click), about)


def _work(services: Services, click: Click) -> Coroutine[Any, Any, Answer]:
    """Raises ``BadPayload`` for what no menu of ours offers."""
    if click.chosen == _WHY:
        return _explain_why(services, click.approval_id, click.actor)
    if (form := _FORMS.get(click.chosen or "")) is None:
        raise BadPayload("choice")
    button, draw, why_not = form
    return open_for(services, click, draw, why_not, button=button)


async def _explain_why(services: Services, approval_id: ApprovalId, actor: Actor) -> Answer:
    """To any member who sees the card, also when it is over; it decides nothing."""
    match await outcome_of(services, approval_id, _why(services, approval_id, actor)):
        case Done(value=text):
            return Answer(text=text)
        case undone:
            return Answer(text=await explain(services, undone, "looked up"))


async def _why(services: Services, approval_id: ApprovalId, actor: Actor) -> str:
    """Raises one of ``REFUSALS``, ``StoreUnavailable``."""
    approval, state = await asked_of(services, approval_id, actor)
    if approval.requested.call_id is None:
        raise NotFound("approval", approval_id)
    return why_text(approval, state.call(approval.requested.of_call), state)


def _deny(approval: Approval, call: Call, state: RunState) -> View:
    return deny_modal(approval, call)


def _approve(approval: Approval, call: Call, state: RunState) -> View:
    return approve_modal(approval, call)


def _approve_run(approval: Approval, call: Call, state: RunState) -> View:
    return grant_modal(approval, call, "run")


def _approve_thread(approval: Approval, call: Call, state: RunState) -> View:
    return grant_modal(approval, call, "thread")


async def _why_not(
    services: Services, approval: Approval, state: RunState, actor: Actor
) -> str | None:
    return await why_not_now(services, approval, state, actor, "call")


async def _why_no_yes(
    services: Services, approval: Approval, state: RunState, actor: Actor
) -> str | None:
    """What they can't see in full they can't approve."""
    why = await _why_not(services, approval, state, actor)
    if why is None and not await is_shown_in_full(services, approval, state, actor):
        return NOT_SHOWN
    return why


#: The title of each form, how it is drawn, and for whom not.
_FORMS: Final[Mapping[str, tuple[str, Draw, WhyNot]]] = {
    "deny_reason": ("Deny with a reason", _deny, _why_not),
    "approve_note": ("Approve with a note", _approve, _why_no_yes),
    "approve_run": ("Approve for this run", _approve_run, _why_no_yes),
    "approve_thread": ("Approve in thread", _approve_thread, _why_no_yes),
}
