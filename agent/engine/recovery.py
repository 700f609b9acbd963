"""A call that was started by somebody who is gone: what became of its effect?"""

from __future__ import annotations

import logging

from agent.engine.calls import returned
from agent.engine.telling import tell
from agent.errors import Rejected
from agent.rules.calls import Call
from agent.rules.events import CallLeftUnknown, CallLookedUp, CallReturned
from agent.tools.agent_tool import AgentTool
from agent.tools.context import Committed
from agent.tools.running import run_bounded, run_function

log = logging.getLogger(__name__)

_NOT_HEARD = "The process that ran it ended before it heard back."
_NO_WORD = "The outside system could not say whether it happened."


async def look_up(tool: AgentTool, call: Call) -> CallReturned | CallLeftUnknown | CallLookedUp:
    """What is known of a ``once`` call's effect: it happened, nobody knows, or it did not.

    Never guesses: whatever is not a plain yes or no is unknown.
    """
    if tool.reconcile is None:
        return CallLeftUnknown(call_id=call.id, detail=call.detail or _NOT_HEARD)
    try:
        asking = run_function(tool.reconcile, call.operation_id)
        found = await run_bounded(asking, tool.timeout.total_seconds())
    except Rejected:
        return CallLookedUp(call_id=call.id)
    except Exception as error:
        log.warning("looking up %s failed: %s", call.operation_id, type(error).__name__)
        what = f"Looking it up failed: {tell(error)}"
        return CallLeftUnknown(call_id=call.id, detail=what, can_be_checked=True)
    match found:
        case Committed():
            return returned(call, found, is_found=True)
        case Rejected():
            return CallLookedUp(call_id=call.id)
        case _:
            return CallLeftUnknown(call_id=call.id, detail=_NO_WORD, can_be_checked=True)
