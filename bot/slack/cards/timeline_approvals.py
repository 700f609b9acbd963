"""What a run's time line says of what people were asked, and of what they said."""

from __future__ import annotations

from typing import assert_never

from agent.rules.events import ApprovalDecided, ApprovalRequested, ApprovalVoted
from agent.rules.parts import SettleOutcome
from agent.rules.state import Approval, RunState
from bot.slack.cards.arguments import changed_arguments, describe_arguments, summarize
from bot.slack.cards.deciding import title_in_words
from bot.slack.cards.mentions import name_decider
from bot.slack.cards.question import question_of, whom_it_asks
from bot.slack.cards.text import quoted
from bot.slack.cards.votes import who_may_decide

_SAID_LIMIT = 200
_VALUES_LIMIT = 160


def words_of_approval(
    event: ApprovalRequested | ApprovalVoted | ApprovalDecided, state: RunState
) -> str:
    """What people were asked, or said of it."""
    match event:
        case ApprovalRequested():
            return _requested(event, state)
        case ApprovalVoted():
            return _voted(event, state)
        case ApprovalDecided():
            return _decided(event, state)
        case _:
            assert_never(event)


def _requested(event: ApprovalRequested, state: RunState) -> str:
    """What, and whom."""
    approval = state.approvals[event.approval_id]
    again = f" · again, because: {quoted(event.again_because, 120)}" if event.again_because else ""
    return f"⏸ {_asked(approval, state)}{again}"


def _voted(event: ApprovalVoted, state: RunState) -> str:
    """A yes that was not yet enough."""
    title = title_in_words(state.approvals[event.approval_id])
    return f"✅ {name_decider(event)} said yes to *{title}*; more are needed{_aside('Note', event.note)}"


def _decided(event: ApprovalDecided, state: RunState) -> str:
    """Who decided what."""
    approval, who = state.approvals[event.approval_id], name_decider(event)
    title = f"*{title_in_words(approval)}*"
    match event.action:
        case "approve" if approval.kind == "budget":
            return f"✅ {who} let it go on{_aside('Note', event.note)}"
        case "approve":
            grant = " · and others like it, for a while" if event.grant else ""
            return f"✅ {who} approved {title}{_aside('Note', event.note)}{grant}"
        case "deny" if approval.kind == "budget":
            return f"⛔ {who} did not let it go on{_aside('Reason', event.reason)}"
        case "deny":
            return f"⛔ {who} denied {title}{_aside('Reason', event.reason)}"
        case "steer":
            return f"🛞 {who} steered {title}{_what_changed(event, approval, state)}"
        case "answer":
            return f"💬 {who} answered: “{quoted(event.text or '', _SAID_LIMIT)}”"
        case "settle":
            said = _SETTLED[event.outcome] if event.outcome else "settled it"
            return f"{who} on {title}: {said}{_aside('Note', event.note)}"
        case _:
            assert_never(event.action)


_SETTLED: dict[SettleOutcome, str] = {
    "happened": "it happened",
    "not_happened": "it did not happen, and is to be run",
    "check": "it is to be looked up again",
    "give_up": "it is left open whether it happened",
}


def _asked(approval: Approval, state: RunState) -> str:
    asked, may_decide = approval.requested, who_may_decide(approval.requested.approvers, state)
    title = f"*{title_in_words(approval)}*"
    match approval.kind:
        case "call":
            call = state.call(asked.of_call)
            values = summarize(describe_arguments(asked.args, call.parameters))
            which = f" ({quoted(values, _VALUES_LIMIT)})" if values else ""
            return (
                f"May it? {title}{which} · {quoted(asked.reason, 120)} · may decide: {may_decide}"
            )
        case "question":
            whom = whom_it_asks(asked.approvers, state)
            return f"The agent asks {whom}: “{quoted(question_of(approval), _SAID_LIMIT)}”"
        case "review":
            return f"Did it happen? {title} · may decide: {may_decide}"
        case "budget":
            return f"Go on? {quoted(asked.reason, _SAID_LIMIT)} · may decide: {may_decide}"
        case _:
            assert_never(approval.kind)


def _what_changed(event: ApprovalDecided, approval: Approval, state: RunState) -> str:
    if event.args is None:
        return f", and it was not done{_aside('Guidance', event.guidance)}"
    call = state.call(approval.requested.of_call)
    rows = changed_arguments(approval.requested.args, event.args, call.parameters)
    return f": {quoted(', '.join(f'{name}: {change}' for name, change in rows), _SAID_LIMIT)}"


def _aside(label: str, text: str | None) -> str:
    return f" · {label}: “{quoted(text, _SAID_LIMIT)}”" if text and text.strip() else ""
