"""What somebody says of an approval, as the event that records it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from agent.rules.consent import is_enough
from agent.rules.events import ApprovalDecided, ApprovalRequested, ApprovalVoted
from agent.rules.ids import Principal
from agent.rules.parts import Approvers, Word


def decided(
    asked: ApprovalRequested, word: Word, *also: Approvers, **fields: object
) -> ApprovalDecided:
    """``word`` decides; ``also``: others among whose groups its speaker is worth recording."""
    said = _recorded(word, asked.approvers, *also)
    return ApprovalDecided.model_validate({**said, "approval_id": asked.approval_id, **fields})


def said_yes(
    asked: ApprovalRequested,
    requesters: Collection[Principal],
    word: Word,
    *,
    approvers: Approvers,
    before: Iterable[Word] = (),
    note: str | None = None,
) -> ApprovalVoted | ApprovalDecided:
    """``word`` is a yes: a vote, or the decision if it is enough for these ``approvers`` together with
    those ``before``."""
    if is_enough(approvers, requesters, (*before, word)):
        return decided(asked, word, approvers, action="approve", note=note)
    said = _recorded(word, asked.approvers, approvers)
    return ApprovalVoted.model_validate({**said, "approval_id": asked.approval_id, "note": note})


def _recorded(word: Word, *approvers: Approvers) -> dict[str, object]:
    """The word with those of its groups that could decide: what else somebody belongs to is nobody's
    business."""
    asked = {group for one in approvers for group in one.all_groups}
    said = {name: getattr(word, name) for name in Word.model_fields}
    return {**said, "groups": tuple(group for group in word.groups if group in asked)}
