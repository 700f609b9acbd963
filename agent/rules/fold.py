"""What a run's events amount to.

Theory of operation. A run is a journal of events; ``fold`` turns it into a ``RunState``, and
everything else (what comes next, what a card shows, what the model is told) is a pure reading of
that state. Each event has one short arm: here what is about the run and its model, in ``fold_calls``,
``fold_approvals`` and ``fold_interventions`` the rest. None of them judges: a stored event is a fact. An event
that can't be right (a call that was never proposed) raises ``CorruptJournal`` and stops that run
alone.

A call's life, as its ``status`` tells it::

    proposed ─┬─ ended (refused: unknown tool, malformed, invalid, policy, denied before, newer message)
              ├─ ready ◀────────────┐
              └─ asking ─ waiting ──┼─ ended (denied, guided, answered, expired)
                   ▲        │       ▼
                   │◀───────┘  (nobody decided: asked again)
                   └───────────── ready  (no longer covered by its yes: asked again)
                                    ▼
                                 started ─┬─ ended (ok, error, cancelled)
                                          ├─ ready   (looked up: it did not happen)
                                          └─ unknown ─ (review) ─┬─ ended (happened, given up)
                                                                 ├─ ready   (it did not happen)
                                                                 └─ started (check again)

While it is ``started`` its tool may say how far it is (``call_progressed``).

A newer message also ends a call that is ``ready`` or ``asking``, where it was not begun and nobody was asked
about it.

While a call is ``asking``, its tool may first say what would happen (``call_previewed``). An approval
that needs several yeses stays pending while they are gathered (``approval_voted``).

Every call ends with exactly one ``CallResult``, and the model is asked again only when all calls of
its last reply have one.

What must be kept in step: a new event needs its form, an arm here, a line in ``steps`` if something follows from
it, and its place in what ``replay`` asks: of an engine, or of people. CONTRIBUTING.md has the whole recipe.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import TypedDict, assert_never

from agent.errors import CorruptJournal
from agent.rules.calls import Call, CallResult
from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    ApprovalVoted,
    CallJudged,
    CallLeftUnknown,
    CallLookedUp,
    CallPreviewed,
    CallProgressed,
    CallRefused,
    CallReturned,
    CallStarted,
    Event,
    ModelFailed,
    ModelReplied,
    RunFailed,
    RunFinished,
    RunReopened,
    RunStarted,
)
from agent.rules.fold_approvals import CantFollow, apply_to_approval
from agent.rules.fold_calls import apply_to_call, end_call
from agent.rules.fold_interventions import apply_intervention, close_questions, with_halts
from agent.rules.ids import GroupId
from agent.rules.interventions import (
    ApprovalAskedAgain,
    ApprovalEscalated,
    ApprovalExpired,
    ApprovalReminded,
    BudgetReached,
    HaltsChanged,
    HistoryTaken,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    RunCancelled,
    RunHeld,
    RunResumed,
    SessionContinued,
    StopRequested,
)
from agent.rules.long_conversations import ConversationShortened, ConversationSummarised
from agent.rules.parts import Usage, Words
from agent.rules.recorded import Recorded
from agent.rules.replacing import replace
from agent.rules.state import Ending, Reply, RunState
from agent.rules.taint import taints_after, taints_at_start
from agent.rules.working_time import work_added_by


class _Sums(TypedDict):
    """What a run has used, by the names that the state has for it."""

    input_tokens: int
    output_tokens: int
    cost_usd: Decimal
    unpriced: int


def fold(recorded: Iterable[Recorded], state: RunState | None = None) -> RunState:
    """All events, or the newer ones onto ``state``. Raises ``CorruptJournal``, also for none at all."""
    for one in recorded:
        state = apply(state, one)
    if state is None:
        raise CorruptJournal("?", 0, "it has no events")
    return state


def apply(state: RunState | None, recorded: Recorded) -> RunState:
    """The state after one more event. Raises ``CorruptJournal`` for one that can't follow."""
    event, at = recorded.event, recorded.at
    if state is None:
        return _begin(recorded)
    if recorded.seq != state.seq + 1:
        raise CorruptJournal(state.run_id, recorded.seq, f"it follows {state.seq}")
    try:
        after = _apply(state, event, at)
        taints = taints_after(state, event)
    except CantFollow as error:
        raise CorruptJournal(state.run_id, recorded.seq, str(error)) from error
    except KeyError as error:
        raise CorruptJournal(state.run_id, recorded.seq, f"nothing has the id {error}") from error
    except ArithmeticError as error:
        raise CorruptJournal(state.run_id, recorded.seq, "no sum can hold its number") from error
    return replace(
        after,
        seq=recorded.seq,
        updated_at=at,
        head_hash=recorded.hash,
        worked=state.worked + work_added_by(state, event, at),
        form=max(state.form, event.form),
        taints=taints,
        taints_told=len(taints) if _tells_all(event) else state.taints_told,
    )


