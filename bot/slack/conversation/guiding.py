"""From a click on "Use as guidance" to a call that is steered by what somebody had said."""

from __future__ import annotations

from typing import Final

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.rules.decisions import Steer
from agent.rules.ids import ApprovalId, GroupId
from agent.rules.state import Approval, RunState
from bot.slack.answering import Answer, Redrawn
from bot.slack.cards.guidance import (
    could_guide,
    first_of,
    note_message,
    notes,
    said_at,
    which_of_several,
)
from bot.slack.cards.refusals import NOT_FOUND, saving_text
from bot.slack.cards.text import plainly
from bot.slack.deciding import Meant, attempt
from bot.slack.ids import GUIDANCE_BLOCK
from bot.slack.links import link_in_thread
from bot.slack.outcomes import Done, decided_answer, explain, outcome_of
from bot.slack.payloads import Click, read_approval_id
from bot.slack.persons import Clicker
from bot.slack.services import Services

_NOT_THERE: Final = (
    "That message was edited or deleted since you saw it, or was not said while this waited."
)


async def use_as_guidance(services: Services, ack: AsyncAck, click: Click) -> None:
    """Steer as the message says that the button stands below; it redraws itself, and nothing more is said.
    Raises ``BadPayload``."""
    approval_id = click.approval_id
    person = Clicker(services, ack, click, saving_text(approval_id))
    await services.answering.answer(person, _use(services, click, approval_id), approval_id)


async def use_for_all(services: Services, ack: AsyncAck, click: Click) -> None:
    """The same of each call that the message offers it for. Raises ``BadPayload``."""
    first, group = read_approval_id(first_of(click.block_id)), click.group_id
    person = Clicker(services, ack, click, saving_text(first, "decisions"))
    await services.answering.answer(person, _use_for_all(services, click, first, group), first)


async def _use_for_all(
    services: Services, click: Click, first: ApprovalId, group: GroupId
) -> Answer:
    """Each is decided by itself, by its own rule; of those that were not they are told."""
    seen = said_at(click.block_id)
    match await outcome_of(services, first, services.runtime.approval(first)):
        case Done(value=(approval, _)) if approval.requested.group != group:
            return Answer(text=NOT_FOUND)
        case Done(value=(_, state)):
            offered = [one for note in notes(state) for one in note.offers if one.said.news == seen]
        case undone:
            return Answer(text=await explain(services, undone))
    asked = [one for offer in offered for one in offer.open]
    if len(asked) < 2:
        # It is one of several no more.
        return await _use(services, click, first)
    answers = [await _use(services, click, one.id) for one in asked]
    not_used = [
        f"{plainly(which_of_several(one, state))}: {answer.text}"
        for one, answer in zip(asked, answers, strict=True)
        if answer.text
    ]
    return Answer(text="\n".join(not_used)) if not_used else answers[-1]


async def _use(services: Services, click: Click, approval_id: ApprovalId) -> Answer:
    seen = said_at(click.block_id)

    def read(approval: Approval, state: RunState) -> Meant:
        said = next((one for one in state.said if one.news == seen), None)
        if said is None or said.ref in state.deleted or not could_guide(said, approval):
            return Meant(Steer(), {GUIDANCE_BLOCK: _NOT_THERE})
        decision = Steer(guidance=said.text, ref=said.ref)
        # A group's are those that the run offers.
        is_of_another = click.spot.shows_others and not click.is_of_group
        return Meant(decision, is_of_another=is_of_another)

    redraws = click.spot.redrawn_at
    match await attempt(services, approval_id, click.actor, read, redraws=redraws):
        case Done(value=state):
            return await _used(services, state, approval_id, seen)
        case undone:
            return Answer(text=await explain(services, undone))


async def _used(
    services: Services, state: RunState, approval_id: ApprovalId, seen: int | None
) -> Answer:
    shown = services.shown(state)
    card, note = None, next((one for one in notes(shown) if one.has(seen)), None)
    if note is not None:
        link = await link_in_thread(services, note.offers[-1].about, state) if note.open else None
        card = Redrawn(state.run_id, note_message(note, shown, link), state.updated_at)
    return Answer(card=card, if_late=decided_answer(services, state, approval_id).if_late)
