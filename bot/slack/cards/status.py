"""The thread's first message: what was asked, how far it is, what it waits for."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal

from agent.rules.grants import grant_of
from agent.rules.state import Approval, Call, RunState
from agent.rules.undecided import is_to_be_asked_again
from agent.rules.usage import is_all_counted
from agent.rules.waiting import paused, waited_for, waits_for_resume
from bot.slack.cards.blocks import (
    BUTTON_LIMIT,
    Block,
    actions,
    button,
    context,
    lines,
    mrkdwn,
    plain_section,
)
from bot.slack.cards.interrupted import paused_words, stopped_words
from bot.slack.cards.mentions import join_words, name_principal, when
from bot.slack.cards.message import Message
from bot.slack.cards.outcome import has_happened, is_not_known
from bot.slack.cards.remarks import remark
from bot.slack.cards.text import escape, one_line, shorten, show
from bot.slack.cards.votes import votes_in_words
from bot.slack.ids import RUN_HOLD, RUN_RESUME, RUN_STOP

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
            *_reason(state),
            *_buttons(state),
        ),
    )


def _how_far(state: RunState) -> tuple[str, str]:
    match state.ending:
        case "finished":
            return ("⏹", "Ended: nothing was done") if _did_nothing(state) else ("✓", "Done")
        case "failed":
            return "✗", "Failed"
        case "cancelled":
            return "⏹", stopped_words(state.stop) if state.stop else "Stopped"
        case None if state.stop is not None:
            words = stopped_words(state.stop)
            return "⏹", f"{words}; what had begun is waited for"
        case None if state.held is not None:
            return "⏸", paused_words(state.held)
        case None:
            if any(call.status == "started" for call in state.open_calls):
                return "▶︎", ""
            waits = what_it_waits_for(state)
            return ("⏸", waits) if waits else ("▶︎", "")


def how_far_in_words(state: RunState) -> str:
    """``Done``, ``Paused by @Bob``; empty while it is at work."""
    _, words = _how_far(state)
    return words


def what_it_waits_for(state: RunState) -> str:
    """What of people, in words; empty where it waits for nobody."""
    kinds = {approval.kind for approval in state.open_approvals}
    if not kinds:
        is_silent = any(is_to_be_asked_again(state, one) for one in state.approvals.values())
        return "nobody decided in time" if is_silent else ""
    return "waiting for an answer" if kinds == {"question"} else "waiting for a decision"


def _did_nothing(state: RunState) -> bool:
    """Was everything that would have had an effect refused or denied?"""
    wanted = [
        call.result.outcome
        for call in state.calls.values()
        if call.effect != "read" and not call.is_question and call.result
    ]
    return bool(wanted) and set(wanted) <= {"denied", "guided", "refused", "expired"}


def _foot(state: RunState, words: str) -> list[Block]:
    parts = []
    if state.ended_at is not None:
        parts.append(f"*{words}* · {when(state.ended_at)}")
        parts += _waits(state, state.ended_at)
    elif state.stop is not None or state.held is not None:
        parts.append(f"*{words}*")
    elif state.model_error is not None:
        parts.append("the model could not be asked; it is tried again")
    if state.reopened:
        parts.append("taken on again after it had failed")
    if state.cost_usd:
        parts.append(f"${state.cost_usd:.2f}" if state.cost_usd >= _A_CENT else "under $0.01")
    if state.model_calls:
        parts.append(f"{state.model_calls} model call{'s' if state.model_calls > 1 else ''}")
    if not is_all_counted(state):
        parts.append("what a model request without a reply used is not known")
    parts += _messages(state)
    return [context(mrkdwn(" · ".join(parts)))] if parts else []


def _messages(state: RunState) -> list[str]:
    """How many of the messages to it the agent has heard."""
    unheard = len(state.unseen)
    heard = len(state.said) - unheard
    told = f"{heard} message{'s' if heard > 1 else ''} heard"
    # Nothing hears them any more once it has ended.
    waits = _UNHEARD if state.is_ended else "to be heard next"
    return ([told] if heard else []) + ([f"{unheard} {waits}"] if unheard else [])


_UNHEARD = "not heard: the next run in this conversation is told"


def _reason(state: RunState) -> list[Block]:
    """Why it is paused, in the words of whoever paused it."""
    return remark("Reason", state.held.reason) if state.held and not state.stop else []


def _buttons(state: RunState) -> list[Block]:
    """None for what has ended, or is about to."""
    if state.is_ended or state.stop is not None:
        return []
    about = one_line(state.prompt, BUTTON_LIMIT)
    pause = button("Pause", RUN_HOLD, state.run_id, about=about)
    resume = button("Resume", RUN_RESUME, state.run_id, about=about)
    return [
        actions(
            resume if state.held else pause, button("Stop", RUN_STOP, state.run_id, about=about)
        )
    ]


def _waits(state: RunState, until: datetime) -> list[str]:
    """For whom it waited and how long, apart from what nobody decided and from the time in which it was
    paused: neither is the waiting of whoever decided the rest."""
    approvals = state.approvals.values()
    said = [one for one in approvals if one.votes or one.decided is not None]
    unsaid = [one for one in approvals if one not in said]
    waits = (
        ("waited", waited_for(state, said, until), _for_whom(said)),
        ("waited", waited_for(state, unsaid, until), " while nobody decided"),
        ("paused for", paused(state, until), ""),
    )
    return [
        f"{how} {_duration(long)}{whom}"
        for how, long, whom in waits
        if long >= timedelta(seconds=1)
    ]


def _for_whom(decided: Iterable[Approval]) -> str:
    names = {
        name_principal(word.by): None
        for approval in decided
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
        case "cancelled":
            return "⏹", "cut off by the stop"
        case "expired":
            return "⏳", "nobody decided in time: not done"
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
