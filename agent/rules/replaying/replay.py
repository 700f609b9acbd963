"""Going over a journal once more: would this build have taken the same steps?

Each event that an engine wrote is held against ``next_step`` of the state before it, as part of a pass
(``passes``); what people did is decided and wanted once more (``wanted``); what models and tools brought is
taken as it was recorded, once for each time that they were asked (``heard``). Policies and tools are not asked
again: what they said is taken from the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from agent.errors import CorruptJournal
from agent.rules.budgets import Budget, Reached
from agent.rules.compacting import may_be_shortened
from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    ApprovalVoted,
    CallJudged,
    CallLeftUnknown,
    CallLookedUp,
    CallPreviewed,
    CallProgressed,
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
from agent.rules.ids import BY_BUDGET, BY_RULES
from agent.rules.interventions import (
    ApprovalEscalated,
    ApprovalExpired,
    ApprovalReminded,
    BudgetReached,
    RunCancelled,
    StopRequested,
)
from agent.rules.long_conversations import ConversationShortened, ConversationSummarised
from agent.rules.recorded import Recorded
from agent.rules.replaying.heard import Heard
from agent.rules.replaying.passes import Pass, begun, is_answer_within
from agent.rules.replaying.questions import why_not_asked, why_not_reached
from agent.rules.replaying.wanted import decided_again, why_not_wanted
from agent.rules.silence import mark
from agent.rules.state import RunState
from agent.rules.steps import AskModel, MarkTime, has_open_review, next_step

#: A decision amounts to so many events at most.
_DECISION_LIMIT = 4

Granted = Callable[[Event, RunState, datetime], str | None]


@dataclass(frozen=True, slots=True)
class Difference:
    """At ``seq`` stands ``found``; this build would have done ``expected``, or could not read it."""

    seq: int
    expected: str
    found: str


def replay(
    recorded: Sequence[Recorded], budget: Budget | None = None, granted: Granted | None = None
) -> list[Difference]:
    """Every event that this build would not have written where it stands; none: it would do the same.

    ``budget`` is that of the run's agent today; None: it is not known. ``granted`` says why a standing consent
    that an event names does not cover its call; None: they are not looked at."""
    past = _Past(recorded, budget, granted)
    differences: list[Difference] = []
    for one in recorded:
        try:
            after = apply(past.states[-1] if past.states else None, one)
            expected = past.instead_of(one.event, one.at)
        except CorruptJournal as error:
            return [*differences, Difference(one.seq, str(error), one.event.kind)]
        except (LookupError, ArithmeticError, ValueError, TypeError) as error:
            expected = f"values that its rules can go by ({type(error).__name__})"
        if expected:
            differences.append(Difference(one.seq, expected, one.event.kind))
        past.states.append(after)
    return differences


@dataclass(slots=True)
class _Past:
    """The states up to the event that is looked at: ``states[n]`` is what followed ``recorded[n]``."""

    recorded: Sequence[Recorded]
    budget: Budget | None
    granted: Granted | None
    states: list[RunState] = field(default_factory=list)
    heard: Heard = field(init=False)
    passes: list[Pass] = field(default_factory=list)
    #: Up to this event what stands there follows from one that was found right; and what must stand next.
    explained: int = 0

    def __post_init__(self) -> None:
        self.heard = Heard(self.recorded, self.states, self.budget)

    def instead_of(self, event: Event, at: datetime) -> str | None:
        """What should have been done; None where it is right, or nobody's to say."""
        if not self.states:
            return None
        state, number = self.states[-1], len(self.states)
        rest = self._left_undone(event, at)
        expected = None
        if number >= self.explained:
            expected = why_not_wanted(state, event) if _is_wish(event) else None
            expected = expected or self._instead_of(event, at)
        expected = expected or (self.granted(event, state, at) if self.granted else None)
        self.heard.note(event)
        return rest or expected

    def _left_undone(self, event: Event, at: datetime) -> str | None:
        """The rest of what was begun before, where this is not part of it."""
        if any(is_answer_within(one, event, at) for one in self.passes):
            return None
        if any(one.after(event, at) for one in self.passes):
            return None
        undone = self.passes and not any(one.is_over for one in self.passes)
        name = type(self.passes[0].step).__name__ if self.passes else None
        self.passes = []
        return f"the rest of {name}" if undone else None

    def _instead_of(self, event: Event, at: datetime) -> str | None:
        state = self.states[-1]
        match event:
            case ModelReplied() | ModelFailed() | ConversationSummarised():
                return self.heard.instead_of_word(event, at)
            case ConversationShortened():
                # How much was to be told at once is not written down.
                is_its_turn = next_step(state, at, frozenset(), self.budget) == AskModel()
                is_right = is_its_turn and may_be_shortened(state, event.cut, event.summing)
                return None if is_right else self._step_name(at)
            case CallPreviewed() | CallLookedUp() | CallReturned(is_found=True):
                return self.heard.instead_of_fact(event, at)
            case CallProgressed(call_id=call_id, attempt=attempt):
                call = state.call(call_id)
                is_right = call.status == "started" and call.attempts == attempt
                return None if is_right else "no progress of what is not running"
            case CallReturned() | CallLeftUnknown():
                return self.heard.instead_of_end(event, at)
            case ApprovalDecided() | ApprovalVoted():
                return self._instead_of_decision(at)
            case StopRequested(by=by) if by in BY_RULES:
                return "no stop by a rule"
            case ApprovalRequested(approval_kind="review", call_id=call_id) if call_id:
                call = state.call(call_id)
                is_right = call.status == "unknown" and not has_open_review(call, state)
                return why_not_asked(event, state, at) if is_right else self._step_name(at)
            case ApprovalRequested(approval_kind="budget") if self.budget is None:
                is_right = next_step(state, at) == AskModel()
                return why_not_asked(event, state, at) if is_right else self._step_name(at)
            case BudgetReached():
                return self._instead_of_limit(event, at)
            case RunFailed(error=error) if self._is_given_up(error, at):
                return None
            case ApprovalExpired() | ApprovalReminded() | ApprovalEscalated():
                return self._instead_of_time(at)
            case CallStarted(deadline=deadline) if deadline <= at:
                return "a deadline after its start"
            case (
                CallJudged()
                | CallRefused()
                | ApprovalRequested()
                | CallStarted()
                | RunFinished()
                | RunFailed()
                | RunCancelled()
            ):
                return self._instead_of_step(event, at)
            case _:
                return None

    def _instead_of_step(self, event: Event, at: datetime) -> str | None:
        going_on = [after for one in self.passes if (after := one.after(event, at))]
        may_begin = not self.passes or any(one.is_over for one in self.passes)
        state = self.states[-1]
        begins = list(begun(state, event, at, self.budget)) if may_begin else []
        self.passes = [*going_on, *begins]
        if not self.passes:
            return self._step_name(at)
        if isinstance(event, ApprovalRequested):
            return why_not_asked(event, state, at, self.budget)
        return None

    def _instead_of_decision(self, at: datetime) -> str | None:
        number = len(self.states)
        commit = [one.event for one in self.recorded[number : number + _DECISION_LIMIT]]
        length, why = decided_again(self.states[-1], commit, at)
        self.explained = number + length
        return why

    def _instead_of_time(self, at: datetime) -> str | None:
        """All that had fallen due by then, in its order."""
        state, number = self.states[-1], len(self.states)
        step = next_step(state, at)
        if not isinstance(step, MarkTime):
            return self._step_name(at)
        marked = tuple(mark(state, step.due))
        found = self.recorded[number : number + len(marked)]
        if [(one.event, one.at) for one in found] != [(event, at) for event in marked]:
            return self._step_name(at)
        self.explained = number + len(marked)
        return None

    def _instead_of_limit(self, event: BudgetReached, at: datetime) -> str | None:
        """A budget that is used up, and the stop that it brings."""
        number = len(self.states)
        match [one.event for one in self.recorded[number + 1 : number + 2]]:
            case [StopRequested(by=by, reason=reason)] if by == BY_BUDGET:
                self.explained = number + 2
                state = self.states[-1]
                if why := why_not_reached(event, state, self.budget):
                    return why
                sums = Reached(event.budget, Decimal(event.used), Decimal(event.limit))
                if reason != sums.in_a_sentence:
                    return "a stop that says so"
                is_right = self.budget is None and next_step(self.states[-1], at) == AskModel()
                return None if is_right else self._instead_of_step(event, at)
            case _:
                return self._instead_of_step(event, at) or "a stop right behind it"

    def _is_given_up(self, error: str, at: datetime) -> bool:
        """A run that is given up in such words was not at its end, nor was it to be stopped; what it leaves
        open is said right before."""
        number = len(self.states) - 1
        while self.recorded[number].at == at and isinstance(
            self.recorded[number].event, CallLeftUnknown | ApprovalRequested
        ):
            number -= 1
        state = self.states[-1]
        is_alive = state.stop is None and not state.is_ended
        return is_alive and is_given_up(self.states[number], error)

    def _step_name(self, at: datetime) -> str:
        return type(next_step(self.states[-1], at, frozenset(), self.budget)).__name__


def _is_wish(event: Event) -> bool:
    """Is it something that people want, and no rule?"""
    return not (isinstance(event, StopRequested) and event.by in BY_RULES)
