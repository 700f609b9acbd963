"""What is known of one tool call: a value that ``fold`` makes of its events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from pydantic import JsonValue

from agent.rules.ids import ApprovalId, CallId, OperationId, Principal
from agent.rules.parts import Effect, Outcome, ProposedCall, Receipt, Verdict

CallStatus = Literal["proposed", "ready", "asking", "waiting", "started", "unknown", "ended"]


@dataclass(frozen=True, slots=True)
class CallResult:
    """How a call ended. ``output`` is what the tool, the policy or a person said."""

    outcome: Outcome
    output: JsonValue
    #: Who ended it, where a person did.
    by: Principal | None = None
    #: Of an error: the outside system carried the call out, and this is its own word that it failed.
    is_answer: bool = False


@dataclass(frozen=True)
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
    is_question: bool = False
    #: What the tool said would happen, when it said so (None: it has not been asked), and why it
    #: could not; ``preview_must_match`` has it asked again when the call is to start.
    can_preview: bool = False
    preview_must_match: bool = False
    preview: str | None = None
    preview_error: str | None = None
    previewed_at: datetime | None = None
    #: When the preview was last found to be what was approved, and how often it was not.
    rechecked_at: datetime | None = None
    preview_changes: int = 0
    #: Why it is asked again.
    again_because: str | None = None
    #: The arguments before a person changed them, and who did.
    original_args: Mapping[str, JsonValue] | None = None
    steered_by: Principal | None = None
    #: How many of its rule's escalations have been reached.
    stage: int = 0
    #: Its newest approval, and the newest that said yes to it as it is.
    approval_id: ApprovalId | None = None
    approved_id: ApprovalId | None = None
    #: How often it was begun; so many of them before the run was last taken on again.
    attempts: int = 0
    attempts_before: int = 0
    started_at: datetime | None = None
    deadline: datetime | None = None
    #: What its starts reserved, by limit; whether that counts, its receipt tells.
    reserved: Mapping[str, Decimal] = field(default_factory=dict)
    ended_at: datetime | None = None
    #: Of an unknown effect: what is known of how it came about, and whether it can be looked up.
    detail: str = ""
    can_be_checked: bool = False
    receipt: Receipt | None = None
    result: CallResult | None = None
    #: Of another run's history: in which words its model was told of it.
    told: str | None = None

    @property
    def id(self) -> CallId:
        return self.proposed.call_id

    @property
    def tool(self) -> str:
        return self.proposed.tool

    @property
    def operation_id(self) -> OperationId:
        return self.proposed.operation_id

    @property
    def may_have_happened(self) -> bool:
        """Was it begun, and is it open what came of it? Whatever it waits for by now. A read does nothing
        that one would have to know of."""
        is_known = self.receipt is not None and self.receipt.status != "unknown"
        has_effect = self.attempts > 0 and self.effect != "read"
        return has_effect and self.result is None and not is_known

    @property
    def is_lost(self) -> bool:
        """May it have happened, without anybody having been told so yet? Whatever it waits for by now: to be
        asked about once more, or to be begun once more."""
        return self.may_have_happened and self.status != "unknown"

    def stage_under(self, verdict: Verdict) -> int:
        """How many of the escalations of ``verdict`` have been reached. None where they are not those that
        the call has been through: what was reached of another rule says nothing of this one."""
        before = self.verdict.patience.escalate if self.verdict else ()
        return self.stage if verdict.patience.escalate == before else 0
