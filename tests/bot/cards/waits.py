"""Histories in which people are silent, and others in which a run is held, stopped or has used its budget."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pydantic import JsonValue

from agent.rules.events import ApprovalRequested
from agent.rules.ids import ApprovalId, GroupId, Principal
from agent.rules.interventions import (
    ApprovalAskedAgain,
    ApprovalEscalated,
    ApprovalExpired,
    ApprovalReminded,
    MessageReceived,
    RunCancelled,
    RunHeld,
    StopRequested,
)
from agent.rules.parts import Approvers, Escalation, OnExpiry, Patience
from tests.agent.rules.histories import ALICE, BOB, FINANCE, History, asked, begun, judged, replied

APR_1 = ApprovalId("apr_1")
HOUR = timedelta(hours=1)
#: An hour, then a reminder, then legal as well.
PATIENCE = Patience(
    expires=24 * HOUR,
    remind=2 * HOUR,
    escalate=(Escalation(after=4 * HOUR, groups=("S0LEGAL",), users=("U0ERIN",)),),
)


def patient(approvers: Approvers = FINANCE, **question: Any) -> History:
    """A refund waits for finance as ``apr_1``, for a day."""
    history = begun().then(replied(1)).then(judged(1, "ask", approvers=approvers))
    asks = asked(1, approvers=approvers, expires_at=history.now + 24 * HOUR)
    return history.then(asks.model_copy(update={"patience": PATIENCE, **question}))


def reminded(history: History, number: int = 1) -> History:
    return history.then(ApprovalReminded(approval_id=APR_1, number=number), after=2 * HOUR)


def escalated(history: History) -> History:
    return history.then(ApprovalEscalated(approval_id=APR_1, stage=1), after=4 * HOUR)


def expired(history: History, then: OnExpiry = "wait") -> History:
    return history.then(ApprovalExpired(approval_id=APR_1, then=then), after=24 * HOUR)


def asked_again(history: History, by: Principal = ALICE) -> History:
    return history.then(ApprovalAskedAgain(approval_id=APR_1, by=by))


def held(history: History, reason: str | None = None) -> History:
    return history.then(RunHeld(by=BOB, reason=reason))


def stopped(history: History, by: Principal = BOB, reason: str | None = None) -> History:
    """Nothing had begun: it ends at once."""
    return history.then(StopRequested(by=by, reason=reason), RunCancelled())


def told(history: History, text: str = "hurry up") -> History:
    return history.then(MessageReceived(by=ALICE, text=text))


def used_up(budget: str = "model_calls", more: str = "20") -> History:
    """The owners, who are finance, are asked as ``apr_1`` whether the run may go on."""
    args: dict[str, JsonValue] = {"budget": budget, "used": "40", "limit": "40", "more": more}
    question = ApprovalRequested(
        approval_id=APR_1,
        group=GroupId("grp_apr_1"),
        approval_kind="budget",
        call_id=None,
        tool="",
        title="Go on?",
        args=args,
        reason="This run has used its budget: 40 of 40 model calls.",
        rule="the agent's budget: model_calls 40",
        policy_version="",
        hash="",
        approvers=FINANCE,
    )
    return begun().then(question)
