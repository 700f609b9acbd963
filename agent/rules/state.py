"""What is known of a run: the values that ``fold`` makes of its events, and that everything else reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from pydantic import JsonValue

from agent.rules.events import (
    ApprovalDecided,
    ApprovalKind,
    ApprovalRequested,
    Effect,
    ProposedCall,
    Receipt,
    Verdict,
)
from agent.rules.ids import ApprovalId, CallId, OperationId, Principal, RunId, SessionId

CallStatus = Literal["proposed", "ready", "asking", "waiting", "started", "unknown", "ended"]
Outcome = Literal[
    "ok", "error", "refused", "denied", "guided", "happened", "given_up"
]  # fmt: skip
ApprovalStatus = Literal[
    "pending", "approved", "denied", "steered", "settled", "superseded", "cancelled"
]
Ending = Literal["finished", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class CallResult:
    """How a call ended. ``output`` is what the tool, the policy or a person said."""

    outcome: Outcome
    output: JsonValue
    #: Who ended it, where a person did.
    by: Principal | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call, from proposal to result."""

    proposed: ProposedCall
    status: CallStatus = "proposed"
    title: str = ""
    effect: Effect = "once"
    args: Mapping[str, JsonValue] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    schema_digest: str = ""
    verdict: Verdict | None = None
    #: The arguments before a person changed them, and who did.
    original_args: Mapping[str, JsonValue] | None = None
    steered_by: Principal | None = None
    #: Its newest approval.
    approval_id: ApprovalId | None = None
    attempts: int = 0
    started_at: datetime | None = None
    deadline: datetime | None = None
    ended_at: datetime | None = None
    #: Of an unknown effect: what is known of how it came about, and whether it can be looked up.
    detail: str = ""
    can_be_checked: bool = False
    receipt: Receipt | None = None
    result: CallResult | None = None

    @property
    def id(self) -> CallId:
        return self.proposed.call_id

    @property
    def tool(self) -> str:
        return self.proposed.tool

    @property
    def operation_id(self) -> OperationId:
        return self.proposed.operation_id


@dataclass(frozen=True, slots=True)
class Approval:
    """A question to a person, and what became of it."""

    requested: ApprovalRequested
    requested_at: datetime
    status: ApprovalStatus = "pending"
    decided: ApprovalDecided | None = None
    decided_at: datetime | None = None
    superseded_by: ApprovalId | None = None

    @property
    def id(self) -> ApprovalId:
        return self.requested.approval_id

    @property
    def kind(self) -> ApprovalKind:
        return self.requested.approval_kind


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model: its text and the calls that it proposed."""

    text: str
    call_ids: tuple[CallId, ...]
    asked_at: int


@dataclass(frozen=True, slots=True)
class RunState:
    """Everything that is known of one run at ``seq``. Never changed, only replaced."""

    run_id: RunId
    agent: str
    session: SessionId
    prompt: str
    requester: Principal
    channel: str | None
    place: str | None
    started_at: datetime
    seq: int
    updated_at: datetime
    head_hash: str = ""
    replies: tuple[Reply, ...] = ()
    calls: Mapping[CallId, Call] = field(default_factory=dict)
    approvals: Mapping[ApprovalId, Approval] = field(default_factory=dict)
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: Decimal = Decimal(0)
    #: Model requests that failed since the last one that did not.
    model_failures: int = 0
    model_error: str | None = None
    retry_at: datetime | None = None
    ending: Ending | None = None
    ended_at: datetime | None = None
    answer: str | None = None
    error: str | None = None

    @property
    def is_ended(self) -> bool:
        return self.ending is not None

    @property
    def open_calls(self) -> tuple[Call, ...]:
        """The calls without a result, in the order in which they were proposed."""
        return tuple(call for call in self.calls.values() if call.status != "ended")

    @property
    def open_approvals(self) -> tuple[Approval, ...]:
        return tuple(a for a in self.approvals.values() if a.status == "pending")

    def calls_of(self, reply: Reply) -> tuple[Call, ...]:
        return tuple(self.calls[call_id] for call_id in reply.call_ids)