def _tells_all(event: Event) -> bool:
    """Has the model been told all that the run had been, as far as it acts by it?"""
    return isinstance(event, ModelReplied | HistoryTaken)


def _begin(recorded: Recorded) -> RunState:
    event = recorded.event
    if not isinstance(event, RunStarted) or recorded.seq != 1:
        raise CorruptJournal(
            recorded.run_id, recorded.seq, "a journal begins with run_started at 1"
        )
    return RunState(
        run_id=recorded.run_id,
        agent=event.agent,
        session=event.session,
        prompt=event.prompt,
        requester=event.requester,
        channel=event.channel,
        place=event.place,
        started_at=recorded.at,
        seq=1,
        updated_at=recorded.at,
        head_hash=recorded.hash,
        form=event.form,
        is_dry_run=event.dry_run,
        ref=event.ref,
        quoted=event.quoted,
        files=event.files,
        as_of=event.as_of,
        taints=taints_at_start(event),
    )


def _apply(state: RunState, event: Event, at: datetime) -> RunState:
    match event:
        case RunStarted():
            raise CantFollow("the run was started before")
        case ModelReplied():
            return _replied(state, event)
        case ModelFailed(error=error, retry_at=retry_at, usage=usage):
            return replace(
                state,
                **_used(state, usage or Usage()),
                model_failures=state.model_failures + 1,
                unanswered=state.unanswered + (usage is None),
                model_error=error,
                retry_at=retry_at,
                failed_at=state.seq + 1,
                asked_in_vain=state.failed_at,
                too_long=state.too_long if event.too_long is None else event.too_long,
                too_long_in_a_row=state.too_long_in_a_row + (event.too_long is not None),
            )
        case ConversationShortened(cut=cut, summing=summing):
            cuts = state.cuts if cut is None else (*state.cuts, cut)
            return replace(state, cuts=cuts, summing=summing)
        case ConversationSummarised():
            return _summarised(state, event)
        case (
            CallJudged()
            | CallPreviewed()
            | CallRefused()
            | CallStarted()
            | CallProgressed()
            | CallLookedUp()
            | CallReturned()
            | CallLeftUnknown()
        ):
            return apply_to_call(state, event, at)
        case ApprovalRequested() | ApprovalVoted() | ApprovalDecided():
            return apply_to_approval(state, event, at)
        case (
            MessageReceived()
            | MessageEdited()
            | MessageDeleted()
            | RunHeld()
            | RunResumed()
            | HaltsChanged()
            | StopRequested()
            | ApprovalExpired()
            | ApprovalReminded()
            | ApprovalEscalated()
            | ApprovalAskedAgain()
            | BudgetReached()
            | HistoryTaken()
            | SessionContinued()
        ):
            return apply_intervention(state, event, at)
        case RunCancelled():
            return _end(_cut_off(state, at), "cancelled", at)
        case RunFinished(answer=answer):
            return _end(state, "finished", at, answer=answer)
        case RunFailed(error=error):
            return _end(state, "failed", at, error=error)
        case RunReopened():
            return _reopened(state, at)
        case _:
            assert_never(event)


def _heard_by(state: RunState, event: ModelReplied) -> tuple[Words, ...]:
    """What the reply's request told of what people had said."""
    if not state.said:
        return ()
    # What the first one heard of what was said earlier stands before what the run began with.
    heard = (one for one in state.unseen if state.replies or not one.is_handed_on)
    return tuple(state.told(one for one in heard if one.news <= event.asked_at))


