"""From a click or a written decision to the decision itself, and to what is said of it.

Who it is comes first: somebody who may decide nothing here learns nothing about the question.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from agent.errors import (
    AlreadyDecided,
    AlreadyVoted,
    ConfigError,
    CorruptJournal,
    DecisionRefused,
    NotFound,
    PilothouseError,
    StoreError,
    StoreUnavailable,
    UnknownEvent,
)
from agent.rules.decisions import Approve, Decider, Decision, Deny, why_not
from agent.rules.ids import ApprovalId, Principal, RunId
from agent.rules.parts import Approvers
from agent.rules.state import Approval, RunState
from bot.slack.answering import Answer, Redrawn
from bot.slack.cards.card import card_of
from bot.slack.cards.in_full import THERE, is_in_slack_itself
from bot.slack.cards.refusals import (
    NOT_FOUND,
    NOT_SHOWN,
    counted_text,
    refusal_text,
    saving_text,
    stands_text,
    store_unavailable_text,
    too_late_to_send,
    unreadable_text,
)
from bot.slack.cards.text import escape
from bot.slack.ids import SlackUser
from bot.slack.ineligible import record_ineligible
from bot.slack.links import link_to_newer
from bot.slack.payloads import Actor, Click
from bot.slack.people import NotEligible
from bot.slack.persons import Clicker
from bot.slack.services import Services
from bot.slack.thread.desired import redrawn_card
from bot.slack.thread.files import is_attached, is_shown

_log = logging.getLogger(__name__)


class NotShown(PilothouseError):
    """What people can't see in full can't be approved."""

    code = "not_shown"


#: Nothing was decided, and that is certain. Any other failure of the store leaves it open.
UNDECIDED = (
    NotEligible,
    NotFound,
    NotShown,
    DecisionRefused,
    ConfigError,
    CorruptJournal,
    UnknownEvent,
)


async def decide_by_click(
    services: Services, ack: AsyncAck, body: dict[str, Any], decision: Decision
) -> None:
    """Decide as the button says; its card redraws itself, and nothing more is said. Raises
    ``BadPayload``."""
    await decide_clicked(services, ack, Click.parse(body), lambda _: decision)


async def decide_clicked(
    services: Services,
    ack: AsyncAck,
    click: Click,
    read: Callable[[Approval], Decision],
    *,
    what: str = "decision",
) -> None:
    """The same where the approval tells what the button stands for. Raises ``BadPayload``."""
    approval_id = click.approval_id
    person = Clicker(services, ack, click, saving_text(approval_id, what))
    work = _answer_click(services, click, read)
    await services.answering.answer(person, work, approval_id)


async def decide_in_words(
    services: Services, approval_id: ApprovalId, decision: Approve | Deny, actor: Actor
) -> Answer:
    """Decide; there is no card to redraw here, so it is said. Raises ``StoreUnavailable``: then the
    message is delivered again."""
    try:
        approval, state = await asked_of(services, approval_id, actor)
        state = await decide_shown(services, approval, state, decision, actor, in_words=True)
    except NotEligible as error:
        await record_ineligible(services, approval_id, lambda _: decision, actor, error)
        return Answer(text=await explain(services, error, approval_id))
    except UNDECIDED as error:
        if isinstance(error, AlreadyDecided) and _is_the_same(error, decision, actor):
            # A message may be delivered again when it has been carried out, too.
            return Answer(text=await _standing(services, error))
        return Answer(text=await explain(services, error, approval_id))
    return Answer(text=decided_answer(state, approval_id).if_late)


async def _answer_click(
    services: Services, click: Click, read: Callable[[Approval], Decision]
) -> Answer:
    approval_id, actor = click.approval_id, click.actor
    run_id: RunId | None = None
    try:
        approval, state = await asked_of(services, approval_id, actor)
        run_id = state.run_id
        state = await decide_shown(services, approval, state, read(approval), actor)
    except StoreUnavailable:
        return Answer(text=store_unavailable_text(run_id))
    except NotEligible as error:
        await record_ineligible(services, approval_id, read, actor, error)
        return Answer(text=await explain(services, error, approval_id))
    except UNDECIDED as error:
        return Answer(text=await explain(services, error, approval_id))
    return decided_answer(state, approval_id, among_others=click.is_one_of_several)


async def asked_of(
    services: Services, approval_id: ApprovalId, actor: Actor
) -> tuple[Approval, RunState]:
    """What is asked, for a member's eyes. Raises one of ``UNDECIDED``, ``StoreUnavailable``."""
    await services.people.member(actor.user, actor.team)
    return await services.runtime.approval(approval_id)


