"""Steering by arguments: another call in place of the one that was asked about."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from pydantic import JsonValue

from agent.errors import InvalidArgs
from agent.rules.binding import binding_hash, digest
from agent.rules.calls import Call
from agent.rules.consent import is_enough, is_listed
from agent.rules.events import ApprovalDecided, ApprovalRequested, ApprovalVoted, Event
from agent.rules.ids import ApprovalId
from agent.rules.judgement import InvalidCall, Judge, Judgement
from agent.rules.limiting import is_over
from agent.rules.parts import Word
from agent.rules.state import RunState
from agent.rules.voting import decided, said_yes

NOTHING_CHANGED = "Change a value or give guidance."
#: Characters of a preview. Whoever steers has not seen what a tool says of other arguments: their yes covers what every
#: card has room for beside the values, and nothing that would have to be looked up first.
CARRIED_PREVIEW = 1_000
#: Other arguments under the same operation id: an outside system that had heard of it takes it for what it was.
AS_IT_WAS = "It was begun and may have happened as it was: approve or deny it, or give guidance."


def steer(
    state: RunState,
    asked: ApprovalRequested,
    word: Word,
    changes: Mapping[str, JsonValue],
    *,
    now: datetime,
    judge: Judge,
    next_approval_id: ApprovalId,
) -> tuple[Event, ...]:
    """The call with other arguments, validated and judged again. What they sent is the steerer's yes
    to it: where that alone lets it run, it is approved here; else it is left to be asked.

    Raises ``InvalidArgs``, also for a call that may have happened as it is."""
    call = state.call(asked.of_call)
    if call.may_have_happened:
        raise InvalidArgs(asked.approval_id, {"guidance": AS_IT_WAS})
    judgement = _judged(call, asked, changes, judge)
    verdict = judgement.verdict
    stage = call.stage_under(verdict)
    approvers = verdict.approvers_at(stage)
    steered = decided(asked, word, approvers, action="steer", args=judgement.args)
    judged = judgement.of(call.id)
    # Whoever decides of a dry run says no yes to what happens.
    is_meant = verdict.dry_run or not asked.dry_run
    # Whoever changes an amount has not seen what is left of a limit: they are asked whether it may go over it.
    suffices = is_meant and not is_over(verdict) and is_enough(approvers, state.requesters, (word,))
    # Where the tool has yet to say what would happen, the question is not complete.
    if verdict.action == "allow" or judgement.can_preview or not suffices:
        return (steered, judged)
    patience = verdict.patience.after(stage)
    again = _asked_again(asked, judgement, next_approval_id).model_copy(
        update={
            "approvers": approvers,
            "patience": patience,
            "delivery": verdict.delivery,
            "expires_at": now + patience.expires if patience.expires else None,
        }
    )
    return (
        steered,
        judged,
        again,
        said_yes(again, state.requesters, word, approvers=again.approvers),
    )


def carried_vote(
    state: RunState, call: Call, asked: ApprovalRequested, now: datetime
) -> ApprovalVoted | ApprovalDecided | None:
    """The yes of whoever steered ``call`` to what is now ``asked``; None if they may not decide it,
    it is not what they sent any more, their yes would be too old, or what would happen takes more to say than
    they could have agreed to unseen."""
    steered = state.approvals.get(call.approval_id) if call.approval_id else None
    if steered is None or steered.decided is None or steered.decided_at is None:
        return None
    word, verdict = steered.decided, call.verdict
    if word.args is None or digest(word.args) != digest(asked.args):
        return None
    if asked.approval_kind != "call" or call.again_because is not None:
        return None
    if steered.requested.dry_run and not asked.dry_run:
        return None
    if not _is_soon_read(call, asked) or (verdict is not None and is_over(verdict)):
        return None
    valid_for = verdict.valid_for if verdict else None
    if valid_for is not None and now - steered.decided_at > valid_for:
        return None
    if word.authority == "listed" and not is_listed(asked.approvers, state.requesters, word):
        return None
    return said_yes(asked, state.requesters, word, approvers=asked.approvers)


def _is_soon_read(call: Call, asked: ApprovalRequested) -> bool:
    """Has the tool said what would happen, if it can, and in few words?"""
    if not call.can_preview:
        return True
    is_said = asked.preview is not None and call.preview_error is None
    return is_said and len(asked.preview or "") <= CARRIED_PREVIEW


def _judged(
    call: Call, asked: ApprovalRequested, changes: Mapping[str, JsonValue], judge: Judge
) -> Judgement:
    """Raises ``InvalidArgs``, with a message at each field that can't be so."""
    try:
        judgement = judge(call.tool, {**call.args, **changes})
    except InvalidCall as error:
        raise InvalidArgs(asked.approval_id, error.errors) from error
    if digest(judgement.args) == digest(dict(call.args)):
        raise InvalidArgs(asked.approval_id, {"guidance": NOTHING_CHANGED})
    if judgement.verdict.action == "deny":
        changed = [name for name in changes if judgement.args.get(name) != call.args.get(name)]
        refused = f"Not allowed: {judgement.verdict.reason}"
        raise InvalidArgs(asked.approval_id, dict.fromkeys(changed or changes, refused))
    return judgement


def _asked_again(
    asked: ApprovalRequested,
    judgement: Judgement,
    approval_id: ApprovalId,
) -> ApprovalRequested:
    verdict = judgement.verdict
    return asked.model_copy(
        update={
            "approval_id": approval_id,
            "title": judgement.title,
            "args": judgement.args,
            "preview": None,
            "reason": verdict.reason,
            "rule": verdict.rule,
            "policy_version": verdict.policy_version,
            "hash": binding_hash(judgement.tool, judgement.schema_digest, judgement.args, None),
            "supersedes": asked.approval_id,
            "again_because": None,
            "dry_run": verdict.dry_run,
        }
    )
