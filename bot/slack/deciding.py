"""From a click, a modal or a written decision to the decision itself.

Who it is comes first: somebody who may decide nothing here learns nothing about the question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue
from slack_bolt.context.ack.async_ack import AsyncAck

from agent.errors import AlreadyDecided, DecisionRefused, NotAllowed, StoreUnavailable
from agent.rules.decisions import Approve, Decider, Decision, Deny, Steer, why_not
from agent.rules.ids import ApprovalId
from agent.rules.parts import Approvers
from agent.rules.repeated import is_repeated
from agent.rules.state import Approval, RunState
from bot.slack.answering import Answer
from bot.slack.cards.approval import can_be_steered_to
from bot.slack.cards.in_full import is_in_slack_itself
from bot.slack.cards.refusals import LEFT_NOT_SHOWN, closed_error, saving_text
from bot.slack.ids import GUIDANCE_BLOCK, SlackUser
from bot.slack.ineligible import record_ineligible
from bot.slack.links import links_to_words
from bot.slack.outcomes import (
    Done,
    FileNotThere,
    Held,
    Mistaken,
    NotOnThisMessage,
    NotShown,
    Outcome,
    Refused,
    Stands,
    decided_answer,
    explain,
    outcome_of,
)
from bot.slack.payloads import Actor, Click
from bot.slack.people import NotEligible
from bot.slack.persons import Clicker
from bot.slack.services import Services
from bot.slack.thread.files import file_for, is_attached, is_shown
from bot.slack.thread.rested_on import IS_GONE, NOT_SHOWN, why_not_rested_on


@dataclass(frozen=True, slots=True)
class Meant:
    """What somebody wants."""

    decision: Decision
    #: What is wrong with how they said it, by block id: it is refused then. That they may not, or are too late,
    #: is said before.
    mistakes: Mapping[str, str] = field(default_factory=dict)
    #: Does the message that was clicked show other questions, and not this one?
    is_of_another: bool = False


#: What somebody wants, once it is known of what. May raise ``NotFound``.
Read = Callable[[Approval, RunState], Meant]


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
    meant = Meant(decision)
    match await attempt(services, approval_id, actor, lambda *_: meant, in_words=True):
        case Done(value=state):
            return Answer(text=decided_answer(services, state, approval_id).if_late)
        case Held(error=StoreUnavailable() as error):
            raise error
        case undone:
            return Answer(text=await explain(services, undone))


async def _answer_click(
    services: Services, click: Click, read: Callable[[Approval], Decision]
) -> Answer:
    approval_id, redraws = click.approval_id, click.spot.redrawn_at

    def meant(approval: Approval, _: RunState) -> Meant:
        return Meant(read(approval), is_of_another=click.spot.shows_others)

    match await attempt(services, approval_id, click.actor, meant, redraws=redraws):
        case Done(value=state):
            return decided_answer(
                services,
                state,
                approval_id,
                among_others=click.is_one_of_several,
                channel=click.spot.channel,
                words_at=await links_to_words(services, state),
            )
        case undone:
            return Answer(text=await explain(services, undone))


async def attempt(
    services: Services,
    approval_id: ApprovalId,
    actor: Actor,
    read: Read,
    *,
    in_words: bool = False,
    redraws: str | None = None,
) -> Outcome[RunState]:
    """Decide as ``read`` says. Whoever is refused, that is taken down. ``in_words``: not by a button, which
    stands only where there are blocks; ``redraws``: where the message stands that is about to show it."""
    deciding = _decide(services, approval_id, actor, read, in_words=in_words, redraws=redraws)
    match outcome := await outcome_of(services, approval_id, deciding):
        case Held(error=NotEligible() as error) | Refused(error=NotEligible() as error):
            await record_ineligible(
                services, approval_id, lambda *of: read(*of).decision, actor, error
            )
        case Refused(error=AlreadyDecided(), state=RunState() as state):
            if await _had_done_so(services, state.approvals[approval_id], state, actor, read):
                return Stands(approval_id, state)
    return outcome


async def asked_of(
    services: Services, approval_id: ApprovalId, actor: Actor
) -> tuple[Approval, RunState]:
    """What is asked, for a member's eyes. Raises one of ``REFUSALS``, ``StoreUnavailable``."""
    # Everything that needs Slack or the store is asked for at the same time.
    member, asked = await asyncio.gather(
        services.people.member(actor.user, actor.team),
        services.runtime.approval(approval_id),
        return_exceptions=True,
    )
    if isinstance(member, BaseException):
        raise member
    if isinstance(asked, BaseException):
        raise asked
    return asked


async def _decide(
    services: Services,
    approval_id: ApprovalId,
    actor: Actor,
    read: Read,
    *,
    in_words: bool,
    redraws: str | None,
) -> RunState:
    """The run after the decision. Raises one of ``REFUSALS``, ``StoreUnavailable``."""
    approval, state = await asked_of(services, approval_id, actor)
    meant = read(approval, state)
    also = _groups_of_changed(services, approval, state, meant.decision)
    decider = await decider_of(services, approval, state, actor, also)
    try:
        await _check(services, approval, state, meant, decider, actor, in_words=in_words)
    except DecisionRefused as refused:
        await services.runtime.record_refusal(state.run_id, meant.decision, decider, refused)
        raise
    return await services.runtime.decide(
        approval_id, meant.decision, decider, seen=state, redraws=redraws
    )


