"""Histories of runs to test with: what happened, one event after the other, one second apart.

Everything here is a value. ``History`` is never changed; ``then`` gives a longer one, so that a test
can branch off wherever it likes. Calls are known by a number: the call 1 is ``call_1`` with the
operation id ``op_1``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from pydantic import JsonValue

from agent.rules.binding import binding_hash, digest
from agent.rules.decisions import Decider
from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    ApprovalVoted,
    CallJudged,
    CallLeftUnknown,
    CallLookedUp,
    CallPreviewed,
    CallProgressed,
    CallReturned,
    CallStarted,
    Event,
    ModelReplied,
    RunReopened,
    RunStarted,
)
from agent.rules.fold import fold
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
from agent.rules.json_text import dump_text
from agent.rules.parts import (
    ApprovalKind,
    Approvers,
    Effect,
    Granting,
    Patience,
    ProposedCall,
    Receipt,
    SettleOutcome,
    Usage,
    Verdict,
)
from agent.rules.recorded import Recorded
from agent.rules.state import RunState

BEGAN = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
#: From a call's start to its deadline: the time-out and five seconds.
TERM = timedelta(seconds=65)

RUN = RunId("run_1")
GROUP = GroupId("grp_1")
ALICE = Principal("slack:T0PILOT:U0ALICE")
BOB = Principal("slack:T0PILOT:U0BOB")
FRANK = Principal("slack:T0PILOT:U0FRANK")
FINANCE = Approvers(groups=("S0FINANCE",))
#: A question waits until somebody decides it.
FOR_EVER = Patience()
TWO_OF_FINANCE = Approvers(groups=("S0FINANCE",), count=2)

AS_ALICE = Decider(ALICE, user="U0ALICE")
AS_BOB = Decider(BOB, user="U0BOB", groups=frozenset({"S0FINANCE"}))
AS_FRANK = Decider(FRANK, user="U0FRANK", groups=frozenset({"S0FINANCE"}))
AS_CAROL = Decider(Principal("slack:T0PILOT:U0CAROL"), user="U0CAROL")
AS_OPERATOR = Decider(Principal("cli:root"), authority="operator")

REFUND: dict[str, JsonValue] = {"order": "ORD-3300", "amount": 180}
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "order": {"type": "string", "title": "Order", "maxLength": 40},
        "amount": {"type": "number", "title": "Amount", "format": "money", "x-currency": "USD"},
    },
    "required": ["order", "amount"],
}


@dataclass(frozen=True, slots=True)
class History:
    """The journal of one run."""

    recorded: tuple[Recorded, ...] = ()

    def then(self, *events: Event, after: timedelta = SECOND) -> History:
        """With these behind, all at one time: ``after`` the newest that is there."""
        at = self.now + after if self.recorded else BEGAN
        added = (recorded(self.length + n, at, event) for n, event in enumerate(events, 1))
        return History((*self.recorded, *added))

    def first(self, length: int) -> History:
        return History(self.recorded[:length])

    @property
    def length(self) -> int:
        return len(self.recorded)

    @property
    def now(self) -> datetime:
        """When the newest event happened."""
        return self.recorded[-1].at

    @property
    def state(self) -> RunState:
        return fold(self.recorded)


def recorded(seq: int, at: datetime, event: Event) -> Recorded:
    return Recorded(RUN, seq, EventId(f"event-{seq}"), at, f"{seq:064x}", event)


def begun(prompt: str = "refund ORD-3300 180", **more: Any) -> History:
    """A run that has just been started, by Alice; ``more``: as in ``RunStarted``."""
    started = RunStarted(
        agent="refunds",
        session=SessionId("session_1"),
        prompt=prompt,
        requester=ALICE,
        channel="C0SUPPORT",
        **more,
    )
    return History().then(started)


def proposed_call(
    number: int, tool: str = "process_refund", args: Mapping[str, JsonValue] = REFUND
) -> ProposedCall:
    return ProposedCall(
        call_id=CallId(f"call_{number}"),
        operation_id=OperationId(f"op_{number}"),
        model_call_id=f"model-{number}",
        tool=tool,
        arguments=dump_text(dict(args)),
    )


def replied(*calls: int | ProposedCall, text: str = "", asked_at: int = 1) -> ModelReplied:
    """The model answers, with these calls."""
    return ModelReplied(
        text=text,
        calls=tuple(c if isinstance(c, ProposedCall) else proposed_call(c) for c in calls),
        asked_at=asked_at,
        group=GROUP if calls else None,
        model="scripted",
        usage=Usage(input_tokens=10, output_tokens=5),
    )


def verdict(
    action: Literal["allow", "ask", "deny"],
    reason: str = "over the threshold",
    approvers: Approvers = FINANCE,
    valid_for: timedelta | None = None,
    patience: Patience = FOR_EVER,
    granting: Granting | None = None,
) -> Verdict:
    return Verdict(
        action=action,
        reason=reason,
        rule=f"{action} process_refund",
        policy_version="policy-1",
        approvers=approvers,
        valid_for=valid_for,
        patience=patience,
        granting=granting,
    )


def judged(
    number: int,
    action: Literal["allow", "ask"] = "allow",
    *,
    effect: Effect = "idempotent",
    args: Mapping[str, JsonValue] = REFUND,
    approvers: Approvers = FINANCE,
    valid_for: timedelta | None = None,
    patience: Patience = FOR_EVER,
    **more: Any,
) -> CallJudged:
    """``more``: as in ``CallJudged``."""
    return CallJudged(
        call_id=CallId(f"call_{number}"),
        title="Refund an order",
        effect=effect,
        args=dict(args),
        parameters=PARAMETERS,
        schema_digest=digest(PARAMETERS),
        verdict=verdict(action, approvers=approvers, valid_for=valid_for, patience=patience),
        **more,
    )


def previewed(number: int, preview: str | None, error: str | None = None) -> CallPreviewed:
    return CallPreviewed(call_id=CallId(f"call_{number}"), preview=preview, error=error)


def asked(
    number: int,
    *,
    approval: int | None = None,
    kind: ApprovalKind = "call",
    args: Mapping[str, JsonValue] = REFUND,
    approvers: Approvers = FINANCE,
    preview: str | None = None,
    supersedes: int | None = None,
    expires_at: datetime | None = None,
    patience: Patience = FOR_EVER,
) -> ApprovalRequested:
    """People are asked about the call; the approval has the call's number unless said."""
    return ApprovalRequested(
        approval_id=ApprovalId(f"apr_{approval or number}"),
        group=GROUP,
        approval_kind=kind,
        call_id=CallId(f"call_{number}"),
        tool="process_refund",
        title="Refund an order",
        args=dict(args),
        preview=preview,
        reason="it did not answer" if kind == "review" else "over the threshold",
        rule="ask process_refund",
        policy_version="policy-1",
        hash=binding_hash("process_refund", digest(PARAMETERS), args, preview),
        approvers=approvers,
        expires_at=expires_at,
        patience=patience,
        supersedes=None if supersedes is None else ApprovalId(f"apr_{supersedes}"),
    )


