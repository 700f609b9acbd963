"""What comes next for a run: its whole policy, in reading order.

``next_step`` answers with one of a closed set; the engine obeys and records what happened.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from agent.rules.budgets import Budget, Reached
from agent.rules.calls import Call
from agent.rules.compacting import Context, Shorten
from agent.rules.halts import halted_calls, is_halted_whole, next_end, why_halted
from agent.rules.ids import CallId
from agent.rules.silence import Due, next_time, whats_due
from agent.rules.state import RunState

WaitingFor = Literal["approvals", "retry", "hold", "switch", "window"]

#: How many calls of one run are carried out at the same time.
PARALLEL_LIMIT = 8
#: How long a preview that was made again still tells what would happen.
PREVIEW_FRESH = timedelta(seconds=30)
#: Replies with neither text nor calls in a row after which a run fails.
EMPTY_REPLIES_LIMIT = 3


@dataclass(frozen=True, slots=True)
class Done:
    """The run has ended; let go of it."""


@dataclass(frozen=True, slots=True)
class AskModel:
    """Every call has its result: the model's turn."""


@dataclass(frozen=True, slots=True)
class Summarise:
    """Have the model sum up what was before the reply behind the first ``replies``, before it is asked."""

    replies: int


@dataclass(frozen=True, slots=True)
class JudgeCalls:
    """Check these calls against their schemas and the policy."""

    call_ids: tuple[CallId, ...]


@dataclass(frozen=True, slots=True)
class PreviewCalls:
    """Have their tools say what would happen: before people are asked, or, where it must still be
    the same, before they start."""

    call_ids: tuple[CallId, ...]


@dataclass(frozen=True, slots=True)
class RequestApprovals:
    """Ask people whether these calls may happen."""

    call_ids: tuple[CallId, ...]


@dataclass(frozen=True, slots=True)
class RequestReview:
    """Nobody knows what became of this call: ask a person."""

    call_id: CallId


@dataclass(frozen=True, slots=True)
class StartCalls:
    """Judge these calls once more, record their start, then run them."""

    call_ids: tuple[CallId, ...]


@dataclass(frozen=True, slots=True)
class RecoverCall:
    """Started by somebody who is gone: run it again, or look its effect up first."""

    call_id: CallId


@dataclass(frozen=True, slots=True)
class DropCalls:
    """A newer message arrived before these calls began: they are not started, and the model is told."""

    call_ids: tuple[CallId, ...]


@dataclass(frozen=True, slots=True)
class MarkTime:
    """The time has come for these: to remind people of an approval, to ask others, to close it."""

    due: tuple[Due, ...]


@dataclass(frozen=True, slots=True)
class AskForMore:
    """The run has used what it may: ask people whether it may go on, or stop it."""

    reached: Reached


@dataclass(frozen=True, slots=True)
class AwaitCalls:
    """Calls are in flight and nothing else can be done; wait for one, or for the journal to move."""

    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Suspend:
    """Nothing to do until an event or a time."""

    waiting_for: WaitingFor
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Finish:
    """The model has said its last word."""

    answer: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """The run was to be stopped, and nothing of it is under way any more."""


@dataclass(frozen=True, slots=True)
class Fail:
    """The run can't go on."""

    error: str


Step = (
    Done
    | AskModel
    | Shorten
    | Summarise
    | JudgeCalls
    | PreviewCalls
    | RequestApprovals
    | RequestReview
    | StartCalls
    | RecoverCall
    | DropCalls
    | MarkTime
    | AskForMore
    | AwaitCalls
    | Suspend
    | Finish
    | Cancel
    | Fail
)


