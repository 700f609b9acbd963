"""What holds of every run, whatever people, time and crashes did to it: read off its journal, and off what
the world outside has seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent.rules.budgets import Budget
from agent.rules.control import RecordedControl
from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    ApprovalVoted,
    CallStarted,
    Event,
    ModelReplied,
    RunFinished,
)
from agent.rules.fold import apply
from agent.rules.ids import OperationId
from agent.rules.interventions import (
    ApprovalEscalated,
    ApprovalExpired,
    ApprovalReminded,
    HistoryTaken,
)
from agent.rules.recorded import Recorded
from agent.rules.replaying.granted import Consents
from agent.rules.replaying.replay import replay
from agent.rules.state import RunState
from agent.rules.transcript import transcript
from agent.rules.waiting import waited
from tests.agent.engine.strict import check


@dataclass(frozen=True)
class Ran:
    """A tool was really called: so often before it was this call's turn."""

    tool: str
    operation_id: OperationId
    attempt: int


def check_run(
    recorded: Sequence[Recorded],
    ran: Sequence[Ran],
    budget: Budget | None = None,
    control: Sequence[RecordedControl] = (),
) -> RunState:
    """The run as it is. Fails for anything that should never have happened."""
    states = list(_states(recorded))
    for one, (before, after) in zip(recorded[1:], pairwise(states), strict=True):
        _check_event(before, one.event, after)
    _check_time(recorded)
    state = states[-1]
    _check_effects(state, recorded, ran)
    assert waited(state, state.updated_at) <= state.updated_at - state.started_at
    if state.ending == "finished":
        assert all(call.result is not None for call in state.calls.values())
        check(transcript(state))
    differences = replay(recorded, budget, Consents(control).instead_of)
    assert not differences, differences
    return state


def _states(recorded: Sequence[Recorded]) -> Iterator[RunState]:
    state: RunState | None = None
    for one in recorded:
        state = apply(state, one)
        yield state


def _check_event(before: RunState, event: Event, after: RunState) -> None:
    for call in before.calls.values():
        if call.result is not None:
            assert after.call(call.id).result == call.result, "a call has one result"
    match event:
        case CallStarted(call_id=call_id):
            call = before.call(call_id)
            assert not before.is_ended, "nothing begins after the end"
            assert before.held is None, "nothing begins while the run is held"
            assert before.stop is None, "nothing begins once the run is to be stopped"
            assert call.result is None, "what has its result does not run again"
            assert call.verdict is not None
            is_new = call.attempts == 0 and call.approval_id is None
            assert not (before.unseen and is_new), "nothing begins over an unseen message"
            if call.verdict.action == "ask":
                assert call.approved_id is not None, "nothing begins without a yes"
                approved = before.approvals[call.approved_id]
                assert approved.status == "approved"
                assert approved.requested.args == call.args, "a yes is for what was shown"
        case ApprovalDecided(approval_id=approval_id) | ApprovalVoted(approval_id=approval_id):
            approval = before.approvals[approval_id]
            assert approval.status == "pending", "what is closed is decided no more"
            assert before.stop is None or approval.kind == "review"
        case ApprovalRequested(approval_kind=kind):
            assert before.stop is None or kind == "review", "nothing is asked about what is to end"
        case ApprovalExpired(approval_id=approval_id):
            assert before.approvals[approval_id].status == "pending", "it expires once"
        case ModelReplied(asked_at=asked_at):
            assert asked_at <= before.seq
        case RunFinished():
            assert not before.unseen, "a run never ends over a message that nobody heard"
            assert not before.open_calls
            assert before.held is None
        case _:
            pass


def _check_time(recorded: Sequence[Recorded]) -> None:
    """Each reminder and each escalation happens once, in order."""
    numbers: dict[tuple[str, str], list[int]] = {}
    for one in recorded:
        match one.event:
            case ApprovalReminded(approval_id=id, number=number):
                numbers.setdefault(("remind", id), []).append(number)
            case ApprovalEscalated(approval_id=id, stage=stage):
                numbers.setdefault(("escalate", id), []).append(stage)
            case _:
                pass
    for counted in numbers.values():
        assert all(first < then for first, then in pairwise(counted))


def _check_effects(state: RunState, recorded: Sequence[Recorded], ran: Sequence[Ran]) -> None:
    history = {
        taken.proposed.call_id
        for one in recorded
        if isinstance(one.event, HistoryTaken)
        for turn in one.event.turns
        for taken in turn.calls
        if taken.outcome is not None
    }
    calls = {call.operation_id: call for call in state.calls.values() if call.id not in history}
    ours = [one for one in ran if one.operation_id in calls]
    twice = [one for one, count in Counter(ours).items() if count > 1]
    assert not twice, f"each start that was recorded is one run of the tool: {twice}"
    starts: Mapping[str, int] = Counter(
        one.event.call_id for one in recorded if isinstance(one.event, CallStarted)
    )
    for operation_id, call in calls.items():
        attempts = [one.attempt for one in ours if one.operation_id == operation_id]
        assert len(attempts) <= starts.get(call.id, 0), "nothing runs that was not begun on paper"
