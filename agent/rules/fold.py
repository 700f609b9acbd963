"""What a run's events amount to.

Theory of operation. A run is a journal of events; ``fold`` turns it into a ``RunState``, and
everything else (what comes next, what a card shows, what the model is told) is a pure reading of
that state. ``apply`` has one short arm an event. It never judges: a stored event is a fact. An event
that can't be right (a call that was never proposed) raises ``CorruptJournal`` and stops that run
alone.

A call's life, as its ``status`` tells it::

    proposed ─┬─ ended (refused: unknown tool, malformed, invalid, policy)
              ├─ ready ────────────┐
              └─ asking ─ waiting ─┼─ ended (denied, guided)
                                   ▼
                                 started ─┬─ ended (ok, error)
                                          └─ unknown ─ (review) ─┬─ ended (happened, given up)
                                                                 ├─ ready   (it did not happen)
                                                                 └─ started (check again)

Every call ends with exactly one ``CallResult``, and the model is asked again only when all calls of
its last reply have one.

What must be kept in step: a new event needs an arm here, a row in ``steps`` if something follows
from it, and a line in ``bot.slack.thread.desired`` if people are to see it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import assert_never

from agent.errors import CorruptJournal
from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    CallJudged,
    CallLeftUnknown,
    CallRefused,
    CallReturned,
    CallStarted,
    Event,
    ModelFailed,
    ModelReplied,
    Receipt,
    Recorded,
    RunFailed,
    RunFinished,
    RunStarted,
)
from agent.rules.ids import CallId
from agent.rules.state import (
    Approval,
    ApprovalStatus,
    Call,
    CallResult,
    CallStatus,
    Ending,
    Reply,
    RunState,
)


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
    except _CantFollow as error:
        raise CorruptJournal(state.run_id, recorded.seq, str(error)) from error
    except KeyError as error:
        raise CorruptJournal(state.run_id, recorded.seq, f"nothing has the id {error}") from error
    return replace(after, seq=recorded.seq, updated_at=at, head_hash=recorded.hash)


class _CantFollow(Exception):
    """The event can't be right where it stands."""


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
    )


def _apply(state: RunState, event: Event, at: datetime) -> RunState:
    match event:
        case RunStarted():
            raise _CantFollow("the run was started before")
        case ModelReplied():
            return _replied(state, event)
        case ModelFailed(error=error, retry_at=retry_at):
            return replace(
                state,
                model_failures=state.model_failures + 1,
                model_error=error,
                retry_at=retry_at,
            )
        case CallJudged():
            return _judged(state, event)
        case CallRefused(call_id=call_id, message=message):
            return _end_call(state, call_id, CallResult("refused", message), at)
        case ApprovalRequested():
            return _requested(state, event, at)
        case ApprovalDecided():
            return _decided(state, event, at)
        case CallStarted(call_id=call_id, attempt=attempt, deadline=deadline):
            return _with_call(
                state,
                replace(
                    state.calls[call_id],
                    status="started",
                    attempts=attempt,
                    started_at=at,
                    deadline=deadline,
                ),
            )
        case CallReturned(call_id=call_id, is_error=is_error, output=output, receipt=receipt):
            result = CallResult("error" if is_error else "ok", output)
            return _end_call(state, call_id, result, at, receipt)
        case CallLeftUnknown(call_id=call_id, detail=detail, can_be_checked=can_be_checked):
            call = replace(
                state.calls[call_id],
                status="unknown",
                detail=detail,
                can_be_checked=can_be_checked,
                receipt=Receipt(status="unknown"),
            )
            return _with_call(state, call)
        case RunFinished(answer=answer):
            return _end(state, "finished", at, answer=answer)
        case RunFailed(error=error):
            return _end(state, "failed", at, error=error)
        case _:
            assert_never(event)


def _replied(state: RunState, event: ModelReplied) -> RunState:
    if twice := [c.call_id for c in event.calls if c.call_id in state.calls]:
        raise _CantFollow(f"{twice[0]} was proposed before")
    return replace(
        state,
        replies=(
            *state.replies,
            Reply(event.text, tuple(c.call_id for c in event.calls), event.asked_at),
        ),
        calls={**state.calls, **{c.call_id: Call(c) for c in event.calls}},
        model_calls=state.model_calls + 1,
        input_tokens=state.input_tokens + event.usage.input_tokens,
        output_tokens=state.output_tokens + event.usage.output_tokens,
        cost_usd=state.cost_usd + event.usage.cost_usd,
        model_failures=0,
        model_error=None,
        retry_at=None,
    )


