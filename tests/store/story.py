"""The facts that the tests tell, in few words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from uuid_utils import uuid7

from agent.ports import Clock, Journal, Store, ThreadMessage
from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    ApprovalVoted,
    CallJudged,
    CallReturned,
    Event,
    ModelReplied,
    RunStarted,
)
from agent.rules.ids import (
    ApprovalId,
    CallId,
    EventId,
    GroupId,
    OperationId,
    Principal,
    RunId,
    SessionId,
)
from agent.rules.parts import (
    ApprovalKind,
    Approvers,
    DecisionAction,
    ProposedCall,
    SettleOutcome,
    Verdict,
)
from agent.rules.recorded import Stamped

ALICE = Principal("slack:T1:UALICE")
BOB = Principal("slack:T1:UBOB")


def stamp(clock: Clock, event: Event) -> Stamped:
    return Stamped(EventId(str(uuid7())), clock.now(), event)


def stamps(clock: Clock, *events: Event) -> Sequence[Stamped]:
    return [stamp(clock, event) for event in events]


def started(
    session: str = "s_1",
    *,
    agent: str = "refunds",
    requester: str = ALICE,
    place: str | None = None,
) -> RunStarted:
    return RunStarted(
        agent=agent,
        session=SessionId(session),
        prompt="refund ORD-3300 180",
        requester=Principal(requester),
        place=place,
    )


async def begin(
    journal: Journal,
    clock: Clock,
    run_id: str = "run_1",
    *,
    agent: str = "refunds",
    requester: str = ALICE,
    place: str | None = None,
    session: str | None = None,
    root: ThreadMessage | None = None,
    key: str | None = None,
) -> RunId:
    """A run, in a session of its own unless that is given."""
    event = started(session or f"s_{run_id}", agent=agent, requester=requester, place=place)
    return await journal.start(RunId(run_id), stamp(clock, event), key=key, root=root)


def replied(*call_ids: str, asked_at: int = 1, text: str = "") -> ModelReplied:
    calls = tuple(
        ProposedCall(
            call_id=CallId(call_id),
            operation_id=OperationId(f"op_{call_id}"),
            model_call_id="toolu_1",
            tool="process_refund",
            arguments='{"order": "ORD-3300", "amount": 180}',
        )
        for call_id in call_ids
    )
    return ModelReplied(text=text, calls=calls, asked_at=asked_at, model="demo")


def judged(call_id: str) -> CallJudged:
    return CallJudged(
        call_id=CallId(call_id),
        title="Refund an order",
        effect="once",
        args={"order": "ORD-3300", "amount": 180},
        parameters={},
        schema_digest="0" * 64,
        verdict=Verdict(
            action="ask",
            reason="refund $180.00 exceeds the $100 threshold",
            rule="process_refund over 100",
            policy_version="v1",
        ),
    )


def requested(
    approval_id: str,
    call_id: str,
    *,
    kind: ApprovalKind = "call",
    expires_at: datetime | None = None,
    supersedes: str | None = None,
) -> ApprovalRequested:
    return ApprovalRequested(
        approval_id=ApprovalId(approval_id),
        group=GroupId("grp_1"),
        approval_kind=kind,
        call_id=CallId(call_id),
        tool="process_refund",
        title="Refund an order",
        args={"order": "ORD-3300", "amount": 180},
        reason="refund $180.00 exceeds the $100 threshold",
        rule="process_refund over 100",
        policy_version="v1",
        hash="0" * 64,
        approvers=Approvers(users=("UBOB",)),
        expires_at=expires_at,
        supersedes=ApprovalId(supersedes) if supersedes else None,
    )


def decided(
    approval_id: str,
    action: DecisionAction = "approve",
    *,
    by: Principal = BOB,
    outcome: SettleOutcome | None = None,
) -> ApprovalDecided:
    return ApprovalDecided(
        approval_id=ApprovalId(approval_id), action=action, by=by, outcome=outcome
    )


def voted(approval_id: str, *, by: Principal = BOB) -> ApprovalVoted:
    return ApprovalVoted(approval_id=ApprovalId(approval_id), by=by)


def returned(call_id: str, output: str = "done") -> CallReturned:
    return CallReturned(call_id=CallId(call_id), output=output)


async def begin_shown(store: Store, clock: Clock, run_id: str = "run_1") -> RunId:
    """A run with a thread."""
    return await begin(store.journal, clock, run_id, place="C1:1.2")
