"""Approve all and Deny all on the card of several calls: a modal lists them, and what it listed is decided.

Each is decided by itself, by its own rule, and the person is told of each what became of it.
"""

from __future__ import annotations

from typing import Any, Final

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.errors import NotFound
from agent.rules.decisions import Approve, Deny
from agent.rules.ids import ApprovalId, GroupId
from agent.rules.state import Approval, RunState
from bot.slack.answering import WENT_WRONG, Answer
from bot.slack.cards.all_of import Listed, Verb, all_modal, number_on_card
from bot.slack.cards.deciding import title_in_words
from bot.slack.cards.modals import View, read_words
from bot.slack.cards.refusals import NOT_FOUND, counted_text, saving_text
from bot.slack.cards.together import shared_card
from bot.slack.deciding import Meant, asked_of, attempt, is_shown_in_full
from bot.slack.ids import REASON_BLOCK
from bot.slack.opening import drawn_or_why, open_when_drawn, why_not_now
from bot.slack.outcomes import Done, explain
from bot.slack.payloads import Actor, Click, Submission
from bot.slack.persons import Clicker, Submitter
from bot.slack.services import Services

_NOTHING_LEFT: Final = "Not decided: nothing on this card waits for a decision any more."
_DONE: Final[dict[Verb, str]] = {"Approve": "✅ Approved.", "Deny": "⛔ Denied."}


async def open_for_all(services: Services, ack: AsyncAck, body: dict[str, Any], verb: Verb) -> None:
    """List what would be decided. Raises ``BadPayload``."""
    click = Click.parse(body)
    group, first = click.group_id, click.first_of_card
    person = Clicker(services, ack, click, saving="")
    drawn = _drawn(services, click.actor, group, first, verb)
    work = open_when_drawn(services, click, drawn, button=f"{verb} all")
    await services.answering.answer(person, work, group)


async def decide_all(services: Services, ack: AsyncAck, body: dict[str, Any], verb: Verb) -> None:
    """Decide what was listed; the card is redrawn by whoever draws the thread. Raises ``BadPayload``."""
    submission = Submission.parse(body)
    listed = submission.listed
    saving = saving_text(listed.approvals[0], "decisions", is_directly=True)
    person = Submitter(services, ack, submission, f"{verb} all", saving)
    decision = Approve() if verb == "Approve" else _denial(submission)
    work = _decide_each(services, listed, decision, submission.actor, verb)
    await services.answering.answer(person, work, listed.group)


def _denial(submission: Submission) -> Deny:
    reason = read_words(submission.values, REASON_BLOCK)
    return Deny(reason) if reason else Deny()


async def _drawn(
    services: Services, actor: Actor, group: GroupId, first: ApprovalId, verb: Verb
) -> View | str:
    """The modal; else why this person does not get it now."""

    async def drawing() -> View | str:
        approval, state = await asked_of(services, first, actor)
        if approval.requested.group != group:
            return NOT_FOUND
        return await _listing(services, actor, state, first, verb)

    return await drawn_or_why(services, first, drawing())


async def _listing(
    services: Services, actor: Actor, state: RunState, first: ApprovalId, verb: Verb
) -> View | str:
    card = shared_card(first, state)
    waiting = card.pending if card else ()
    refusals = {one.id: await why_not_now(services, one, state, actor, "call") for one in waiting}
    listed = [
        one
        for one in waiting
        if refusals[one.id] is None
        and (verb == "Deny" or await is_shown_in_full(services, one, state, actor))
    ]
    if listed:
        return all_modal(verb, listed, state, others=len(waiting) - len(listed))
    return next((why for why in refusals.values() if why is not None), _NOTHING_LEFT)


async def _decide_each(
    services: Services, listed: Listed, decision: Approve | Deny, actor: Actor, verb: Verb
) -> Answer:
    told = [
        await _decide(services, listed.group, one, decision, actor, verb, number)
        for number, one in enumerate(listed.approvals, 1)
    ]
    return Answer(text="\n".join(told))


async def _decide(
    services: Services,
    group: GroupId,
    approval_id: ApprovalId,
    decision: Approve | Deny,
    actor: Actor,
    verb: Verb,
    number: int,
) -> str:
    """What became of this one, under its number on the card, or ``number`` where that can't be read. Of the others
    that is known, whatever happens here."""
    title = f"{number}. "

    def read(approval: Approval, state: RunState) -> Meant:
        nonlocal title
        if approval.requested.group != group:
            raise NotFound("approval", approval_id)
        title = f"{number_on_card(approval, state) or f'{number}. '}{title_in_words(approval)}: "
        return Meant(decision)

    async def told() -> str:
        match await attempt(services, approval_id, actor, read):
            case Done(value=state) if state.approvals[approval_id].status == "pending":
                return counted_text(state.approvals[approval_id], state)
            case Done():
                return _DONE[verb]
            case undone:
                return await explain(services, undone)

    # What was read by then stands before it.
    words = await services.answering.ended(told(), approval_id, WENT_WRONG)
    return title + words