async def decide_shown(
    services: Services,
    approval: Approval,
    state: RunState,
    decision: Decision,
    actor: Actor,
    *,
    in_words: bool = False,
) -> RunState:
    """The run after the decision; what is not shown in full is not approved. ``in_words``: not by a button, which
    stands only where there are blocks. Raises one of ``UNDECIDED``, ``StoreUnavailable``."""
    decider = await decider_of(services, approval, state, actor)
    if (
        isinstance(decision, Approve)
        and may_decide(approval, state, decider)
        and not await is_shown_in_full(services, approval, state, actor, in_words=in_words)
    ):
        raise NotShown(NOT_SHOWN)
    return await services.runtime.decide(approval.id, decision, decider)


def may_decide(approval: Approval, state: RunState, decider: Decider) -> bool:
    """Is it theirs to decide, open or not?"""
    return why_not(approval.approvers, state.requesters, decider, approval.kind) is None


async def decider_of(
    services: Services,
    approval: Approval,
    state: RunState,
    actor: Actor,
    also: Collection[str] = (),
) -> Decider:
    """This person as one who decides this approval, with those of the groups ``also`` that they are
    in. Raises ``NotEligible``."""
    asked, requester = approval.approvers, SlackUser.of(state.requester)
    if approval.kind == "question" and requester is not None and requester.user == actor.user:
        # Whoever asked for the run may answer, whatever groups there are.
        asked = Approvers()
    return await services.people.decider(actor.user, actor.team, asked=asked, also=also)


def decided_answer(
    state: RunState, approval_id: ApprovalId, *, among_others: bool = False
) -> Answer:
    """What a person sees of a decision of theirs that was taken; ``among_others``: on a card of several."""
    approval = state.approvals[approval_id]
    card = card_of(approval, state, file=THERE)
    what = "answer" if approval.kind == "question" else "decision"
    told = f"Your {what} was saved: {card.text}"
    if approval.status == "pending":
        told = counted_text(approval, state)
    is_elsewhere = approval.requested.delivery.card != "thread"
    key, message = redrawn_card(approval_id, state, among_others=among_others)
    redrawn = Redrawn(state.run_id, key, message, is_elsewhere)
    return Answer(card=redrawn, if_late=told)


async def explain(services: Services, error: Exception, approval_id: ApprovalId) -> str:
    """Why nothing was decided, in words for the person who tried; ``error`` is ``UNDECIDED``."""
    match error:
        case NotEligible(why=why):
            return f"Not decided: {why}."
        case NotFound():
            return NOT_FOUND
        case NotShown():
            return NOT_SHOWN
        case DecisionRefused():
            state = await state_now(services, approval_id)
            return refusal_text(error, state) + await link_to_newer(services, approval_id, state)
        case ConfigError():
            return f"Not decided: {escape(str(error))}"
        case _:
            _log.error("Could not decide %s: %s", approval_id, type(error).__name__)
            return unreadable_text(approval_id)


async def explain_too_late(
    services: Services, error: DecisionRefused | NotFound, approval_id: ApprovalId
) -> str:
    """For whoever sent off a modal when there was nothing left to decide."""
    state = await state_now(services, approval_id)
    return too_late_to_send(error, state) + await link_to_newer(services, approval_id, state)


async def state_now(services: Services, approval_id: ApprovalId) -> RunState | None:
    """The approval's run: somebody else may have moved it since it was read. None if it is gone."""
    try:
        _, state = await services.runtime.approval(approval_id)
    except (StoreError, NotFound):
        return None
    return state


def _is_the_same(error: AlreadyDecided, decision: Approve | Deny, actor: Actor) -> bool:
    """Did this person decide this, and so?"""
    if isinstance(error, AlreadyVoted):
        return False
    by = SlackUser.of(Principal(error.by))
    done = "approved" if isinstance(decision, Approve) else "denied"
    return by is not None and by.user == actor.user and error.action == done


async def _standing(services: Services, error: AlreadyDecided) -> str:
    approval_id = ApprovalId(error.approval_id)
    state = await state_now(services, approval_id)
    if state is None:
        return refusal_text(error)
    return stands_text(card_of(state.approvals[approval_id], state))


async def is_shown_in_full(
    services: Services,
    approval: Approval,
    state: RunState,
    actor: Actor,
    *,
    in_words: bool = False,
) -> bool:
    """What this person can't see in full they can't approve; what is over has its own answer. Raises
    ``StoreUnavailable``."""
    if approval.kind != "call" or approval.status != "pending":
        return True
    if not in_words and is_in_slack_itself(approval, state.call(approval.requested.of_call)):
        return True
    known = await services.runtime.store.threads.known(state.run_id)
    return is_shown(known.messages, approval, state, actor.user)


async def has_file(services: Services, approval: Approval, state: RunState, actor: Actor) -> bool:
    """Is all of it in a file where this person is asked? Raises ``StoreUnavailable``."""
    known = await services.runtime.store.threads.known(state.run_id)
    return is_attached(known.messages, approval, actor.user)
