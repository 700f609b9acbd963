"""What models and tools brought, in a journal that is gone over once more: once for each time that they were
asked, and not of what had never been begun."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from agent.rules.budgets import Budget
from agent.rules.events import (
    CallLeftUnknown,
    CallLookedUp,
    CallPreviewed,
    CallReturned,
    Event,
    ModelFailed,
    ModelReplied,
)
from agent.rules.fold import apply
from agent.rules.ids import CallId
from agent.rules.long_conversations import ConversationSummarised
from agent.rules.recorded import Recorded
from agent.rules.replaying.passes import begun
from agent.rules.state import RunState
from agent.rules.steps import AskForMore, AskModel, Step, Summarise, next_step

Word = ModelReplied | ModelFailed | ConversationSummarised
_Kind = Literal["previewed", "looked up"]


@dataclass(slots=True)
class Heard:
    """What has been heard, up to the newest of ``states``, which grow meanwhile."""

    recorded: Sequence[Recorded]
    states: Sequence[RunState]
    budget: Budget | None
    #: By call: how often it returned, and since which state it was not previewed, or looked up.
    _returns: Counter[CallId] = field(default_factory=Counter)
    _since: dict[tuple[CallId, _Kind], int] = field(default_factory=dict)

    def note(self, event: Event) -> None:
        """It was heard."""
        match event:
            case CallPreviewed(call_id=call_id):
                self._since[call_id, "previewed"] = len(self.states)
            case CallReturned(call_id=call_id, is_found=False):
                self._returns[call_id] += 1
            case CallLookedUp(call_id=call_id) | CallReturned(call_id=call_id):
                self._since[call_id, "looked up"] = len(self.states)
            case _:
                pass

    def instead_of_word(self, event: Word, at: datetime) -> str | None:
        """The model was asked some time before, and has said nothing since. At ``asked_at`` a result may not
        have been recorded yet that it was told of: those of reads wait for the next commit."""
        state = self.states[-1]
        first = 1 if isinstance(event, ModelFailed) else event.asked_at
        if not 1 <= first <= state.seq:
            return f"a reply to what had been there (asked at {first})"
        since = [
            one for one in self.states[first - 1 :] if _words_heard(one) == _words_heard(state)
        ]
        foreseen = (self._with_reads(one) for one in since)
        asked_of = [s for s in (*since, *foreseen) if _is_answered_by(event, next_step(s, at))]
        is_second = not isinstance(event, ModelFailed) and since[0].seq != first
        if not asked_of or is_second:
            return self._step_name(at)
        # Of what failed nobody knows when it was asked: it may have been once people had allowed more.
        possible = asked_of if isinstance(event, ModelFailed) else asked_of[:1]
        is_over = self.budget is not None and all(map(self.budget.reached, possible))
        return AskForMore.__name__ if is_over else None

    def _with_reads(self, state: RunState) -> RunState:
        """What an engine knew that had yet to record what reads had returned, whatever others recorded first."""
        for one in self.recorded[state.seq : len(self.states)]:
            event = one.event
            if isinstance(event, CallReturned) and event.call_id in state.current:
                call = state.call(event.call_id)
                if call.status == "started" and call.effect == "read":
                    state = apply(state, replace(one, seq=state.seq + 1))
        return state

    def instead_of_fact(
        self, event: CallPreviewed | CallLookedUp | CallReturned, at: datetime
    ) -> str | None:
        """What came of something that was begun at any time since the last that was heard of the kind."""
        kind: _Kind = "previewed" if isinstance(event, CallPreviewed) else "looked up"
        first = self._since.get((event.call_id, kind), 0)
        is_right = any(any(begun(s, event, at, self.budget)) for s in reversed(self.states[first:]))
        return None if is_right else self._step_name(at)

    def instead_of_end(self, event: CallReturned | CallLeftUnknown, at: datetime) -> str | None:
        """What a call that was begun came to, whenever it is heard of; each of its attempts once."""
        state = self.states[-1]
        call = state.call(event.call_id)
        if isinstance(event, CallReturned):
            is_due = call.told is None and self._returns[call.id] < call.attempts
        else:
            # What was begun and not heard of is left open for good when its run is to end.
            is_due = call.status == "started" or (state.stop is not None and call.is_lost)
        return None if is_due else self._step_name(at)

    def _step_name(self, at: datetime) -> str:
        return type(next_step(self.states[-1], at, frozenset(), self.budget)).__name__


def _is_answered_by(event: Word, step: Step) -> bool:
    match event:
        case ModelReplied():
            return step == AskModel()
        case ConversationSummarised(replies=replies):
            return step == Summarise(replies)
        case ModelFailed():
            return isinstance(step, AskModel | Summarise)


def _words_heard(state: RunState) -> tuple[int, int]:
    return state.model_calls, state.model_failures
