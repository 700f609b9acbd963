"""A line a call: what it is, how far it is, and how it ended."""

from __future__ import annotations

from agent.rules.grants import grant_of
from agent.rules.state import Call, RunState
from agent.rules.waiting import waits_for_resume
from bot.slack.cards.durations import duration
from bot.slack.cards.outcome import has_happened, is_not_known
from bot.slack.cards.text import one_line
from bot.slack.cards.votes import votes_in_words

_CALLS_LIMIT = 20
_WHY_LIMIT = 160


def call_rows(state: RunState) -> list[tuple[str, str]]:
    """The open calls and the newest of the others, in the order in which they were proposed."""
    calls = list(state.calls.values())
    newest = sorted(calls, key=lambda call: (call.status == "ended", -calls.index(call)))
    chosen = {call.id for call in newest[:_CALLS_LIMIT]}
    rows = [("", _call_row(call, state)) for call in calls if call.id in chosen]
    earlier = len(calls) - len(rows)
    return ([("", f"… {earlier} more calls")] if earlier else []) + rows


def _call_row(call: Call, state: RunState) -> str:
    mark, words = _call_state(call, state)
    if grant_of(call):
        words = " · ".join((*([words] if words else []), "allowed beforehand"))
    title = (
        call.title or call.tool.replace("_", " ").strip().capitalize() or "A tool without a name"
    )
    return f"{mark} {one_line(title, 100)}" + (f" · {words}" if words else "")


def _call_state(call: Call, state: RunState) -> tuple[str, str]:
    if state.stop is not None and call.status in ("proposed", "ready", "asking", "waiting"):
        return ("❓", "it may have happened") if is_not_known(call) else ("⏹", "not done")
    if waits_for_resume(state, call):
        is_approved = call.status == "ready" and call.approved_id is not None
        return "⏸", "approved · waits for Resume" if is_approved else "waits for Resume"
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
            return "⏸", f"{_who_is_waited_for(call, state)} · card below"
        case "started":
            return "▶︎", "running"
        case "unknown":
            return "❓", "nobody knows whether it happened · card below"
        case "ended":
            return _call_end(call)


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
            return "✗", "failed"
        case "refused":
            why = call.result.output if call.result else ""
            return "✗", f"not done: {one_line(str(why), _WHY_LIMIT)}"
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
