"""One run in words, for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from agent.rules.calls import Call
from agent.rules.control import RecordedControl, dump_control
from agent.rules.events import CallRefused
from agent.rules.explaining import limit_said
from agent.rules.grants import grant_of
from agent.rules.ids import CallId
from agent.rules.json_text import dump_text, load_text
from agent.rules.receipts import KnownEffect
from agent.rules.recorded import Recorded, dump_event
from agent.rules.secrets import hide_secrets
from agent.rules.shapes import call_status
from agent.rules.state import Approval, LastingWord, RunState
from agent.rules.taint import taints_in_words
from agent.rules.undecided import is_to_be_asked_again
from agent.rules.usage import is_all_counted
from agent.rules.values import show_args
from agent.rules.waiting import waits_for_resume
from bot.cli.asking import how_to_decide
from bot.cli.halted import halt_in_words
from bot.cli.names import show_minute, what_became_of, whom_it_waits_for
from bot.cli.plain import lines, one_line, reason_in_short
from bot.cli.voice import PLAIN


def portrait(
    state: RunState,
    shape: Mapping[str, Any],
    origins: Mapping[CallId, str],
    refusals: Mapping[CallId, CallRefused],
) -> Iterator[str]:
    """The lines of ``show``; ``shape`` is the run as other programs see it, ``origins`` where results
    came from that are not simply a call's, ``refusals`` why calls were."""
    yield _row("run", state.run_id)
    dry = ", dry run: nothing is carried out" if state.is_dry_run else ""
    yield _row("agent", f"{state.agent}{dry}")
    yield _row("status", _status(state, shape))
    yield _row("asked", lines(state.prompt))
    yield _row("by", f"{state.requester} at {state.started_at:%Y-%m-%d %H:%M:%S} UTC")
    yield _row("session", state.session)
    for call in state.calls.values():
        yield _row("call", _call(call, state, origins.get(call.id)))
        if call.result is None and call.verdict is not None and call.verdict.limit is not None:
            yield _row("", f"limit: {limit_said(call.verdict.limit, state.requester, PLAIN)}")
        if (refused := refusals.get(call.id)) is not None:
            yield _row("", _why_refused(refused))
    for approval in state.approvals.values():
        if approval.decided is not None:
            yield _row(
                "decided", f"{_asked(approval)}: {what_became_of(approval)}{_words(approval)}"
            )
    for approval in state.open_approvals:
        yield _row("waits for", _asked(approval))
        yield _row("", f"{whom_it_waits_for(approval, state)} may decide it, {_until(approval)}")
        yield _row("", one_line(how_to_decide(approval, state)))
    for approval in state.approvals.values():
        if is_to_be_asked_again(state, approval):
            yield _row("undecided", f"{_asked(approval)}; nobody decided in time")
    yield from _interruptions(state)
    if state.said:
        heard = len(state.said) - len(state.unseen)
        next_one = (
            "; the next run of its session is told" if state.is_ended and state.unseen else ""
        )
        yield _row("messages", f"{heard} of {len(state.said)} heard{next_one}")
    yield from _came_with(state)
    yield _row("used", _usage(state, shape))
    if state.answer is not None:
        yield _row("answer", lines(state.answer))
    if state.error is not None:
        yield _row("error", lines(state.error))


def _came_with(state: RunState) -> Iterator[str]:
    """What it goes on with, and whose words it has been told that nobody vouches for."""
    if state.taken_from is not None:
        by = f", as {', '.join(state.forked_by)} wanted" if state.forked_by else ""
        yield _row("goes on", "from {} at {}".format(*state.taken_from) + by)
    if state.past is not None:
        yield _row("goes on", f"with the conversation of {state.past.of_run}")
    if state.taints:
        yield _row("tainted by", one_line(taints_in_words(state.taints)))


def _asked(approval: Approval) -> str:
    asked = approval.requested
    what = asked.tool or asked.title
    return f"{approval.id}: {one_line(what)} ({one_line(asked.reason)})"


def _until(approval: Approval) -> str:
    until = approval.requested.expires_at
    return "for as long as it takes" if until is None else f"until {show_minute(until)} UTC"


def _words(approval: Approval) -> str:
    """What was said with the decision."""
    said = approval.decided
    words = said and (said.reason or said.note or said.guidance or said.text)
    return f": {reason_in_short(words)}" if words else ""


def _why_refused(refused: CallRefused) -> str:
    rule = f"; its rule: {one_line(refused.verdict.rule)}" if refused.verdict else ""
    return f"{reason_in_short(refused.message)}{rule}"


def word_of(word: LastingWord) -> str:
    """Who said it, when and why."""
    reason = f": {reason_in_short(word.reason)}" if word.reason else ""
    return f"by {one_line(word.by)} at {word.at:%Y-%m-%d %H:%M:%S} UTC{reason}"


def event_line(recorded: Recorded) -> str:
    """The line of ``journal`` for one event."""
    return _line(recorded.seq, recorded.at, dump_event(recorded.event))


