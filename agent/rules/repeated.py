"""What somebody sends once more: a decision that they have taken already, and just so."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import assert_never

from pydantic import JsonValue

from agent.rules.decisions import Answer, Approve, Decision, Deny, Settle, Steer
from agent.rules.events import ApprovalDecided
from agent.rules.ids import Principal
from agent.rules.json_text import dump_text
from agent.rules.state import Approval


def is_repeated(approval: Approval, decision: Decision, by: Principal) -> bool:
    """Has ``by`` decided this in just the same way, or given the same yes where more are needed?"""
    if approval.decided is not None:
        return approval.decided.by == by and _is_the_same(decision, approval.decided)
    if not isinstance(decision, Approve) or decision.grant is not None:
        return False
    yes = next((vote.voted for vote in approval.votes if vote.voted.by == by), None)
    return yes is not None and yes.note == _said(decision.note)


def _is_the_same(decision: Decision, decided: ApprovalDecided) -> bool:
    match decision:
        case Approve(note=note, grant=grant):
            is_granted = (grant is None) == (decided.grant is None)
            return decided.action == "approve" and decided.note == _said(note) and is_granted
        case Deny(reason=reason):
            return decided.action == "deny" and decided.reason == _said(reason)
        case Steer(args=args, guidance=guidance):
            is_used = _are_used(args or {}, decided.args or {})
            return decided.action == "steer" and decided.guidance == _said(guidance) and is_used
        case Answer(text=text):
            return decided.action == "answer" and decided.text == _said(text)
        case Settle(outcome=outcome):
            return decided.action == "settle" and decided.outcome == outcome
        case _:
            assert_never(decision)


def _are_used(changes: Mapping[str, JsonValue], used: Mapping[str, JsonValue]) -> bool:
    """Are these among the arguments that are used? Those have been through the tool's schema, which may have made a
    number of its digits."""
    return all(name in used and _is_one(value, used[name]) for name, value in changes.items())


def _is_one(sent: JsonValue, used: JsonValue) -> bool:
    try:
        # As JSON tells them apart, to which 1 is not true.
        return dump_text(sent) == dump_text(used) or Decimal(str(sent)) == Decimal(str(used))
    except InvalidOperation:
        return False


def _said(text: str | None) -> str | None:
    return text.strip() or None if text else None
