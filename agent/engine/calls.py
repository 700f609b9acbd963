"""Carrying out one call: from its durable start to what can be said of its effect."""

from __future__ import annotations

import json
import logging
from typing import Any

from pydantic import JsonValue
from pydantic_core import to_json

from agent.engine.telling import describe, tell, words_of
from agent.errors import Interrupted, Rejected
from agent.rules.calls import Call
from agent.rules.events import CallLeftUnknown, CallReturned
from agent.rules.json_text import dump_text, whole_text
from agent.rules.judgement import InvalidCall
from agent.rules.known_secrets import secrets_of
from agent.rules.parts import Receipt
from agent.rules.state import RunState
from agent.tools.agent_tool import AgentTool
from agent.tools.context import Committed, ToolContext
from agent.tools.running import TookTooLong, run_bounded, run_function

log = logging.getLogger(__name__)

#: A result larger than this is cut, with a mark: it would fill every later model request.
OUTPUT_LIMIT = 100_000


def context_of(state: RunState, call: Call, attempt: int) -> ToolContext:
    return ToolContext(
        operation_id=call.operation_id,
        run_id=state.run_id,
        call_id=call.id,
        attempt=attempt,
        agent=state.agent,
        requester=state.requester,
        is_approved=call.approved_id is not None or _was_allowed_beforehand(call),
    )


def _was_allowed_beforehand(call: Call) -> bool:
    return call.verdict is not None and call.verdict.grant is not None


async def run_call(
    tool: AgentTool, call: Call, context: ToolContext
) -> CallReturned | CallLeftUnknown | None:
    """Run the tool once and say what became of it; None leaves the call open, as a crash would.

    Only the cancellation of the task itself comes through; whatever a tool raises is an outcome. In its words no
    secret of the call's own is told on.
    """
    secrets = secrets_of(call.args, tool.parameters)
    try:
        arguments = tool.bind(tool.check(call.args), context)
    except InvalidCall as error:
        return _not_run(call, f"It was not run: its arguments do not fit any more. {error}")
    try:
        work = run_function(tool.function, **arguments)
        output = await run_bounded(work, tool.timeout.total_seconds())
    except Interrupted:
        return None
    except Rejected as error:
        return CallReturned(
            call_id=call.id,
            is_error=True,
            output=secrets.hide(words_of(error)) or "The outside system refused; nothing happened.",
            receipt=Receipt(status="rejected"),
        )
    except TookTooLong:
        context.cancelled.set("its time is over")
        what = f"It did not answer within {tool.timeout.total_seconds():g} s"
        return _without_receipt(tool, call, what)
    except Exception as error:
        return _without_receipt(tool, call, secrets.hide(tell(error)))
    return returned(call, output)


def not_begun(call: Call) -> CallReturned:
    """Its start was recorded too late for it to be over by its deadline; it was not run."""
    return _not_run(
        call, "It could not be started in time; nothing happened. It may be tried again."
    )


def _not_run(call: Call, why: str) -> CallReturned:
    return CallReturned(
        call_id=call.id,
        is_error=True,
        output=why,
        receipt=None if call.effect == "read" else Receipt(status="rejected"),
        untrusted=False,
    )


def did_not_happen(call: Call) -> CallReturned:
    """It was looked up when nothing of its run begins any more, and was not there."""
    return CallReturned(
        call_id=call.id,
        is_error=True,
        output="It did not happen.",
        receipt=Receipt(status="rejected"),
        is_found=True,
        untrusted=False,
    )


def returned(call: Call, output: Any, *, is_found: bool = False) -> CallReturned:
    """The result of a call that was carried out."""
    committed = output if isinstance(output, Committed) else Committed(output)
    named = committed.external_id
    # Whatever a tool gives for an id: that it happened is known, and not lost over that.
    external_id = named if named is None or isinstance(named, str) else describe(named)
    receipt = Receipt(status="committed", external_id=external_id and whole_text(external_id))
    return CallReturned(
        call_id=call.id,
        is_error=committed.is_error,
        output=as_json(committed.output),
        receipt=None if call.effect == "read" else receipt,
        is_found=is_found,
    )


def as_json(output: Any) -> JsonValue:
    """The output as JSON values; what is not JSON, or too large, is told in words."""
    try:
        text = to_json(output, inf_nan_mode="strings").decode()
        if len(text) > OUTPUT_LIMIT:
            return f"{text[:OUTPUT_LIMIT]} … (shortened: {len(text):,} characters in all)"
        value: JsonValue = json.loads(text)
        # What comes out of the journal again must be what went in.
        dump_text(value)
    except Exception:
        # Its effect happened, and that is the news; foreign values may raise anything here.
        return f"Done. The result can't be shown as JSON: {describe(output)}"
    return value


def _without_receipt(
    tool: AgentTool, call: Call, what: str
) -> CallReturned | CallLeftUnknown | None:
    """A ``read`` or ``idempotent`` call failed; of a ``once`` call nobody knows.

    Where the effect can be looked up, the call is left open until its deadline: before that it may
    still be on its way, and "not found" would prove nothing.
    """
    if call.effect == "once":
        log.warning("%s of %s ended without a receipt: %s", call.id, tool.name, what)
        return None if tool.reconcile else CallLeftUnknown(call_id=call.id, detail=what)
    if call.effect == "read":
        return CallReturned(call_id=call.id, is_error=True, output=f"It failed: {what}")
    return CallReturned(
        call_id=call.id,
        is_error=True,
        output=f"It is not known whether it happened: {what}",
        receipt=Receipt(status="unknown"),
    )
