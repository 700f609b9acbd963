"""A line a call: what it is, how far it is, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping

from agent.rules.calls import Call
from agent.rules.counted import counted
from agent.rules.grants import grant_of
from agent.rules.ids import ApprovalId
from agent.rules.json_text import dump_text
from agent.rules.state import RunState
from agent.rules.waiting import waits_for_resume
from bot.slack.cards.call_titles import title_of_call
from bot.slack.cards.durations import duration
from bot.slack.cards.halted import is_kept
from bot.slack.cards.outcome import DID_NOT_HAPPEN, has_happened, is_not_known
from bot.slack.cards.telling_apart import what_tells_apart
from bot.slack.cards.text import one_line
from bot.slack.cards.votes import votes_in_words

_CALLS_LIMIT = 20
_WHY_LIMIT = 160
BELOW = "card below"


def call_rows(
    state: RunState, cards_at: Mapping[ApprovalId, str] | None = None, *, is_blocked: bool = False
) -> list[tuple[str, str]]:
    """The open calls and the newest of the others, in the order in which they were proposed. ``cards_at``:
    where those cards are that are not below; ``is_blocked``: nobody takes the run on."""
    calls = list(state.calls.values())
    newest = sorted(enumerate(calls), key=lambda one: (one[1].status == "ended", -one[0]))
    chosen = [calls[place] for place in sorted(place for place, _ in newest[:_CALLS_LIMIT])]
    values = what_tells_apart(chosen)
    rows = []
    for call in chosen:
        mark, words = _call_state(call, state, cards_at or {}, is_blocked=is_blocked)
        beforehand = "allowed beforehand" if grant_of(call) else ""
        title = one_line(title_of_call(call, state), 100)
        parts = (title, values.get(call.id, ""), words, beforehand)
        rows.append(("", f"{mark} {' · '.join(part for part in parts if part)}"))
    earlier = len(calls) - len(rows)
    return ([("", f"… {counted(earlier, 'more call')}")] if earlier else []) + rows


def _call_state(
    call: Call, state: RunState, cards_at: Mapping[ApprovalId, str], *, is_blocked: bool
) -> tuple[str, str]:
    is_over = state.stop is not None or state.is_ended
    if is_over and call.status in ("proposed", "ready", "asking", "waiting"):
        return ("❓", "it may have happened") if is_not_known(call) else ("⏹", "not done")
    if waits_for_resume(state, call):
        is_approved = call.status == "ready" and call.approved_id is not None
        return "⏸", "approved · waits for Resume" if is_approved else "waits for Resume"
    if call.status == "ready" and is_kept(call.id, state):
        return "⏸", "approved · waits, see below" if call.approved_id else "waits, see below"
    if is_blocked and call.status in ("proposed", "ready", "asking"):
        return "…", "waits: its run can't go on"
    match call.status:
        case "asking" if call.again_because:
            return "…", f"is to be asked again: {one_line(call.again_because, _WHY_LIMIT)}"
        case "proposed" | "asking":
            return "…", "is being checked"
        case "ready":
            return "…", "about to start"
        case "waiting" if _is_silent(call, state):
            return "⏳", "nobody decided in time · card below"
        case "waiting":
            return "⏸", f"{_who_is_waited_for(call, state)}{_card_at(call, cards_at)}"
        case "started" if state.is_ended:
            return _left(call)
        case "started" if call.progress:
            return "▶︎", f"running · {one_line(call.progress, _WHY_LIMIT)}"
        case "started":
            return "▶︎", "running"
        case "unknown":
            return "❓", f"nobody knows whether it happened{_card_at(call, cards_at)}"
        case "ended":
            return _call_end(call)


def _card_at(call: Call, cards_at: Mapping[ApprovalId, str]) -> str:
    """Nothing as long as it may yet stand elsewhere."""
    where = cards_at.get(call.approval_id, BELOW) if call.approval_id else BELOW
    return f" · {where}" if where else ""


def _left(call: Call) -> tuple[str, str]:
    """It was begun, and the run ended before it did."""
    if call.effect == "read":
        return "⏹", "did not come to an end"
    return "❓", "nobody knows whether it happened"


def _is_silent(call: Call, state: RunState) -> bool:
    approval = state.approvals.get(call.approval_id) if call.approval_id else None
    return approval is not None and approval.status == "expired"


def _who_is_waited_for(call: Call, state: RunState) -> str:
    if call.is_question:
        return "waiting for an answer"
    approval = state.approvals.get(call.approval_id) if call.approval_id else None
    if approval is None or not approval.votes:
        return "waiting for a decision"
    return f"waiting for a decision, {votes_in_words(approval, state)}"


def _call_end(call: Call) -> tuple[str, str]:
    match call.result.outcome if call.result else None:
        case "ok" if call.started_at and call.ended_at:
            return "✓", duration(call.ended_at - call.started_at)
        case "ok" | "happened":
            return "✓", ""
        case _ if has_happened(call):
            return "✓", "done: its answer came late"
        case "answered":
            return "✓", "answered"
        case "error" if call.receipt is not None and call.receipt.status == "unknown":
            return "❓", "no answer: it is not known whether it happened"
        case "error":
            return "✗", _how_it_failed(call)
        case "dry_run":
            return "🧪", "dry run: not carried out"
        case "refused":
            return "✗", f"not done: {_said(call)}"
        case "denied":
            return "⛔", "denied"
        case "guided":
            return "🛞", "steered: not done"
        case "cancelled":
            return "⏹", "cut off by the stop"
        case "expired":
            return "⏳", "nobody decided in time: not done"
        case _:
            return "❓", "nobody could tell whether it happened"


def _how_it_failed(call: Call) -> str:
    said = _said(call)
    if call.receipt is None or call.receipt.status != "rejected":
        return f"failed: {said}" if said else "failed"
    if said == DID_NOT_HAPPEN:
        return "failed: it did not happen"
    return f"failed, nothing was done: {said}" if said else "failed, nothing was done"


def _said(call: Call) -> str:
    """Why, in the words of whoever ended it."""
    output = call.result.output if call.result else ""
    return one_line(output if isinstance(output, str) else dump_text(output), _WHY_LIMIT)