#: Bob's word as it is recorded: why he might.
BOBS: Mapping[str, Any] = {"user": "U0BOB", "groups": ("S0FINANCE",)}


def _decided(approval: int, by: Principal, **fields: Any) -> ApprovalDecided:
    return ApprovalDecided(approval_id=ApprovalId(f"apr_{approval}"), by=by, **fields)


def approved(approval: int, by: Principal = BOB, **word: Any) -> ApprovalDecided:
    return _decided(approval, by, action="approve", **word)


def voted(approval: int, by: Principal = BOB, **word: Any) -> ApprovalVoted:
    return ApprovalVoted(approval_id=ApprovalId(f"apr_{approval}"), by=by, **word)


def denied(
    approval: int, reason: str | None = None, by: Principal = BOB, **word: Any
) -> ApprovalDecided:
    return _decided(approval, by, action="deny", reason=reason, **word)


def steered(
    approval: int, args: Mapping[str, JsonValue], by: Principal = BOB, **word: Any
) -> ApprovalDecided:
    return _decided(approval, by, action="steer", args=dict(args), **word)


def guided(approval: int, guidance: str, by: Principal = BOB) -> ApprovalDecided:
    return _decided(approval, by, action="steer", guidance=guidance)


def answered(approval: int, text: str, by: Principal = ALICE) -> ApprovalDecided:
    return _decided(approval, by, action="answer", text=text)


def settled(
    approval: int, outcome: SettleOutcome, by: Principal = BOB, **word: Any
) -> ApprovalDecided:
    return _decided(approval, by, action="settle", outcome=outcome, **word)


def call_started(number: int, at: datetime, attempt: int = 1) -> CallStarted:
    """Started at ``at``, with its deadline ``TERM`` later."""
    return CallStarted(call_id=CallId(f"call_{number}"), attempt=attempt, deadline=at + TERM)


def returned(number: int, output: JsonValue = "done", *, is_error: bool = False) -> CallReturned:
    return CallReturned(
        call_id=CallId(f"call_{number}"),
        output=output,
        is_error=is_error,
        receipt=Receipt(status="rejected" if is_error else "committed"),
    )


def left_unknown(number: int) -> CallLeftUnknown:
    return CallLeftUnknown(
        call_id=CallId(f"call_{number}"), detail="it did not answer", can_be_checked=True
    )


def progressed(number: int, text: str = "3 of 7 files", attempt: int = 1) -> CallProgressed:
    return CallProgressed(call_id=CallId(f"call_{number}"), attempt=attempt, text=text)


def looked_up(number: int) -> CallLookedUp:
    return CallLookedUp(call_id=CallId(f"call_{number}"))


def reopened(by: Principal = ALICE) -> RunReopened:
    return RunReopened(by=by)


def waiting(approvers: Approvers = FINANCE) -> History:
    """A refund of $180 waits for finance, as ``apr_1``."""
    history = begun().then(replied(1)).then(judged(1, "ask", approvers=approvers))
    return history.then(asked(1, approvers=approvers))


STAGES: dict[str, JsonValue] = {
    "question": "Where to?",
    "options": ["staging", "production"],
    "free_text": False,
}


def questioned(args: Mapping[str, JsonValue] = STAGES) -> History:
    """The agent asks Alice, or somebody of finance, as ``apr_1``."""
    history = begun("deploy it").then(replied(proposed_call(1, "ask_user", args)))
    history = history.then(judged(1, "ask", args=args, effect="read", is_question=True))
    return history.then(asked(1, kind="question", args=args))


def started(effect: Effect = "idempotent") -> History:
    """An allowed refund has been started and has not returned."""
    history = begun().then(replied(1)).then(judged(1, effect=effect))
    return history.then(call_started(1, history.now + SECOND))


def in_review() -> History:
    """Nobody knows what became of an approved refund; finance is asked, as ``apr_2``."""
    history = begun().then(replied(1)).then(judged(1, "ask", effect="once")).then(asked(1))
    history = history.then(approved(1))
    history = history.then(call_started(1, history.now + SECOND)).then(left_unknown(1))
    return history.then(asked(1, approval=2, kind="review", supersedes=1))
