"""What a run's time line says of its calls: what came of each, and who or what let it happen."""

from __future__ import annotations

from datetime import datetime
from typing import assert_never

from agent.rules.calls import Call
from agent.rules.events import (
    CallJudged,
    CallLeftUnknown,
    CallLookedUp,
    CallPreviewed,
    CallRefused,
    CallReturned,
    CallStarted,
)
from agent.rules.grants import grant_of
from agent.rules.json_text import dump_text
from agent.rules.state import RunState
from bot.slack.cards.arguments import describe_arguments, summarize
from bot.slack.cards.call_titles import title_of_call
from bot.slack.cards.durations import duration
from bot.slack.cards.mentions import time_of_day
from bot.slack.cards.outcome import DID_NOT_HAPPEN
from bot.slack.cards.text import quoted

_SAID_LIMIT = 200
_VALUES_LIMIT = 120


CallEvent = (
    CallJudged
    | CallPreviewed
    | CallRefused
    | CallStarted
    | CallLookedUp
    | CallReturned
    | CallLeftUnknown
)


def words_of_call(event: CallEvent, at: datetime, state: RunState) -> str | None:
    """What happened to the call, ``at`` that time; None where its end says it."""
    match event:
        case CallJudged() | CallPreviewed():
            return None
        case CallRefused():
            return _refused(event, state)
        case CallStarted():
            return _started(event, at, state)
        case CallLookedUp(call_id=call_id):
            return f"{_title(state.call(call_id), state)} was looked up: it had not happened"
        case CallReturned():
            return _returned(event, at, state)
        case CallLeftUnknown():
            return _left_unknown(event, state)
        case _:
            assert_never(event)


def _refused(event: CallRefused, state: RunState) -> str:
    """No person was asked: why it was not done. What a newer message stopped was refused by nobody."""
    how = "not begun" if event.code == "newer_message" else "refused, not done"
    return f"⛔ {_named(state.call(event.call_id), state)}: {how}: {quoted(event.message, _SAID_LIMIT)}"


def _started(event: CallStarted, at: datetime, state: RunState) -> str | None:
    """Of what ended by itself, nothing: its end says all. What runs still, or was begun once more, is told."""
    call = state.call(event.call_id)
    if call.status == "started" and call.started_at == at:
        if state.is_ended:
            return f"▶︎ {_named(call, state)} was begun{_who_let_it(call)}"
        return f"▶︎ {_named(call, state)}: running, until {time_of_day(event.deadline)} at most{_who_let_it(call)}"
    return (
        f"↻ {_title(call, state)} was begun again, for the same effect"
        if event.attempt > 1
        else None
    )


def _returned(event: CallReturned, at: datetime, state: RunState) -> str:
    """How it ended, and how long that took."""
    call = state.call(event.call_id)
    if event.is_error:
        return f"{_how_it_failed(event, call, state)}{_who_let_it(call)}"
    took = f" · {duration(at - call.started_at)}" if call.started_at and call.ended_at == at else ""
    found = " · found by looking it up" if event.is_found else ""
    external_id = event.receipt.external_id if event.receipt else None
    receipt = f" · {quoted(external_id, 80)}" if external_id else ""
    return f"✓ {_named(call, state)}{took}{receipt}{found}{_who_let_it(call)}"


def _left_unknown(event: CallLeftUnknown, state: RunState) -> str:
    """It was begun, and no more is known of it."""
    call = state.call(event.call_id)
    detail = f": {quoted(event.detail, _SAID_LIMIT)}" if event.detail.strip() else ""
    return f"❓ {_named(call, state)}: nobody knows whether it happened{detail}{_who_let_it(call)}"


def _how_it_failed(event: CallReturned, call: Call, state: RunState) -> str:
    output = event.output if isinstance(event.output, str) else dump_text(event.output)
    said = f": {quoted(output, _SAID_LIMIT)}" if output.strip() else ""
    match event.receipt.status if event.receipt else None:
        case "committed" if call.result is None or not call.result.is_answer:
            return f"✓ {_named(call, state)}: done, and its answer came late"
        case "unknown":
            return f"❓ {_named(call, state)}: no answer, it may have happened{said}"
        case "rejected" if output == DID_NOT_HAPPEN:
            return f"✗ {_named(call, state)}: it did not happen"
        case "rejected":
            return f"✗ {_named(call, state)}: failed, nothing was done{said}"
        case _:
            return f"✗ {_named(call, state)}: failed{said}"


def _title(call: Call, state: RunState) -> str:
    return f"*{quoted(title_of_call(call, state), 80)}*"


def _named(call: Call, state: RunState) -> str:
    """Which of several alike it is, its values say."""
    values = summarize(describe_arguments(call.args, call.parameters)) if call.args else ""
    return (
        f"{_title(call, state)} ({quoted(values, _VALUES_LIMIT)})"
        if values
        else _title(call, state)
    )


def _who_let_it(call: Call) -> str:
    """Of what no person was asked about: the rule, or the consent that was given beforehand. What only looks
    something up nobody asks that of."""
    if call.effect == "read" or call.verdict is None or call.approved_id is not None:
        return ""
    if grant := grant_of(call):
        return f" · allowed beforehand: {quoted(grant, 90)}"
    rule = call.verdict.rule if call.verdict.action == "allow" else ""
    return f" · allowed by: {quoted(rule, _VALUES_LIMIT)}" if rule.strip() else ""
