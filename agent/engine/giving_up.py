"""The last words of a run that is given up. What is left of its calls stays open: an effect may have happened."""

from __future__ import annotations

from collections.abc import Iterator

from agent.engine.gate import Gate, review
from agent.ports import Ids
from agent.rules.events import CallLeftUnknown, Event, RunFailed
from agent.rules.interventions import RunCancelled
from agent.rules.state import RunState
from agent.tools.registry import Toolbox

_GIVEN_UP = "The run was given up before it was heard what became of this."
_STOPPED = "The run was stopped before it was heard what became of this."


def last_words(state: RunState, gate: Gate, error: str) -> Iterator[Event]:
    """It ends, because of ``error``; of what was begun nobody will hear here."""
    # Whoever wanted it to end wants no failure that could be tried again.
    is_stopped = state.stop is not None
    yield from leave_unknown(state, gate.agent.toolbox, gate.ids, for_good=is_stopped)
    yield RunCancelled() if is_stopped else RunFailed(error=error)


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
