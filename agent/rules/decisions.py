"""What people decide, and what follows from it: values in, events out.

The checks stand in the order in which a person is answered: unknown, authority, state, arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from pydantic import JsonValue

from agent.errors import (
    AlreadyDecided,
    ApprovalCancelled,
    ApprovalExpired,
    InvalidArgs,
    NotAllowed,
    NotFound,
    Superseded,
)
from agent.rules.binding import binding_hash, digest
from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    Approvers,
    Event,
    SettleOutcome,
)
from agent.rules.ids import ApprovalId, Principal
from agent.rules.judgement import InvalidCall, Judge, Judgement
from agent.rules.state import Approval, Call, RunState


@dataclass(frozen=True, slots=True)
class Approve:
    """Run the call as it was shown."""

    note: str | None = None


@dataclass(frozen=True, slots=True)
class Deny:
    """Never run the call; the model is given the reason."""

    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Steer:
    """Change the call's arguments (those given replace, the others stay), or guide the model."""

    args: Mapping[str, JsonValue] | None = None
    guidance: str | None = None


@dataclass(frozen=True, slots=True)
class Settle:
    """Say what became of an unknown effect, or have it checked again."""

    outcome: SettleOutcome


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer a question of the agent's. No agent asks questions in this version, so it fits nothing
    yet, and is refused like any decision of the wrong kind."""

    text: str


Decision = Approve | Deny | Steer | Settle | Answer


@dataclass(frozen=True, slots=True)
class Decider:
    """Who decides, with what is needed to tell whether they may."""

    principal: Principal
    #: The id by which rules name them, and the groups that they are in.
    user: str | None = None
    groups: frozenset[str] = frozenset()
    #: Whoever holds the database holds it all.
    is_operator: bool = False
    #: Who speaks for ``principal``, when somebody does.
    claimed_by: Principal | None = None


def why_not(approvers: Approvers, requester: Principal, decider: Decider) -> str | None:
    """Why this person may not decide; None when they may."""
    if decider.is_operator:
        return None
    if decider.user not in approvers.users and not decider.groups & set(approvers.groups):
        return "you are not among those who may decide this."
    if decider.principal == requester and not approvers.requester:
        return "whoever asked for the run may not decide it."
    return None


def decide(
    state: RunState,
    approval_id: ApprovalId,
    decision: Decision,
    decider: Decider,
    *,
    now: datetime,
    judge: Judge,
    next_approval_id: ApprovalId,
) -> tuple[Event, ...]:
    """The events that the decision amounts to.

    ``judge`` checks steered arguments; ``next_approval_id`` is used if they are to be asked of
    people whom the decider is one of. Raises one of ``DecisionRefused``, or ``NotFound``.
    """
    approval = state.approvals.get(approval_id)
    if approval is None:
        raise NotFound("approval", approval_id)
    if why := why_not(approval.requested.approvers, state.requester, decider):
        raise NotAllowed(approval_id, approval.requested.approvers, why)
    _must_be_open(approval, now)
    call = state.calls[approval.requested.call_id]
    if isinstance(decision, Answer) or (approval.kind == "review") != isinstance(decision, Settle):
        raise InvalidArgs(approval_id, {"action": _WRONG_KIND[approval.kind]})
    decided = _Decided(approval, decider)
    match decision:
        case Approve(note=note):
            return (decided(action="approve", note=_said(note)),)
        case Deny(reason=reason):
            return (decided(action="deny", reason=_said(reason)),)
        case Settle(outcome="check") if not call.can_be_checked:
            raise InvalidArgs(approval_id, {"outcome": _NO_WAY_TO_CHECK})
        case Settle(outcome=outcome):
            return (decided(action="settle", outcome=outcome),)
        case Steer(args=args, guidance=guidance) if args:
            if _said(guidance):
                raise InvalidArgs(approval_id, {"guidance": _BOTH})
            return _steer(state, call, decided, args, judge, next_approval_id)
        case Steer(guidance=guidance):
            if not _said(guidance):
                raise InvalidArgs(approval_id, {"guidance": _NOTHING_CHANGED})
            return (decided(action="steer", guidance=_said(guidance)),)
        case _:
            assert_never(decision)


_WRONG_KIND = {
    "call": "This is a call: approve, deny or steer it.",
    "review": "This is an effect that may have happened: settle it.",
}
_NO_WAY_TO_CHECK = "The tool has no way to look it up; say what happened, or give up."
_NOTHING_CHANGED = "Change a value or give guidance."
_BOTH = "Change the values or give guidance, not both."


@dataclass(frozen=True, slots=True)
class _Decided:
    """Makes this decider's event about this approval."""

    approval: Approval
    decider: Decider

    def __call__(self, **fields: object) -> ApprovalDecided:
        return ApprovalDecided.model_validate(
            {
                "approval_id": self.approval.id,
                "by": self.decider.principal,
                "claimed_by": self.decider.claimed_by,
                **fields,
            }
        )


def _said(text: str | None) -> str | None:
    """What somebody wrote; None for nothing but blanks."""
    return text.strip() or None if text else None


def _must_be_open(approval: Approval, now: datetime) -> None:
    if approval.superseded_by is not None and approval.decided is None:
        raise Superseded(approval.id, approval.superseded_by)
    if approval.decided is not None and approval.decided_at is not None:
        raise AlreadyDecided(approval.id, approval.status, approval.decided.by, approval.decided_at)
    if approval.status == "cancelled":
        raise ApprovalCancelled(approval.id)
    expires_at = approval.requested.expires_at
    if expires_at is not None and now >= expires_at:
        raise ApprovalExpired(approval.id, expires_at)


def _steer(
    state: RunState,
    call: Call,
    decided: _Decided,
    changes: Mapping[str, JsonValue],
    judge: Judge,
    next_approval_id: ApprovalId,
) -> tuple[Event, ...]:
    """The call with other arguments: validated and judged again."""
    approval_id = decided.approval.id
    try:
        judgement = judge(call.tool, {**call.args, **changes})
    except InvalidCall as error:
        raise InvalidArgs(approval_id, error.errors) from error
    if digest(judgement.args) == digest(dict(call.args)):
        raise InvalidArgs(approval_id, {"guidance": _NOTHING_CHANGED})
    verdict = judgement.verdict
    if verdict.action == "deny":
        changed = [name for name in changes if judgement.args.get(name) != call.args.get(name)]
        refused = f"Not allowed: {verdict.reason}"
        raise InvalidArgs(approval_id, dict.fromkeys(changed or changes, refused))
    steered = decided(action="steer", args=judgement.args)
    judged = judgement.of(call.id)
    if verdict.action == "allow" or why_not(verdict.approvers, state.requester, decided.decider):
        return (steered, judged)
    # Still asked, and of the steerer too: what they sent is their yes to it.
    asked = _ask_again(decided.approval, call, judgement, next_approval_id)
    yes = _Decided(Approval(asked, decided.approval.requested_at), decided.decider)
    return (steered, judged, asked, yes(action="approve"))


def _ask_again(
    approval: Approval, call: Call, judgement: Judgement, approval_id: ApprovalId
) -> ApprovalRequested:
    return approval.requested.model_copy(
        update={
            "approval_id": approval_id,
            "args": judgement.args,
            "preview": None,
            "reason": judgement.verdict.reason,
            "rule": judgement.verdict.rule,
            "policy_version": judgement.verdict.policy_version,
            "hash": binding_hash(call.tool, judgement.schema_digest, judgement.args, None),
            "approvers": judgement.verdict.approvers,
            "supersedes": approval.id,
        }
    )
