"""Carrying out one call: from its durable start to what can be said of its effect."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

from pydantic import JsonValue
from pydantic_core import PydanticSerializationError, to_json

from agent.errors import Interrupted, Rejected
from agent.rules.events import CallLeftUnknown, CallReturned, Receipt
from agent.rules.state import Call, RunState
from agent.tools.context import Committed, ToolContext
from agent.tools.declare import Tool
from agent.tools.running import run_function

log = logging.getLogger(__name__)

#: A result larger than this is cut, with a mark: it would fill every later model request.
OUTPUT_LIMIT = 100_000
ERROR_LIMIT = 2_000


def context_of(state: RunState, call: Call, attempt: int) -> ToolContext:
    return ToolContext(
        operation_id=call.operation_id,
        run_id=state.run_id,
        call_id=call.id,
        attempt=attempt,
        agent=state.agent,
        requester=state.requester,
    )


async def run_call(
    tool: Tool, call: Call, context: ToolContext
) -> CallReturned | CallLeftUnknown | None:
    """Run the tool once and say what became of it; None leaves the call open, as a crash would.

    Only the cancellation of the task itself comes through; whatever a tool raises is an outcome.
    """
    try:
        arguments = tool.bind(tool.check(call.args), context)
        async with asyncio.timeout(tool.timeout.total_seconds()) as deadline:
            output = await run_function(tool.function, **arguments)
    except Interrupted:
        return None
    except Rejected as error:
        return CallReturned(
            call_id=call.id,
            is_error=True,
            output=str(error)[:ERROR_LIMIT] or "The outside system refused; nothing happened.",
            receipt=Receipt(status="rejected"),
        )
    except Exception as error:
        is_late = isinstance(error, TimeoutError) and deadline.expired()
        what = (
            f"It did not answer within {tool.timeout.total_seconds():g} s"
            if is_late
            else _say(error)
        )
        return _without_receipt(tool, call, what)
    return returned(call, output)


def not_begun(call: Call) -> CallReturned:
    """Its start was recorded too late for it to be over by its deadline; it was not run."""
    return CallReturned(
        call_id=call.id,
        is_error=True,
        output="It could not be started in time; nothing happened. It may be tried again.",
        receipt=None if call.effect == "read" else Receipt(status="rejected"),
    )


def did_not_happen(call: Call) -> CallReturned:
    """It was looked up after the end of its run, and was not there."""
    return CallReturned(
        call_id=call.id,
        is_error=True,
        output="It did not happen.",
        receipt=Receipt(status="rejected"),
        is_found=True,
    )


def returned(call: Call, output: Any, *, is_found: bool = False) -> CallReturned:
    """The result of a call whose effect happened."""
    committed = output if isinstance(output, Committed) else Committed(output)
    receipt = Receipt(status="committed", external_id=committed.external_id)
    return CallReturned(
        call_id=call.id,
        output=as_json(committed.output),
        receipt=None if call.effect == "read" else receipt,
        is_found=is_found,
    )


def as_json(output: Any) -> JsonValue:
    """The output as JSON values; what is not JSON, or too large, is told in words."""
    try:
        text = to_json(output, inf_nan_mode="strings").decode()
    except (PydanticSerializationError, ValueError, RecursionError):
        described = repr(output)[:ERROR_LIMIT]
        return f"Done. The result can't be shown as JSON: {described}"
    if len(text) > OUTPUT_LIMIT:
        return f"{text[:OUTPUT_LIMIT]} … (shortened: {len(text):,} characters in all)"
    value: JsonValue = json.loads(text)
    return value


def _without_receipt(tool: Tool, call: Call, what: str) -> CallReturned | CallLeftUnknown | None:
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


def _say(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:ERROR_LIMIT]