async def _check(
    services: Services,
    approval: Approval,
    state: RunState,
    meant: Meant,
    decider: Decider,
    actor: Actor,
    *,
    in_words: bool,
) -> None:
    """What the runtime can't know: whether it could be read, and what people are shown. Raises
    ``DecisionRefused``, ``StoreUnavailable``."""
    if meant.mistakes:
        if why := why_not_theirs_now(approval, state, decider):
            raise why
        raise Mistaken(approval.id, meant.mistakes)
    if approval.status != "pending" or not may_decide(approval, state, decider):
        return
    if meant.is_of_another:
        raise NotOnThisMessage(approval.id)
    match meant.decision:
        case Approve():
            if not await is_shown_in_full(services, approval, state, actor, in_words=in_words):
                raise NotShown(approval.id)
            if _may_rest_on_a_file(approval, state, in_words=in_words):
                await _look_at_file(services, approval, state, actor)
        case Steer(args=args) if args:
            # It would be a yes to what they left as it is, too.
            if await _is_left_unseen(services, approval, state, args, actor):
                raise Mistaken(approval.id, {GUIDANCE_BLOCK: LEFT_NOT_SHOWN})
            if not can_be_steered_to(approval, state.call(approval.requested.of_call), args):
                await _look_at_file(services, approval, state, actor)


def _may_rest_on_a_file(approval: Approval, state: RunState, *, in_words: bool) -> bool:
    """May what is approved be too long for its card and the pages of View all?"""
    if approval.kind != "call":
        return False
    return in_words or not is_in_slack_itself(approval, state.call(approval.requested.of_call))


async def _look_at_file(
    services: Services, approval: Approval, state: RunState, actor: Actor
) -> None:
    """Where a yes to a call rests on a file. Raises ``FileNotThere``, ``StoreUnavailable``."""
    threads = services.runtime.store.threads
    row = file_for((await threads.known(state.run_id)).messages, approval, state, actor.user)
    if row is None:
        return
    team = (await services.people.home()).team
    if why := await why_not_rested_on(services, row, team):
        if why in (IS_GONE, NOT_SHOWN):
            # The card is redrawn as it is without its file, until there is another.
            await threads.try_now(state.run_id)
        raise FileNotThere(approval.id, why)


def why_not_theirs_now(
    approval: Approval, state: RunState, decider: Decider
) -> DecisionRefused | None:
    """Why this person can't decide it now, whatever they want; None when they can."""
    if why := why_not(approval.approvers, state.requesters, decider, approval.kind):
        return NotAllowed(approval.id, approval.approvers, why)
    return closed_error(approval, state) if approval.status != "pending" else None


def may_decide(approval: Approval, state: RunState, decider: Decider) -> bool:
    """Is it theirs to decide, open or not?"""
    return why_not(approval.approvers, state.requesters, decider, approval.kind) is None


async def decider_of(
    services: Services,
    approval: Approval,
    state: RunState,
    actor: Actor,
    also: Collection[str] = (),
    *,
    or_requester: bool = False,
) -> Decider:
    """This person as one who decides this approval, with those of the groups ``also`` that they are
    in. ``or_requester``: it is for whoever asked for the run as well. Raises ``NotEligible``."""
    asked = approval.approvers
    requesters = [SlackUser.of(one) for one in state.requesters]
    is_requester = any(one is not None and one.user == actor.user for one in requesters)
    if is_requester and (or_requester or approval.kind == "question"):
        # They may, whatever groups there are.
        asked = Approvers()
    return await services.people.decider(actor.user, actor.team, asked=asked, also=also)


def _groups_of_changed(
    services: Services, approval: Approval, state: RunState, decision: Decision
) -> frozenset[str]:
    """The groups that a changed call may be asked of: the word of whoever changed it counts there."""
    agent = services.runtime.agents.get(state.agent)
    is_changed = isinstance(decision, Steer) and bool(decision.args)
    if agent is None or not is_changed or approval.requested.call_id is None:
        return frozenset()
    return agent.policy.groups_for(state.call(approval.requested.of_call).tool)


async def _had_done_so(
    services: Services, approval: Approval, state: RunState, actor: Actor, read: Read
) -> bool:
    # Who they are was known a moment ago, so this is, too.
    by = SlackUser((await services.people.home()).team, actor.user).principal
    return is_repeated(approval, read(approval, state).decision, by)


async def is_shown_in_full(
    services: Services,
    approval: Approval,
    state: RunState,
    actor: Actor,
    *,
    in_words: bool = False,
) -> bool:
    """What this person can't see in full they can't approve; what is over has its own answer. ``in_words``: not
    by a button, which stands only where there are blocks. Raises ``StoreUnavailable``."""
    if approval.kind != "call" or approval.status != "pending":
        return True
    if not in_words and is_in_slack_itself(approval, state.call(approval.requested.of_call)):
        return True
    known = await services.runtime.store.threads.known(state.run_id)
    return is_shown(known.messages, approval, state, actor.user)


async def _is_left_unseen(
    services: Services,
    approval: Approval,
    state: RunState,
    args: Mapping[str, JsonValue],
    actor: Actor,
) -> bool:
    """Is something left as it was that nothing shows this person? What they have changed they have seen. Raises
    ``StoreUnavailable``."""
    call_id = approval.requested.call_id
    if call_id is None or can_be_steered_to(approval, state.call(call_id), args):
        return False
    known = await services.runtime.store.threads.known(state.run_id)
    return not is_attached(known.messages, approval, state, actor.user)