def control_line(recorded: RecordedControl) -> str:
    """The same of one that belongs to no run."""
    return _line(recorded.seq, recorded.at, dump_control(recorded.event))


def _interruptions(state: RunState) -> Iterator[str]:
    if state.held is not None:
        yield _row("held", word_of(state.held))
    for halt in state.halts:
        yield _row("halted", halt_in_words(halt))
    if state.stop is not None:
        yield _row("stopped", word_of(state.stop))


def _line(seq: int, at: datetime, fields: dict[str, Any]) -> str:
    kind = fields.pop("kind")
    fields.pop("version")
    return f"{seq:>4}  {at:%Y-%m-%d %H:%M:%S}  {kind:<18}  {one_line(dump_text(fields))}"


def _row(name: str, value: str) -> str:
    return f"{name:<10} {value}"


def _status(state: RunState, shape: Mapping[str, Any]) -> str:
    status = str(shape["status"])
    if blocked := shape["blocked"]:
        return f"{status}: {one_line(blocked['message'])} {one_line(blocked['fix'])}"
    if status == "waiting":
        seconds = round(shape["waited_seconds"])
        return f"waiting for {shape['waiting_for']}, waited {seconds} s in all"
    if state.ended_at is not None:
        return f"{status} at {state.ended_at:%Y-%m-%d %H:%M:%S} UTC"
    return status


def _receipt_in_words(known: KnownEffect) -> str:
    if known.dry_run:
        return _NOT_CARRIED_OUT
    is_failure = known.status == "committed" and known.call_status == "error"
    return _FAILED if is_failure else _KNOWN[known.status]


def effect_lines(known: KnownEffect) -> Iterator[str]:
    """The lines of ``receipt``."""
    yield _row("operation", known.operation_id)
    yield _row("run", known.run_id)
    yield _row("call", f"{known.call_id}: {one_line(known.tool)}, {known.call_status}")
    yield _row("attempts", str(known.attempts))
    yield _row("receipt", _receipt_in_words(known))
    if known.external_id is not None:
        yield _row("outside", one_line(known.external_id))


#: Or the answer that it happened came when it had been given up: either way its own answer is all that is known.
_FAILED = "committed: it was carried out; see the call's own answer for what came of it"
_KNOWN = {
    "committed": "committed: it happened",
    "rejected": "rejected: the outside system refused, and nothing happened",
    "unknown": "unknown: it was begun, and nobody has heard whether it happened",
    "none": "none: nothing has been begun that leaves a receipt",
}


_NOT_CARRIED_OUT = "rejected: a dry run; it was not carried out, and nothing happened"


def _call(call: Call, state: RunState, origin: str | None) -> str:
    shown = show_args(call.args, call.parameters) if call.args else {}
    args = ", ".join(f"{name} {one_line(value)}" for name, value in shown.items())
    if not shown and call.result is not None and call.result.outcome == "refused":
        args = one_line(_as_proposed(call))
    status = _call_words(call, state)
    if call.status == "started" and call.progress:
        status += f": {one_line(call.progress)}"
    outcome = f"{status}, {origin}" if origin else status
    if (grant := grant_of(call)) is not None:
        outcome += f", under {one_line(grant)}"
    receipt = f", receipt {call.receipt.status}" if call.receipt else ""
    receipt += " (dry run)" if call.receipt and call.receipt.dry_run else ""
    if call.receipt and call.receipt.external_id:
        receipt += f" {one_line(call.receipt.external_id)}"
    return f"{one_line(call.tool)}: {outcome}{receipt}" + (f" ({args})" if args else "")


def _as_proposed(call: Call) -> str:
    """What is known of a call that was refused; not always is it JSON."""
    try:
        args = load_text(call.proposed.arguments)
    except ValueError:
        return call.proposed.arguments
    is_object = isinstance(args, dict)
    return dump_text(hide_secrets(args, call.parameters)) if is_object else call.proposed.arguments


def _call_words(call: Call, state: RunState) -> str:
    """Nothing begins while the run is held, whatever was said to it."""
    if call.result is not None or not waits_for_resume(state, call):
        return call_status(call, state)
    is_approved = call.status == "ready" and call.approved_id is not None
    return f"{'approved' if is_approved else call.status}, waits for resume"


def _usage(state: RunState, shape: Mapping[str, Any]) -> str:
    usage = shape["usage"]
    tokens = usage["input_tokens"] + usage["output_tokens"]
    calls = f"{usage['model_calls']} model call{'s' if usage['model_calls'] != 1 else ''}"
    cost = "cost not known" if usage["cost_usd"] is None else f"${usage['cost_usd']:.2f}"
    counted = f"{calls}, {tokens} tokens, {cost}"
    return counted if is_all_counted(state) else f"{counted}; {_NOT_COUNTED}"


_NOT_COUNTED = "what a model request without a reply used is not known"
