"""Ask again: what nobody decided in time is asked once more."""

from __future__ import annotations

from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.errors import DecisionRefused, NotAllowed, RunEnded, StillOpen, StoreUnavailable
from agent.rules.decisions import Decider
from agent.rules.state import Approval, RunState
from bot.slack.answering import Answer, Redrawn
from bot.slack.cards.interrupted import how_it_was_stopped
from bot.slack.cards.mentions import name_principal
from bot.slack.cards.refusals import refusal_text, saving_text, store_unavailable_text
from bot.slack.deciding import UNDECIDED, decider_of, explain, state_now
from bot.slack.ids import SlackUser
from bot.slack.links import link_to_newer
from bot.slack.payloads import Actor, Click
from bot.slack.people import NotEligible
from bot.slack.persons import Clicker
from bot.slack.services import Services
from bot.slack.thread.desired import redrawn_card

_OPEN = "Nothing was done: this is open, and can be decided."
_ASKED = "It is asked again, further down in its thread."


async def ask_again_by_click(services: Services, ack: AsyncAck, body: dict[str, Any]) -> None:
    """Whoever might decide it, or asked for the run, has it asked again; its card redraws itself. Raises
    ``BadPayload``."""
    click = Click.parse(body)
    approval_id = click.approval_id
    person = Clicker(services, ack, click, saving_text(approval_id, "wish"))
    work = _ask_again(services, click)
    await services.answering.answer(person, work, approval_id)


async def _ask_again(services: Services, click: Click) -> Answer:
    approval_id, actor = click.approval_id, click.actor
    try:
        member = await services.people.member(actor.user, actor.team)
        approval, state = await services.runtime.approval(approval_id)
        decider = await _who(services, approval, state, actor, member)
        state = await services.runtime.ask_again(approval_id, decider)
    except NotEligible as error:
        return Answer(text=f"Not asked again: {error.why}.")
    except RunEnded:
        return Answer(text=_ended(await state_now(services, approval_id)))
    except StillOpen:
        return Answer(text=_OPEN)
    except StoreUnavailable:
        return Answer(text=store_unavailable_text(what="asked again"))
    except DecisionRefused as error:
        now = await state_now(services, approval_id)
        link = await link_to_newer(services, approval_id, now)
        return Answer(text=_refused(error, now) + link)
    except UNDECIDED as error:
        return Answer(text=await explain(services, error, approval_id))
    approval = state.approvals[approval_id]
    is_elsewhere = approval.requested.delivery.is_elsewhere
    key, card = redrawn_card(approval_id, state, among_others=click.is_one_of_several)
    redrawn = Redrawn(state.run_id, key, card, is_elsewhere)
    return Answer(card=redrawn, if_late=_ASKED)


async def _who(
    services: Services, approval: Approval, state: RunState, actor: Actor, member: SlackUser
) -> Decider:
    """Whoever asked for the run may have it asked again, whatever groups there are."""
    if member.principal == state.requester:
        return Decider(member.principal, user=actor.user)
    return await decider_of(services, approval, state, actor)


def _refused(error: DecisionRefused, state: RunState | None) -> str:
    text = refusal_text(error, state).removeprefix("Not decided: ").removeprefix("Not answered: ")
    if isinstance(error, NotAllowed) and state is not None:
        who = name_principal(state.requester)
        return f"Not asked again: {text} {who}, who asked for the run, can have it asked again."
    return text if text.startswith("Too late") else f"Not asked again: {text}"


def _ended(state: RunState | None) -> str:
    if state is None or state.stop is None:
        return "Not asked again: its run has ended."
    return f"Not asked again: {how_it_was_stopped(state)}."
