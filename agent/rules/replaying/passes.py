"""What an engine writes at once: the events of one step, each in its turn and none of them twice.

What was in flight when it was planned is not written down, so that several steps may fit; each is a pass that
goes on for as long as the events do, and what none of them goes on to is out of place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from agent.rules.budgets import Budget
from agent.rules.events import ApprovalDecided, ApprovalRequested, ApprovalVoted, CallJudged, Event
from agent.rules.ids import CallId
from agent.rules.replaying.obeying import fits
from agent.rules.state import RunState
from agent.rules.steps import DropCalls, JudgeCalls, RequestApprovals, Step, next_step

#: Of these every call gets its event, in one commit.
_WHOLE = (JudgeCalls, DropCalls)


@dataclass(frozen=True, slots=True)
class Pass:
    """A step that is being obeyed since ``state``: the turns of its calls up to ``turn`` are over."""

    state: RunState
    at: datetime
    step: Step
    turn: int

    @property
    def is_over(self) -> bool:
        """Could it be left here?"""
        return not isinstance(self.step, _WHOLE) or self.turn == len(self.step.call_ids) - 1

    def after(self, event: Event, at: datetime) -> Pass | None:
        """With one more event of it; None: it is not of this pass."""
        turn = _turn(self.step, event)
        is_next = turn > self.turn and (turn == self.turn + 1 or not isinstance(self.step, _WHOLE))
        if at != self.at or not is_next or not fits(self.step, event, self.state):
            return None
        return replace(self, turn=turn)


def begun(state: RunState, event: Event, at: datetime, budget: Budget | None) -> Iterator[Pass]:
    """The passes that ``event`` may be the first of."""
    for in_flight in flights(state, event):
        step = next_step(state, at, in_flight, budget)
        turn = _turn(step, event)
        is_first = turn == 0 or not isinstance(step, _WHOLE)
        if is_first and fits(step, event, state):
            yield Pass(state, at, step, turn)


def is_answer_within(one: Pass, event: Event, at: datetime) -> bool:
    """Is it what was said at once of what this pass has just asked?"""
    is_word = isinstance(event, ApprovalDecided | ApprovalVoted | CallJudged | ApprovalRequested)
    return is_word and at == one.at and isinstance(one.step, RequestApprovals)


def flights(state: RunState, event: Event) -> Iterator[frozenset[CallId]]:
    """What may have been in flight, but for what the event is about: nothing, after a restart; what had been
    started; that, and what was being previewed or put to the agent's decider."""
    started = {call.id for call in state.open_calls if call.status == "started"}
    busy = {
        call.id
        for call in state.open_calls
        if call.status == "asking" or (call.status == "ready" and call.can_preview)
    }
    own = {getattr(event, "call_id", None)}
    yield frozenset()
    yield frozenset(started - own)
    yield frozenset((started | busy) - own)


def _turn(step: Step, event: Event) -> int:
    """Which of the calls of the step it is about; what is about none of them is its only event."""
    call_ids: tuple[CallId, ...] = getattr(step, "call_ids", ())
    call_id = getattr(event, "call_id", None)
    return call_ids.index(call_id) if call_id in call_ids else 0
