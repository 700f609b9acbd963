"""What people and time do to a history, for tests: the events beside those of ``histories``."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from agent.rules.budgets import Budget, ask_for_more
from agent.rules.events import ApprovalRequested, CallRefused, Event
from agent.rules.ids import ApprovalId, CallId, Principal
from agent.rules.interventions import (
    ApprovalAskedAgain,
    ApprovalEscalated,
    ApprovalExpired,
    ApprovalReminded,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    RunHeld,
    RunResumed,
    StopRequested,
)
from agent.rules.parts import Approvers, Escalation, OnExpiry, Patience
from tests.agent.rules.histories import (
    ALICE,
    BOB,
    FINANCE,
    SECOND,
    History,
    asked,
    begun,
    judged,
    replied,
)

HOUR = timedelta(hours=1)
OWNERS = Approvers(users=("U0CAROL",))
LEGAL = Escalation(after=HOUR, groups=("S0LEGAL",))
CAROL = Escalation(after=2 * HOUR, users=("U0CAROL",))


def said(
    text: str = "wait", by: Principal = ALICE, ref: str | None = None, **more: Any
) -> MessageReceived:
    """``more``: as in ``MessageReceived``."""
    return MessageReceived(by=by, text=text, ref=ref, **more)


def edited(
    ref: str, text: str = "rather not", by: Principal = ALICE, as_of: datetime | None = None
) -> MessageEdited:
    return MessageEdited(ref=ref, text=text, by=by, as_of=as_of)


def deleted(ref: str, by: Principal = ALICE) -> MessageDeleted:
    return MessageDeleted(ref=ref, by=by)


def held(by: Principal = BOB, reason: str | None = None) -> RunHeld:
    return RunHeld(by=by, reason=reason)


def resumed(by: Principal = ALICE) -> RunResumed:
    return RunResumed(by=by)


def stop_wanted(by: Principal = BOB, reason: str | None = None) -> StopRequested:
    return StopRequested(by=by, reason=reason)


def expired(approval: int, then: OnExpiry = "wait") -> ApprovalExpired:
    return ApprovalExpired(approval_id=ApprovalId(f"apr_{approval}"), then=then)


def reminded(approval: int, number: int = 1) -> ApprovalReminded:
    return ApprovalReminded(approval_id=ApprovalId(f"apr_{approval}"), number=number)


def escalated(approval: int, stage: int = 1) -> ApprovalEscalated:
    return ApprovalEscalated(approval_id=ApprovalId(f"apr_{approval}"), stage=stage)


def asked_again(approval: int, by: Principal = ALICE) -> ApprovalAskedAgain:
    return ApprovalAskedAgain(approval_id=ApprovalId(f"apr_{approval}"), by=by)


def waits(patience: Patience, approvers: Approvers = FINANCE) -> History:
    """A refund of $180 waits as ``apr_1``, for as long as ``patience`` says."""
    history = begun().then(replied(1))
    history = history.then(judged(1, "ask", approvers=approvers, patience=patience))
    expires_at = history.now + SECOND + patience.expires if patience.expires else None
    return history.then(asked(1, approvers=approvers, patience=patience, expires_at=expires_at))


def spent(calls: int = 1) -> History:
    """The model has been asked so often, and wants to be asked once more."""
    history = begun()
    for number in range(1, calls + 1):
        history = history.then(*fruitless(history, number))
    return history


def fruitless(history: History, number: int) -> tuple[Event, ...]:
    """The model is asked, and comes up with a call that can't be."""
    refused = CallRefused(call_id=CallId(f"call_{number}"), code="malformed", message="not JSON")
    return replied(number, asked_at=history.length), refused


def more_wanted(history: History, budget: Budget, approval: int = 1) -> tuple[Event, ...]:
    """What follows from the budget that is used up."""
    reached = budget.reached(history.state)
    assert reached is not None
    return ask_for_more(
        history.state,
        reached,
        budget,
        OWNERS,
        ApprovalId(f"apr_{approval}"),
        history.now + SECOND,
    )


def out_of_calls(limit: int = 1) -> History:
    """Carol is asked, as ``apr_1``, whether the model may be asked more often than ``limit``."""
    history = spent(limit)
    return history.then(*more_wanted(history, Budget(model_calls=limit)))


def question_of(event: Event) -> ApprovalRequested:
    assert isinstance(event, ApprovalRequested)
    return event


ONE = Decimal(1)