def _replied(state: RunState, event: ModelReplied) -> RunState:
    if twice := [
        c.call_id for c in event.calls if c.call_id in state.current or c.call_id in state.earlier
    ]:
        raise CantFollow(f"{twice[0]} was proposed before")
    reply = Reply(
        event.text,
        tuple(c.call_id for c in event.calls),
        event.asked_at,
        event.group or _group_of_old(state, event),
        _heard_by(state, event),
        event.provider,
    )
    overtaken = tuple(one for one in state.rewritten if one.seq <= event.asked_at < one.news)
    return replace(
        state,
        **_used(state, event.usage),
        replies=(*state.replies, reply),
        said=(*state.said, *overtaken),
        rewritten=(),
        current={c.call_id: Call(c) for c in event.calls},
        earlier={**state.earlier, **state.current} if state.current else state.earlier,
        model_calls=state.model_calls + 1,
        model_failures=0,
        model_error=None,
        retry_at=None,
        too_long_in_a_row=0,
        measured=_measured(event) or state.measured,
        taken=max(state.taken, event.estimated or 0),
    )


def _measured(event: ModelReplied) -> tuple[int, int] | None:
    """How large its request was thought to be, and was."""
    reported = event.usage.input_tokens
    return (event.estimated, reported) if event.estimated and reported > 0 else None


def _summarised(state: RunState, event: ConversationSummarised) -> RunState:
    if not 0 <= event.replies <= len(state.replies):
        raise CantFollow(f"there are no {event.replies} replies")
    return replace(
        state,
        **_used(state, event.usage),
        summary=event.summary,
        summarised=event.replies,
        summing=None,
        # The others have nothing left to cut.
        cuts=tuple(cut for cut in state.cuts if cut.with_files or cut.turns > event.replies),
        model_calls=state.model_calls + 1,
        model_failures=0,
        model_error=None,
        retry_at=None,
    )


def _used(state: RunState, usage: Usage) -> _Sums:
    """What the run has used with this."""
    return {
        "input_tokens": state.input_tokens + usage.input_tokens,
        "output_tokens": state.output_tokens + usage.output_tokens,
        "cost_usd": state.cost_usd + (usage.cost_usd if usage.is_priced else 0),
        "unpriced": state.unpriced + (not usage.is_priced),
    }


def _group_of_old(state: RunState, event: ModelReplied) -> GroupId:
    """Replies once had no group of their own."""
    return GroupId(f"grp_{state.run_id}_{len(state.replies)}")


def _end(
    state: RunState,
    ending: Ending,
    at: datetime,
    answer: str | None = None,
    error: str | None = None,
) -> RunState:
    """The run is over. What was pending has nothing left to decide; a review still has."""
    holds = (*state.holds, (state.held.at, at)) if state.held else state.holds
    return replace(
        with_halts(close_questions(state, at), (), at),
        ending=ending,
        ended_at=at,
        answer=answer,
        error=error,
        held=None,
        holds=holds,
    )


def _cut_off(state: RunState, at: datetime) -> RunState:
    """A read that was begun and never heard of ends with its run: it changed nothing, so nobody is asked. What
    may have had an effect stays open."""
    for call in state.open_calls:
        if call.status == "started" and call.effect == "read":
            state = end_call(state, call.id, CallResult("cancelled", None), at)
    return state


_REOPENED = "the run had failed, and was taken on again"


def _reopened(state: RunState, at: datetime) -> RunState:
    """It goes on where it failed; what was asked then and found no answer is asked again."""
    if state.ended_at is None:
        raise CantFollow("the run had not ended")
    current = dict(state.current)
    for call in state.open_calls:
        current[call.id] = replace(call, attempts_before=call.attempts)
        if call.status == "waiting":
            current[call.id] = replace(
                current[call.id], status="asking", previewed_at=None, again_because=_REOPENED
            )
    return replace(
        state,
        current=current,
        ending=None,
        ended_at=None,
        stop=None,
        error=None,
        model_failures=0,
        model_error=None,
        retry_at=None,
        too_long_in_a_row=0,
        # How much its model is to be told may be another by now: whether to sum up is decided anew.
        summing=None,
        outages=(*state.outages, (state.ended_at, at)),
        replies_before=len(state.replies),
    )
