"""People, processes and moments, as a terminal shows them. Pure."""

from __future__ import annotations

from datetime import datetime

from agent.rules.explaining import users_who_may
from agent.rules.ids import Principal
from agent.rules.parts import Approvers, DecisionAction, Word
from agent.rules.state import Approval, RunState
from bot.cli.plain import one_line

_DONE: dict[DecisionAction, str] = {
    "approve": "approved",
    "deny": "denied",
    "steer": "steered",
    "answer": "answered",
    "settle": "settled",
}


def name_of(principal: Principal) -> str:
    """A person of Slack by the id that rules know them by; others as they are."""
    kind, _, rest = principal.partition(":")
    return one_line(rest.rpartition(":")[2] if kind == "slack" else principal)


def who_said(word: Word) -> str:
    """And who spoke for them."""
    claimed = f" (says {name_of(word.claimed_by)})" if word.claimed_by else ""
    return f"{name_of(word.by)}{claimed}"


def show_minute(at: datetime | None) -> str:
    """As every table shows it, in UTC."""
    return "" if at is None else f"{at:%Y-%m-%d %H:%M}"


def show_minute_of(shown: str | None) -> str:
    """The same of a moment that is written for programs."""
    return "" if shown is None else shown[:16].replace("T", " ")


def outcome_of(outcome: str) -> str:
    """What ``settle`` takes."""
    return outcome.replace("_", "-")


def what_became_of(approval: Approval) -> str:
    """Who decided what and when; else how it stands."""
    decided, at = approval.decided, approval.decided_at
    if decided is None or at is None:
        return approval.status
    what = _DONE[decided.action]
    outcome = f" ({outcome_of(decided.outcome)})" if decided.outcome else ""
    return f"{what}{outcome} by {who_said(decided)}, {show_minute(at)}"


def whom_it_waits_for(approval: Approval, state: RunState) -> str:
    """By their ids, for a table's cell; the operator always may."""
    approvers = approval.approvers
    requesters = [name_of(one) for one in state.requesters]
    if approval.kind == "question":
        named = list(dict.fromkeys([*requesters, *approvers.users, *approvers.all_groups]))
    else:
        named = [*users_who_may(approvers, requesters), *approvers.all_groups]
    if approvers.members:
        named.append("any full member")
    return _how_many(approvers) + one_line(", ".join(named)) if named else "the operator"


def _how_many(approvers: Approvers) -> str:
    if approvers.one_from_each:
        count = max(approvers.count, len(approvers.one_from_each))
    else:
        count = approvers.count
    return f"{count} of " if count > 1 else ""
