"""Going over a journal once more: would this build have taken the same steps?

Each event that an engine wrote is held against what ``next_step`` says of the state before it. What people,
models, tools and time brought is taken as it was recorded. Two things are not written down, and are tried:
what the engine had in flight, and how much it put into one commit (all of that has one time, and was planned
by the state before the first of it).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from agent.errors import CorruptJournal
from agent.rules.budgets import BY_BUDGET, Budget
from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    CallJudged,
    CallLeftUnknown,
    CallLookedUp,
    CallPreviewed,
    CallRefused,
    CallReturned,
    CallStarted,
    Event,
    ModelFailed,
    ModelReplied,
    RunFailed,
    RunFinished,
)
from agent.rules.fold import apply
from agent.rules.given_up import is_given_up
from agent.rules.ids import CallId
from agent.rules.interventions import (
    ApprovalEscalated,
    ApprovalExpired,
    ApprovalReminded,
    BudgetReached,
    RunCancelled,
    StopRequested,
)
from agent.rules.obeying import fits
from agent.rules.recorded import Recorded
from agent.rules.silence import BY_RULE
from agent.rules.state import RunState
from agent.rules.steps import AskForMore, AskModel, has_open_review, next_step


@dataclass(frozen=True, slots=True)
class Difference:
    """At ``seq`` stands ``found``; this build would have done ``expected``, or could not read it."""

    seq: int
    expected: str
    found: str


def replay(recorded: Sequence[Recorded], budget: Budget | None = None) -> list[Difference]:
    """Every event that this build would not have written where it stands; none: it would do the same.

    ``budget`` is that of the run's agent today; None: it is not known."""
    past = _Past(recorded, budget)
    differences: list[Difference] = []
    for one in recorded:
        if expected := past.instead_of(one.event, one.at):
            differences.append(Difference(one.seq, expected, one.event.kind))
        try:
            past.states.append(apply(past.states[-1] if past.states else None, one))
        except CorruptJournal as error:
            return [*differences, Difference(one.seq, str(error), one.event.kind)]
    return differences


class _Past:
    """The states up to the event that is looked at: ``states[n]`` is what followed ``recorded[n]``."""

    def __init__(self, recorded: Sequence[Recorded], budget: Budget | None) -> None:
        self._recorded = recorded
        self._budget = budget
        self.states: list[RunState] = []

    def instead_of(self, event: Event, at: datetime) -> str | None:
        """What should have been done; None where it is right, or nobody's to say."""
        if not self.states:
            return None
        match event:
            case ModelReplied() | ModelFailed():
                return self._instead_of_word(event, at)
            case CallPreviewed() | CallLookedUp():
                return self._instead_of_fact(event, at)
            case CallReturned(is_found=True):
                return self._instead_of_fact(event, at)
            case ApprovalRequested(approval_kind="review", call_id=call_id) if call_id:
                call = self.states[-1].call(call_id)
                is_right = call.status == "unknown" and not has_open_review(call, self.states[-1])
                return None if is_right else self._step_name(at)
            case ApprovalRequested(approval_kind="budget") | BudgetReached() if (
                self._budget is None
            ):
                return None
            case StopRequested(by=by) if by in (BY_RULE, BY_BUDGET):
                return None if self._is_by_itself_stopped() else "no stop by a rule"
            case CallReturned(call_id=call_id) | CallLeftUnknown(call_id=call_id):
                return self._instead_of_end(call_id, at)
            case RunFailed(error=error) if self._is_given_up(error, at):
                return None
            case CallJudged() | ApprovalRequested() if self._is_of_a_steer(event):
                return None
            case (
                CallJudged()
                | CallRefused()
                | ApprovalRequested()
                | CallStarted()
                | RunFinished()
                | RunFailed()
                | RunCancelled()
                | ApprovalExpired()
                | ApprovalReminded()
                | ApprovalEscalated()
                | BudgetReached()
            ):
                is_right = any(self._fits(state, event, at) for state in self._of_one_commit(at))
                return None if is_right else self._step_name(at)
            case _:
                return None

    def _fits(self, state: RunState, event: Event, at: datetime) -> bool:
        return any(
            fits(next_step(state, at, in_flight, self._budget), event, state)
            for in_flight in _flights(state, event)
        )

    def _of_one_commit(self, at: datetime) -> Iterator[RunState]:
        """The state before the event, and before each of those right before it that have its time."""
        for number in range(len(self.states) - 1, -1, -1):
            yield self.states[number]
            if self._recorded[number].at != at:
                return

    def _instead_of_fact(self, event: Event, at: datetime) -> str | None:
        """What came of something that was begun at any time before."""
        is_right = any(self._fits(state, event, at) for state in reversed(self.states))
        return None if is_right else self._step_name(at)

    def _instead_of_end(self, call_id: CallId, at: datetime) -> str | None:
        """What a call that was begun came to, whenever it is heard of."""
        call = self.states[-1].calls.get(call_id)
        return self._step_name(at) if call is not None and call.attempts == 0 else None

    def _is_given_up(self, error: str, at: datetime) -> bool:
        """A run that is given up in such words was not at its end, nor was it to be stopped."""
        return any(
            state.stop is None and is_given_up(state, error) for state in self._of_one_commit(at)
        )

    def _instead_of_word(self, event: ModelReplied | ModelFailed, at: datetime) -> str | None:
        """The model was asked some time before, and has said nothing since. At ``asked_at`` a result may not
        have been recorded yet that it was told of: those of reads wait for the next commit."""
        state = self.states[-1]
        first = event.asked_at if isinstance(event, ModelReplied) else 1
        if not 1 <= first <= state.seq:
            return f"a reply to what had been there (asked at {first})"
        since = [
            one for one in self.states[first - 1 :] if _words_heard(one) == _words_heard(state)
        ]
        asked_of = next((s for s in since if next_step(s, at) == AskModel()), None)
        is_second = isinstance(event, ModelReplied) and since[0].seq != first
        if asked_of is None or is_second:
            return self._step_name(at)
        is_over = self._budget and self._budget.reached(asked_of)
        return AskForMore.__name__ if is_over else None

    def _is_of_a_steer(self, event: CallJudged | ApprovalRequested) -> bool:
        """A steer is judged, and may be asked again, in its own commit."""
        *before, last = (one.event for one in self._last_two())
        if isinstance(event, CallJudged):
            return _is_steer(last)
        is_judged = isinstance(last, CallJudged) and last.call_id == event.call_id
        return is_judged and any(map(_is_steer, before))

    def _is_by_itself_stopped(self) -> bool:
        last = self._last_two()[-1].event
        return isinstance(last, BudgetReached) or (
            isinstance(last, ApprovalExpired) and last.then == "stop"
        )

    def _last_two(self) -> Sequence[Recorded]:
        return self._recorded[max(0, len(self.states) - 2) : len(self.states)]

    def _step_name(self, at: datetime) -> str:
        return type(next_step(self.states[-1], at, frozenset(), self._budget)).__name__


def _is_steer(event: Event) -> bool:
    return isinstance(event, ApprovalDecided) and event.action == "steer" and event.args is not None


def _words_heard(state: RunState) -> tuple[int, int]:
    return state.model_calls, state.model_failures


def _flights(state: RunState, event: Event) -> Iterator[frozenset[CallId]]:
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
