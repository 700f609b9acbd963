"""Deciding in tests: ``decide`` with what most of them leave alone, and what several of them decide."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from agent.rules.decisions import Decider, Decision, decide
from agent.rules.events import ApprovalDecided, CallLeftUnknown, Event, RunFailed
from agent.rules.ids import ApprovalId, CallId, Principal
from tests.agent.rules.histories import (
    AS_BOB,
    BEGAN,
    BOB,
    SECOND,
    History,
    approved,
    asked,
    begun,
    call_started,
    in_review,
    judged,
    replied,
    waiting,
)
from tests.agent.rules.judges import RefundJudge

A1, A2 = ApprovalId("apr_1"), ApprovalId("apr_2")
EXPIRES = BEGAN + timedelta(hours=24)


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


def expiring(expires_at: datetime | None = EXPIRES) -> History:
    """A refund waits as ``apr_1``, until then."""
    history = begun().then(replied(1)).then(judged(1, "ask"))
    return history.then(asked(1, expires_at=expires_at))


def blind() -> History:
    """As ``in_review``, but of a tool that can look nothing up."""
    history = waiting().then(approved(1)).then(call_started(1, BEGAN + SECOND))
    history = history.then(CallLeftUnknown(call_id=CallId("call_1"), detail="no answer"))
    return history.then(asked(1, approval=2, kind="review", supersedes=1))


def reviewed_after_its_end() -> History:
    """As ``in_review``, of a run that has failed since."""
    return in_review().then(RunFailed(error="it can't go on"))
