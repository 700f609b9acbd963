"""What is left of the calls of a run that is given up: an effect may have happened, and stays open."""

from __future__ import annotations

from collections.abc import Iterator

from agent.engine.gate import review
from agent.ports import Ids
from agent.rules.events import CallLeftUnknown, Event
from agent.rules.state import RunState
from agent.tools.registry import Toolbox

_DETAIL = "The run was given up before it was heard what became of this."


def leave_unknown(state: RunState, toolbox: Toolbox, ids: Ids) -> Iterator[Event]:
    """A word for each call that was started, not heard of, and can't be begun again: people can settle
    it afterwards."""
    for call in state.open_calls:
        # What may be begun again is left as it is: it goes on if the run does.
        if call.status == "started" and call.effect == "once":
            tool = toolbox.get(call.tool)
            can_be_checked = tool is not None and tool.reconcile is not None
            yield CallLeftUnknown(call_id=call.id, detail=_DETAIL, can_be_checked=can_be_checked)
            yield review(call, _DETAIL, ids)
