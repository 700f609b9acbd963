"""The questions to people about a call: what they are shown, and who of them may decide."""

from __future__ import annotations

from datetime import datetime

from pydantic import JsonValue

from agent.errors import Blocked
from agent.rules.binding import binding_hash
from agent.rules.calls import Call
from agent.rules.events import ApprovalRequested
from agent.rules.ids import ApprovalId, GroupId
from agent.rules.parts import Approvers, Patience


def ask_about(
    call: Call, approval_id: ApprovalId, group: GroupId, now: datetime
) -> ApprovalRequested:
    """The question whether this call may happen, or the agent's own question. Raises ``Blocked`` for a call
    that was never judged, as ``ask_what_happened`` does."""
    asked = _asked(call, approval_id, group, now)
    return _question(call, asked) if call.is_question else asked


def ask_what_happened(
    call: Call, detail: str, approval_id: ApprovalId, group: GroupId
) -> ApprovalRequested:
    """The question whether this call's effect happened; asked of whoever might allow it."""
    asked = _asked(call, approval_id, group, None)
    return asked.model_copy(update={"approval_kind": "review", "reason": detail, "dry_run": False})


def _asked(
    call: Call, approval_id: ApprovalId, group: GroupId, now: datetime | None
) -> ApprovalRequested:
    """Without ``now`` it waits for as long as it takes."""
    verdict = call.verdict
    if verdict is None:
        raise Blocked("corrupt", f"{call.id} was never judged.")
    patience = verdict.patience.after(call.stage) if now else Patience()
    return ApprovalRequested(
        approval_id=approval_id,
        group=group,
        call_id=call.id,
        tool=call.tool,
        title=call.title,
        args=dict(call.args),
        preview=call.preview,
        reason=verdict.reason,
        rule=verdict.rule,
        policy_version=verdict.policy_version,
        hash=binding_hash(call.tool, call.schema_digest, call.args, call.preview),
        approvers=verdict.approvers_at(call.stage),
        expires_at=now + patience.expires if now and patience.expires else None,
        supersedes=call.approval_id,
        again_because=call.again_because,
        patience=patience,
        delivery=verdict.delivery,
        dry_run=verdict.dry_run,
    )


def _question(call: Call, asked: ApprovalRequested) -> ApprovalRequested:
    """Whoever asked for the run may answer, and whoever its verdict says."""
    listed = asked.approvers
    options = call.args.get("options") or []
    args: dict[str, JsonValue] = {
        "question": call.args.get("question"),
        "options": options,
        "free_text": bool(call.args.get("free_text")) or not options,
    }
    return asked.model_copy(
        update={
            "approval_kind": "question",
            "args": args,
            "reason": str(args["question"]),
            "approvers": Approvers(
                users=listed.users,
                groups=listed.all_groups,
                requester=True,
                members=listed.members,
            ),
        }
    )