def _judged(state: RunState, event: CallJudged) -> RunState:
    call = replace(
        state.calls[event.call_id],
        status="ready" if event.verdict.action == "allow" else "asking",
        title=event.title,
        effect=event.effect,
        args=event.args,
        parameters=event.parameters,
        schema_digest=event.schema_digest,
        verdict=event.verdict,
    )
    return _with_call(state, call)


def _requested(state: RunState, event: ApprovalRequested, at: datetime) -> RunState:
    if event.approval_id in state.approvals:
        raise _CantFollow(f"{event.approval_id} was requested before")
    approvals = {**state.approvals, event.approval_id: Approval(event, at)}
    if event.supersedes is not None:
        old = state.approvals[event.supersedes]
        # A decided one keeps what was decided; only a pending one is replaced.
        if old.status == "pending":
            old = replace(old, status="superseded")
        approvals[old.id] = replace(old, superseded_by=event.approval_id)
    call = state.calls[event.call_id]
    status: CallStatus = "waiting" if event.approval_kind == "call" else "unknown"
    call = replace(call, status=status, approval_id=event.approval_id)
    return _with_call(replace(state, approvals=approvals), call)


def _decided(state: RunState, event: ApprovalDecided, at: datetime) -> RunState:
    approval = state.approvals[event.approval_id]
    statuses: dict[str, ApprovalStatus] = {
        "approve": "approved",
        "deny": "denied",
        "steer": "steered",
        "settle": "settled",
    }
    approval = replace(approval, status=statuses[event.action], decided=event, decided_at=at)
    state = replace(state, approvals={**state.approvals, approval.id: approval})
    call = state.calls[approval.requested.call_id]
    match event.action:
        case "approve":
            return _with_call(state, replace(call, status="ready"))
        case "deny":
            return _end_call(state, call.id, CallResult("denied", event.reason, event.by), at)
        case "steer" if event.args is not None:
            call = replace(
                call,
                status="ready",
                args=event.args,
                original_args=call.args if call.original_args is None else call.original_args,
                steered_by=event.by,
            )
            return _with_call(state, call)
        case "steer":
            return _end_call(state, call.id, CallResult("guided", event.guidance, event.by), at)
        case "settle":
            return _settled(state, call, event, at)
        case _:
            assert_never(event.action)


def _settled(state: RunState, call: Call, event: ApprovalDecided, at: datetime) -> RunState:
    match event.outcome:
        case "happened":
            receipt = Receipt(status="committed")
            return _end_call(state, call.id, CallResult("happened", None, event.by), at, receipt)
        case "not_happened":
            return _with_call(state, replace(call, status="ready", receipt=None))
        case "check":
            # Found started and not in flight, it is looked up again at once.
            return _with_call(state, replace(call, status="started", deadline=at))
        case "give_up" | None:
            return _end_call(state, call.id, CallResult("given_up", None, event.by), at)
        case _:
            assert_never(event.outcome)


def _end_call(
    state: RunState,
    call_id: CallId,
    result: CallResult,
    at: datetime,
    receipt: Receipt | None = None,
) -> RunState:
    call = state.calls[call_id]
    return _with_call(
        state,
        replace(call, status="ended", result=result, ended_at=at, receipt=receipt or call.receipt),
    )


def _end(
    state: RunState,
    ending: Ending,
    at: datetime,
    answer: str | None = None,
    error: str | None = None,
) -> RunState:
    """The run is over. What was pending has nothing left to decide; a review still has."""
    approvals = {
        id: replace(a, status="cancelled") if a.status == "pending" and a.kind == "call" else a
        for id, a in state.approvals.items()
    }
    return replace(
        state, ending=ending, ended_at=at, answer=answer, error=error, approvals=approvals
    )


def _with_call(state: RunState, call: Call) -> RunState:
    return replace(state, calls={**state.calls, call.id: call})
