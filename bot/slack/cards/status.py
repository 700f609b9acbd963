"""The thread's first message: what was asked, how far it is, what it waits for."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from agent.rules.shapes import waited
from agent.rules.state import Call, RunState
from bot.slack.cards.blocks import Block, context, lines, mrkdwn, plain_section
from bot.slack.cards.mentions import join_words, name_principal, when
from bot.slack.cards.message import Message
from bot.slack.cards.outcome import has_happened
from bot.slack.cards.text import escape, one_line, shorten, show
from bot.slack.cards.votes import votes_in_words

_PROMPT_LIMIT = 300
_CALLS_LIMIT = 20
_WHY_LIMIT = 160
_A_CENT = Decimal("0.01")


def status_message(state: RunState) -> Message:
    """The status as it is to stand now."""
    mark, words = _how_far(state)
    prompt = shorten(show(state.prompt[:40_000]).text, _PROMPT_LIMIT)
    who = name_principal(state.requester)
    rows = _call_rows(state)
    return Message(
        text=f"{mark} {escape(one_line(state.prompt, _PROMPT_LIMIT))} · for {who}"
        + (f" · {words}" if words else ""),
        blocks=(
            plain_section(f"{mark} {prompt}"),
            context(mrkdwn(f"for {who} · started {when(state.started_at)}")),
            *((lines(rows),) if rows else ()),
            *_foot(state, words),
        ),
    )


def _how_far(state: RunState) -> tuple[str, str]:
    match state.ending:
        case "finished":
            return ("⏹", "Ended: nothing was done") if _did_nothing(state) else ("✓", "Done")
        case "failed":
            return "✗", "Failed"
        case "cancelled":
            return "⏹", "Stopped"
        case None:
            if any(call.status == "started" for call in state.open_calls):
                return "▶︎", ""
            waits = what_it_waits_for(state)
            return ("⏸", waits) if waits else ("▶︎", "")


def what_it_waits_for(state: RunState) -> str:
    """What of people, in words; empty where it waits for nobody."""
    kinds = {approval.kind for approval in state.open_approvals}
    if not kinds:
        return ""
    return "waiting for an answer" if kinds == {"question"} else "waiting for a decision"


def _did_nothing(state: RunState) -> bool:
    """Was everything that would have had an effect refused or denied?"""
    wanted = [
        call.result.outcome
        for call in state.calls.values()
        if call.effect != "read" and not call.is_question and call.result
    ]
    return bool(wanted) and set(wanted) <= {"denied", "guided", "refused"}


def _foot(state: RunState, words: str) -> list[Block]:
    parts = []
    if state.ended_at is not None:
        parts.append(f"*{words}* · {when(state.ended_at)}")
        if (long := waited(state, state.ended_at)) >= timedelta(seconds=1):
            parts.append(f"waited {_duration(long)}{_for_whom(state)}")
    elif state.model_error is not None:
        parts.append("the model could not be asked; it is tried again")
    if state.reopened:
        parts.append("taken on again after it had failed")
    if state.cost_usd:
        parts.append(f"${state.cost_usd:.2f}" if state.cost_usd >= _A_CENT else "under $0.01")
    if state.model_calls:
        parts.append(f"{state.model_calls} model call{'s' if state.model_calls > 1 else ''}")
    return [context(mrkdwn(" · ".join(parts)))] if parts else []


def _for_whom(state: RunState) -> str:
    names = {
        name_principal(word.by): None
        for approval in state.approvals.values()
        for word in (*(vote.voted for vote in approval.votes), approval.decided)
        if word is not None
    }
    return f" for {join_words(list(names)[:5])}" if names else ""


def _call_rows(state: RunState) -> list[tuple[str, str]]:
    """The open calls and the newest of the others, in the order in which they were proposed."""
    calls = list(state.calls.values())
    newest = sorted(calls, key=lambda call: (call.status == "ended", -calls.index(call)))
    chosen = {call.id for call in newest[:_CALLS_LIMIT]}
    rows = [("", _call_row(call, state)) for call in calls if call.id in chosen]
    earlier = len(calls) - len(rows)
    return ([("", f"… {earlier} more calls")] if earlier else []) + rows


def _call_row(call: Call, state: RunState) -> str:
    mark, words = _call_state(call, state)
    title = (
        call.title or call.tool.replace("_", " ").strip().capitalize() or "A tool without a name"
    )
    return f"{mark} {one_line(title, 100)}" + (f" · {words}" if words else "")


def _call_state(call: Call, state: RunState) -> tuple[str, str]:
    match call.status:
        case "asking" if call.again_because:
            return "…", f"is to be asked again: {one_line(call.again_because, _WHY_LIMIT)}"
        case "proposed" | "asking":
            return "…", "is being checked"
        case "ready":
            return "…", "about to start"
        case "waiting":
            return "⏸", f"{_who_is_waited_for(call, state)} · card below"
        case "started":
            return "▶︎", "running"
        case "unknown":
            return "❓", "nobody knows whether it happened · card below"
        case "ended":
            return _call_end(call)


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
            return "✓", _duration(call.ended_at - call.started_at)
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
        case _:
            return "❓", "nobody could tell whether it happened"


def _duration(span: timedelta) -> str:
    seconds = max(span.total_seconds(), 0.0)
    if seconds < 0.1:
        return "under 0.1 s"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    hours = round(minutes / 60)
    return f"{hours} h" if hours < 48 else f"{round(hours / 24)} days"
