"""What obeying a step writes: is this event of it?"""

from __future__ import annotations

from collections.abc import Mapping

from agent.rules.events import (
    ApprovalRequested,
    CallJudged,
    CallLookedUp,
    CallPreviewed,
    CallRefused,
    CallReturned,
    CallStarted,
    Event,
    RunFailed,
    RunFinished,
)
from agent.rules.ids import CallId
from agent.rules.interventions import BudgetReached, RunCancelled
from agent.rules.parts import RefusalCode
from agent.rules.state import RunState
from agent.rules.steps import (
    AskForMore,
    Cancel,
    DropCalls,
    Fail,
    Finish,
    JudgeCalls,
    PreviewCalls,
    RecoverCall,
    RequestApprovals,
    StartCalls,
    Step,
)

#: By step: what may follow from it for one of its calls, and for which reasons it may refuse one.
_WRITES: Mapping[type[Step], tuple[type[Event], ...]] = {
    JudgeCalls: (CallJudged,),
    PreviewCalls: (CallPreviewed,),
    RequestApprovals: (ApprovalRequested,),
    StartCalls: (CallStarted, CallJudged),
    RecoverCall: (CallStarted, CallJudged, CallLookedUp, CallReturned),
}
#: A tool or a policy may have changed since a call was judged.
_CHANGED: frozenset[RefusalCode] = frozenset({"invalid_args", "policy"})
_REFUSES: Mapping[type[Step], frozenset[RefusalCode]] = {
    JudgeCalls: _CHANGED | {"unknown_tool", "malformed", "denied_before"},
    RequestApprovals: frozenset({"preview_changed"}),
    DropCalls: frozenset({"newer_message"}),
    StartCalls: _CHANGED | {"dry_run"},
    RecoverCall: _CHANGED | {"dry_run"},
}


def fits(step: Step, event: Event, state: RunState) -> bool:
    """Is this what obeying ``step`` writes of ``state``, or part of it?"""
    match step:
        case (
            JudgeCalls(call_ids=ids)
            | PreviewCalls(call_ids=ids)
            | RequestApprovals(call_ids=ids)
            | DropCalls(call_ids=ids)
            | StartCalls(call_ids=ids)
        ):
            return _is_of_a_call(step, event, ids, state)
        case RecoverCall(call_id=call_id):
            return _is_of_a_call(step, event, (call_id,), state)
        case Finish(answer=answer):
            return isinstance(event, RunFinished) and event.answer == answer
        case Fail(error=error):
            return isinstance(event, RunFailed) and event.error == error
        case AskForMore(reached=reached):
            if isinstance(event, ApprovalRequested):
                return event.args.get("budget") == reached.budget
            return isinstance(event, BudgetReached) and event.budget == reached.budget
        case Cancel():
            return isinstance(event, RunCancelled)
        case _:
            return False


def _is_of_a_call(step: Step, event: Event, ids: tuple[CallId, ...], state: RunState) -> bool:
    if getattr(event, "call_id", None) not in ids:
        return False
    if isinstance(event, CallRefused):
        return event.code in _REFUSES.get(type(step), ())
    if isinstance(event, CallStarted):
        is_next = event.attempt == state.call(event.call_id).attempts + 1
        if state.is_dry_run or not is_next:
            return False
    if isinstance(event, CallJudged) and not _is_judged_there(step, event, state):
        return False
    return isinstance(event, _WRITES.get(type(step), ()))


def _is_judged_there(step: Step, event: CallJudged, state: RunState) -> bool:
    """What was about to start is judged anew only where it is to be asked about, and why is said then."""
    if isinstance(step, JudgeCalls):
        return event.again_because is None and event.verdict.action != "deny"
    # Of old why was not written down.
    is_said = event.again_because is not None or state.form == 1
    return event.verdict.action == "ask" and is_said
