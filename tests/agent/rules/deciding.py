"""Deciding in tests: ``decide`` with what most of them leave alone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agent.rules.decisions import Decider, Decision, decide
from agent.rules.events import ApprovalDecided, Event
from agent.rules.ids import ApprovalId, Principal
from tests.agent.rules.histories import AS_BOB, BEGAN, BOB, History
from tests.agent.rules.judges import RefundJudge

A1, A2 = ApprovalId("apr_1"), ApprovalId("apr_2")


def take(
    history: History,
    decision: Decision,
    decider: Decider = AS_BOB,
    approval: ApprovalId = A1,
    *,
    now: datetime = BEGAN,
    judge: RefundJudge | None = None,
    voters: Mapping[Principal, Decider | None] | None = None,
) -> tuple[Event, ...]:
    return decide(
        history.state,
        approval,
        decision,
        decider,
        now=now,
        judge=judge or RefundJudge(),
        next_approval_id=ApprovalId("apr_next"),
        voters=voters,
    )


def decided(approval: ApprovalId = A1, **fields: Any) -> ApprovalDecided:
    """Bob's decision, with what is known of him."""
    bobs = {"by": BOB, "user": "U0BOB", "groups": ("S0FINANCE",)}
    return ApprovalDecided(approval_id=approval, **{**bobs, **fields})
