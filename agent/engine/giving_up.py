"""What is left of the calls of a run that is given up: an effect may have happened, and stays open."""

from __future__ import annotations

from collections.abc import Iterator

from agent.engine.gate import review
from agent.ports import Ids
from agent.rules.events import CallLeftUnknown, Event
from agent.rules.state import RunState
from agent.tools.registry import Toolbox

_GIVEN_UP = "The run was given up before it was heard what became of this."
_STOPPED = "The run was stopped before it was heard what became of this."


def leave_unknown(
    state: RunState, toolbox: Toolbox, ids: Ids, *, for_good: bool = False
) -> Iterator[Event]:
    """A word for each call that was started, not heard of, and can't be begun again: people can settle
    it afterwards. What may be begun again is left as it is, as it goes on if the run does; but not where
    the run ends ``for_good``."""
    detail = _STOPPED if state.stop is not None else _GIVEN_UP
    for call in state.open_calls:
        is_left = call.status == "started" and call.effect == "once"
        if is_left or (for_good and call.is_lost):
            tool = toolbox.get(call.tool)
            # Only what is ``once`` is looked up; a check of anything else would begin it again.
            is_once = call.effect == "once"
            can_be_checked = is_once and tool is not None and tool.reconcile is not None
            yield CallLeftUnknown(call_id=call.id, detail=detail, can_be_checked=can_be_checked)
            yield review(call, detail, ids)