def next_step(
    state: RunState,
    now: datetime,
    in_flight: Set[CallId] = frozenset(),
    budget: Budget | None = None,
    context: Context | None = None,
) -> Step:
    """What is to be done now.

    ``now`` is the store's time; ``in_flight`` are the calls that this engine is running: started and
    in flight is waited for, started and not in flight is recovered once nobody can be running it. ``context``:
    how much the model is to be told at once; None: that is not known.
    """
    open_calls = state.open_calls
    if state.is_ended:
        return _step_after_the_end(open_calls, state, now, in_flight)
    if state.stop is not None:
        return _step_to_the_end(open_calls, now, in_flight)
    if due := whats_due(state, now):
        return MarkTime(due)
    if state.held is not None:
        return _step_while_held(open_calls, state, now, in_flight, "hold")
    if is_halted_whole(state):
        return _step_while_held(open_calls, state, now, in_flight, "switch")
    halted = halted_calls(state, now)
    free = tuple(call for call in open_calls if call.id not in halted)
    if step := _step_for_calls(open_calls, free, state, now, in_flight):
        return step
    deadline = _next_deadline(free, in_flight)
    until = _earliest(next_time(state), deadline, next_end(state, now))
    if in_flight:
        return AwaitCalls(until=until)
    if open_calls:
        return Suspend(_awaited(free, state, now), until=until)
    return _step_for_model(state, now, budget, context)


def _step_to_the_end(calls: tuple[Call, ...], now: datetime, in_flight: Set[CallId]) -> Step:
    """Nothing is begun any more. What has begun is heard out, here or wherever it still may run."""
    if in_flight:
        return AwaitCalls()
    running = [
        call.deadline
        for call in calls
        if call.status == "started" and call.deadline is not None and now < call.deadline
    ]
    if running:
        return Suspend("retry", until=max(running))
    lost = next((call for call in calls if _is_in_doubt(call, now)), None)
    return RecoverCall(lost.id) if lost else Cancel()


def _step_while_held(
    calls: tuple[Call, ...],
    state: RunState,
    now: datetime,
    in_flight: Set[CallId],
    waiting_for: WaitingFor,
) -> Step:
    """Nothing is begun; but what became of what had begun is found out."""
    idle = tuple(call for call in calls if call.id not in in_flight)
    # It is looked up, or people are asked. That begins nothing.
    if step := _step_for_lost(idle, state, lambda call: _is_in_doubt(call, now)):
        return step
    doubtful = tuple(call for call in idle if call.effect == "once")
    until = _earliest(next_time(state), _next_deadline(doubtful, in_flight))
    return AwaitCalls(until=until) if in_flight else Suspend(waiting_for, until=until)


def _awaited(free: tuple[Call, ...], state: RunState, now: datetime) -> WaitingFor:
    """What the open calls wait for, of which those that are ``free`` are kept by nothing."""
    if any(call.status == "started" for call in free):
        return "retry"
    return "approvals" if free or not state.halts else why_halted(state, now)


def _step_for_lost(
    calls: tuple[Call, ...], state: RunState, is_to_be_recovered: Callable[[Call], bool]
) -> Step | None:
    """For the first call that nobody heard of: it is recovered, or people are asked what became of it."""
    for call in calls:
        if call.status == "started" and is_to_be_recovered(call):
            return RecoverCall(call.id)
        if call.status == "unknown" and not has_open_review(call, state):
            return RequestReview(call.id)
    return None


def _is_in_doubt(call: Call, now: datetime) -> bool:
    """Was it begun, can nobody be running it any more, and may it not be begun again?"""
    return call.status == "started" and call.effect == "once" and _is_recoverable(call, now)


def _step_for_calls(
    calls: tuple[Call, ...],
    free: tuple[Call, ...],
    state: RunState,
    now: datetime,
    in_flight: Set[CallId],
) -> Step | None:
    """What can be done at once for a call that has no result yet; only those that are ``free`` may begin."""
    if state.unseen and (unstarted := tuple(call.id for call in calls if _is_by_itself(call))):
        return DropCalls(unstarted)
    if proposed := _ids(calls, "proposed"):
        return JudgeCalls(proposed)
    idle = tuple(call for call in free if call.id not in in_flight)
    room = PARALLEL_LIMIT - len(in_flight)
    if room > 0:
        if unseen := tuple(call.id for call in idle if _needs_preview(call, now)):
            return PreviewCalls(unseen[:room])
        if ready := _ids(idle, "ready"):
            return StartCalls(ready[:room])
    if asking := tuple(c.id for c in idle if c.status == "asking" and not _needs_preview(c, now)):
        return RequestApprovals(asking)
    return _step_for_lost(idle, state, lambda call: _is_recoverable(call, now))


