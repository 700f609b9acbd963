"""Where the results of a run's calls came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    ApprovalVoted,
    CallLookedUp,
    CallReturned,
    CallStarted,
    Event,
    RunFailed,
    RunReopened,
)
from agent.rules.ids import ApprovalId, CallId, EventId, GroupId, Principal, RunId
from agent.rules.parts import Approvers, Authority
from agent.rules.recorded import Recorded
from bot.cli.provenance import origins

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
BOB = Principal("slack:T1:UBOB")


def returned(number: int, *, is_found: bool = False) -> CallReturned:
    return CallReturned(call_id=CallId(f"call_{number}"), output="x", is_found=is_found)


def started(number: int, attempt: int = 1) -> CallStarted:
    deadline = AT + timedelta(seconds=10)
    return CallStarted(call_id=CallId(f"call_{number}"), attempt=attempt, deadline=deadline)


def asked() -> ApprovalRequested:
    return ApprovalRequested(
        approval_id=ApprovalId("apr_1"),
        group=GroupId("grp_1"),
        call_id=CallId("call_2"),
        tool="send",
        title="Send",
        args={},
        reason="r",
        rule="r",
        policy_version="1",
        hash="h",
        approvers=Approvers(),
    )


def approved(authority: Authority = "listed") -> ApprovalDecided:
    return ApprovalDecided(
        approval_id=ApprovalId("apr_1"), action="approve", by=BOB, authority=authority
    )


REUSED = {"call_1": "reused"}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([started(1), returned(1)], {}),
        ([returned(1), started(2), returned(2)], {}),
        ([returned(1), asked()], {}),
        ([returned(1), asked(), ApprovalVoted(approval_id=ApprovalId("apr_1"), by=BOB)], {}),
        ([returned(1), asked(), approved(), started(2), returned(2)], REUSED),
        ([asked(), returned(1), approved("operator")], REUSED),
        ([returned(1), RunFailed(error="no"), RunReopened(by=BOB)], REUSED),
        ([returned(1), started(2), started(2, attempt=2), returned(2)], REUSED),
        ([returned(1), started(2), CallLookedUp(call_id=CallId("call_2"))], REUSED),
        ([started(1), returned(1, is_found=True)], {"call_1": "looked up"}),
        ([returned(1, is_found=True), RunReopened(by=BOB)], {"call_1": "looked up"}),
    ],
)
def test_each_result_has_its_origin(events: Sequence[Event], expected: dict[str, str]) -> None:
    assert origins(_recorded(events)) == expected


def test_what_the_agents_own_decider_decides_reuses_nothing() -> None:
    assert origins(_recorded([returned(1), asked(), approved("code")])) == {}


def test_what_is_decided_in_the_same_breath_reuses_nothing() -> None:
    """As by whoever steered the call to what is asked now."""
    earlier, question, decision = _recorded([returned(1), asked(), approved()])
    assert origins([earlier, question, replace(decision, at=question.at)]) == {}


def _recorded(events: Sequence[Event]) -> list[Recorded]:
    """A second apart."""
    return [
        Recorded(RunId("run_1"), seq, EventId(f"e{seq}"), AT + seq * SECOND, "hash", event)
        for seq, event in enumerate(events, 1)
    ]
