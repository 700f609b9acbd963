"""Ask again: what nobody decided in time is asked once more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.errors import DecisionRefused, NotAllowed, RunEnded, StillOpen
from agent.rules.ids import ApprovalId
from agent.rules.state import RunState
from bot.slack.answering import Answer, Redrawn
from bot.slack.cards.interrupted import how_it_was_stopped
from bot.slack.cards.mentions import name_principal
from bot.slack.cards.refusals import refusal_text, saving_text
from bot.slack.deciding import asked_of, decider_of
from bot.slack.links import link_to_newer, links_to_words
from bot.slack.outcomes import Done, Refused, explain, outcome_of
from bot.slack.payloads import Actor, Click
from bot.slack.persons import Clicker
from bot.slack.services import Services
from bot.slack.thread.as_drawn import redrawn_card

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
    approval_id = click.approval_id
    asking = _asked_again(services, approval_id, click.actor)
    match await outcome_of(services, approval_id, asking):
        case Done(value=state):
            return _answer(services.shown(state), click, await links_to_words(services, state))
        case Refused(error=RunEnded(), state=now):
            return Answer(text=_ended(now))
        case Refused(error=StillOpen()):
            return Answer(text=_OPEN)
        case Refused(error=DecisionRefused() as error, state=now):
            link = await link_to_newer(services, approval_id, now)
            return Answer(text=_refused(error, now) + link)
        case undone:
            return Answer(text=await explain(services, undone, "asked again"))


async def _asked_again(services: Services, approval_id: ApprovalId, actor: Actor) -> RunState:
    """Raises one of ``REFUSALS``, ``StoreUnavailable``."""
    approval, state = await asked_of(services, approval_id, actor)
    decider = await decider_of(services, approval, state, actor, or_requester=True)
    return await services.runtime.ask_again(approval_id, decider)


def _answer(state: RunState, click: Click, words_at: Mapping[str, str]) -> Answer:
    card = redrawn_card(
        click.approval_id,
        state,
        among_others=click.is_one_of_several,
        channel=click.spot.channel,
        words_at=words_at,
    )
    return Answer(card=Redrawn(state.run_id, card), if_late=_ASKED)


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