def has_begun(state: RunState) -> bool:
    """Is anything under way, or is there an effect that nobody has been asked about yet?"""
    return any(
        call.status == "started" or (call.may_have_happened and not has_open_review(call, state))
        for call in state.open_calls
    )


def _is_by_itself(call: Call) -> bool:
    """Would it begin, or be asked about, on nothing but the model's word? What people have been asked about
    goes on, whatever was said since, also where it is about to be asked anew: a message decides nothing."""
    is_untouched = call.attempts == 0 and call.approval_id is None
    return is_untouched and call.status in ("proposed", "ready", "asking")


def _step_after_the_end(
    calls: tuple[Call, ...], state: RunState, now: datetime, in_flight: Set[CallId]
) -> Step:
    """Nothing is begun any more; but what became of an effect can still be found out."""
    if in_flight:
        return AwaitCalls()
    step = _step_for_lost(
        calls, state, lambda call: call.can_be_checked and _is_recoverable(call, now)
    )
    return step or Done()


def _needs_preview(call: Call, now: datetime) -> bool:
    """Has the tool yet to say what would happen, or to say it once more?"""
    if not call.can_preview:
        return False
    if call.status == "asking":
        return call.previewed_at is None
    # A yes that was given by looking at a preview is for that preview; what ran unasked had none.
    is_recheck = call.status == "ready" and call.preview_must_match and call.approved_id is not None
    return is_recheck and (call.rechecked_at is None or now - call.rechecked_at > PREVIEW_FRESH)


def _step_for_model(
    state: RunState, now: datetime, budget: Budget | None, context: Context | None
) -> Step:
    asked = state.approvals.get(state.budget_id) if state.budget_id else None
    if asked is not None and asked.status in ("pending", "expired"):
        return Suspend("approvals", until=next_time(state))
    step = _model_step(state, now)
    if not isinstance(step, AskModel):
        return step
    if budget and (reached := budget.reached(state)):
        return AskForMore(reached)
    if state.summing is not None:
        return Summarise(state.summing)
    return (context.shorter(state) if context else None) or step


def _model_step(state: RunState, now: datetime) -> Step:
    if state.model_failures:
        if state.retry_at is None and _is_news_to_model(state):
            return AskModel()
        if state.retry_at is None:
            return Fail(state.model_error or "The model could not be asked.")
        return Suspend("retry", until=state.retry_at) if state.retry_at > now else AskModel()
    if not state.replies or state.replies[-1].call_ids or state.unseen:
        return AskModel()
    if text := state.replies[-1].text.strip():
        return Finish(text)
    # Those before the run was taken on again are no reason to fail it once more.
    since = max(state.replies_before, len(state.replies) - EMPTY_REPLIES_LIMIT)
    empty = state.replies[since:]
    if len(empty) == EMPTY_REPLIES_LIMIT and all(
        not reply.call_ids and not reply.text.strip() for reply in empty
    ):
        return Fail(f"The model gave {EMPTY_REPLIES_LIMIT} empty answers in a row.")
    return AskModel()


def _is_news_to_model(state: RunState) -> bool:
    """Has it yet to be asked with what was said last? Only a request that was made when the one before it had
    failed is sure to have held what had been said by then."""
    return any(one.news > state.asked_in_vain for one in (*state.unseen, *state.rewritten))


def _ids(calls: tuple[Call, ...], status: str) -> tuple[CallId, ...]:
    return tuple(call.id for call in calls if call.status == status)


def _is_recoverable(call: Call, now: datetime) -> bool:
    """A ``read`` may run twice at once; anything else only when its first run must be over."""
    is_first = call.effect == "read" and call.attempts == 1
    return is_first or call.deadline is None or now >= call.deadline


def has_open_review(call: Call, state: RunState) -> bool:
    approval = state.approvals.get(call.approval_id) if call.approval_id else None
    return approval is not None and approval.kind == "review" and approval.status == "pending"


def _earliest(*times: datetime | None) -> datetime | None:
    return min((time for time in times if time is not None), default=None)


def _next_deadline(calls: tuple[Call, ...], in_flight: Set[CallId]) -> datetime | None:
    """When the first call that somebody else may still be running can be recovered."""
    return min(
        (
            call.deadline
            for call in calls
            if call.status == "started" and call.deadline and call.id not in in_flight
        ),
        default=None,
    )
