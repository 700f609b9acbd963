"""What comes next for a run: its whole policy, in reading order.

``next_step`` answers with one of a closed set; the engine obeys and records what happened.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from agent.rules.ids import CallId
from agent.rules.state import Call, RunState

WaitingFor = Literal["approvals", "retry"]

#: How many calls of one run are carried out at the same time.
PARALLEL_LIMIT = 8
#: Replies with neither text nor calls in a row after which a run fails.
EMPTY_REPLIES_LIMIT = 3


@dataclass(frozen=True, slots=True)
class Done:
    """The run has ended; let go of it."""


@dataclass(frozen=True, slots=True)
class AskModel:
    """Every call has its result: the model's turn."""


@dataclass(frozen=True, slots=True)
class JudgeCalls:
    """Check these calls against their schemas and the policy."""

    call_ids: tuple[CallId, ...]


@dataclass(frozen=True, slots=True)
class RequestApprovals:
    """Preview these calls where their tools can, and ask people."""

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
class Fail:
    """The run can't go on."""

    error: str


Step = (
    Done
    | AskModel
    | JudgeCalls
    | RequestApprovals
    | RequestReview
    | StartCalls
    | RecoverCall
    | AwaitCalls
    | Suspend
    | Finish
    | Fail
)


def next_step(state: RunState, now: datetime, in_flight: Set[CallId] = frozenset()) -> Step:
    """What is to be done now.

    ``now`` is the store's time; ``in_flight`` are the calls that this engine is running: started and
    in flight is waited for, started and not in flight is recovered once nobody can be running it.
    """
    if state.is_ended:
        return Done()
    open_calls = state.open_calls
    if step := _step_for_calls(open_calls, state, now, in_flight):
        return step
    if in_flight:
        return AwaitCalls(until=_next_deadline(open_calls, in_flight))
    if deadline := _next_deadline(open_calls, in_flight):
        return Suspend("retry", until=deadline)
    if open_calls:
        return Suspend("approvals")
    return _step_for_model(state, now)


def _step_for_calls(
    calls: tuple[Call, ...], state: RunState, now: datetime, in_flight: Set[CallId]
) -> Step | None:
    """What can be done at once for a call that has no result yet."""
    if proposed := _ids(calls, "proposed"):
        return JudgeCalls(proposed)
    free = PARALLEL_LIMIT - len(in_flight)
    if free > 0 and (ready := _ids(calls, "ready")):
        return StartCalls(ready[:free])
    if asking := _ids(calls, "asking"):
        return RequestApprovals(asking)
    for call in calls:
        if call.status == "started" and call.id not in in_flight and _is_recoverable(call, now):
            return RecoverCall(call.id)
        if call.status == "unknown" and not _has_open_review(call, state):
            return RequestReview(call.id)
    return None


def _step_for_model(state: RunState, now: datetime) -> Step:
    if state.model_failures:
        if state.retry_at is None:
            return Fail(state.model_error or "The model could not be asked.")
        return Suspend("retry", until=state.retry_at) if state.retry_at > now else AskModel()
    if not state.replies or state.replies[-1].call_ids:
        return AskModel()
    if text := state.replies[-1].text.strip():
        return Finish(text)
    empty = state.replies[-EMPTY_REPLIES_LIMIT:]
    if len(empty) == EMPTY_REPLIES_LIMIT and all(
        not reply.call_ids and not reply.text.strip() for reply in empty
    ):
        return Fail(f"The model gave {EMPTY_REPLIES_LIMIT} empty answers in a row.")
    return AskModel()


def _ids(calls: tuple[Call, ...], status: str) -> tuple[CallId, ...]:
    return tuple(call.id for call in calls if call.status == status)


def _is_recoverable(call: Call, now: datetime) -> bool:
    """A ``read`` may run twice at once; anything else only when its first run must be over."""
    is_first = call.effect == "read" and call.attempts == 1
    return is_first or call.deadline is None or now >= call.deadline


def _has_open_review(call: Call, state: RunState) -> bool:
    approval = state.approvals.get(call.approval_id) if call.approval_id else None
    return approval is not None and approval.kind == "review" and approval.status == "pending"


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
