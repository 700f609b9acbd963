"""Steps that only write: how far a run gets on paper before something has to be done.

The model's reply, the verdicts on its calls, the questions to people and the starts are facts and
intentions that follow from each other by pure rules; they go into the journal in one commit.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from agent.engine.agents import CodeDecider
from agent.engine.flights import Heard
from agent.engine.gate import Gate, review
from agent.engine.giving_up import leave_unknown
from agent.engine.journaling import foresee
from agent.engine.telling import tell
from agent.rules.calls import Call
from agent.rules.circumstances import NOTHING_KNOWN, Circumstances
from agent.rules.compacting import Shorten
from agent.rules.decisions import Decider, decide
from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    CallLeftUnknown,
    CallRefused,
    CallStarted,
    Event,
    RunFailed,
    RunFinished,
)
from agent.rules.given_up import never_ended
from agent.rules.halts import halts_of
from agent.rules.ids import ApprovalId, CallId, EventId, Principal
from agent.rules.interventions import HaltsChanged, RunCancelled
from agent.rules.judgement import Judgement
from agent.rules.limiting import after, promised
from agent.rules.long_conversations import ConversationShortened
from agent.rules.recorded import Stamped
from agent.rules.silence import mark
from agent.rules.state import RunState
from agent.rules.steering import carried_vote
from agent.rules.steps import (
    AskForMore,
    Cancel,
    DropCalls,
    Fail,
    Finish,
    JudgeCalls,
    MarkTime,
    RecoverCall,
    RequestApprovals,
    RequestReview,
    StartCalls,
    Step,
    next_step,
)

log = logging.getLogger(__name__)

#: How often a call is begun until the run is given up: each time it was cut off, or did not happen.
ATTEMPTS_LIMIT = 5
#: Of an event by which others are judged, and which is stamped when it is written: no id is drawn for it.
_ONLY_FORESEEN = EventId("foreseen")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be committed, and the first step after it that takes more than writing."""

    intents: tuple[Stamped, ...]
    #: What the run will be once they are.
    state: RunState
    step: Step
    #: Was enough of the lease left to begin what is to be done?
    may_start: bool
    started: tuple[CallId, ...]


@dataclass(frozen=True, slots=True)
class Planner:
    """Plans for the runs of one agent. Values in, values out."""

    gate: Gate

    def plan(
        self,
        state: RunState,
        *,
        now: datetime,
        in_flight: Set[CallId],
        may_start: bool,
        heard: Mapping[CallId, Heard],
        around: Circumstances = NOTHING_KNOWN,
    ) -> Plan:
        """``may_start``: is enough of the lease left to begin an effect? ``heard``: what the agent's
        decider has said. ``around``: what its calls are judged by beside its journal. Raises
        ``Blocked`` when a call's tool is not here any more."""
        intents: list[Stamped] = []
        started: list[CallId] = []
        while True:
            agent = self.gate.agent
            flying = in_flight | set(started)
            halts = halts_of(state, around.switches, agent.policy.freeze, now, flying)
            if halts != state.halts:
                intents.append(self._stamped(HaltsChanged(halts=halts), now))
                state = foresee(state, intents[-1:])
            step = next_step(state, now, flying, agent.budget, agent.context)
            events = self._written(
                state, step, now, may_start=may_start, heard=heard, around=around
            )
            if not events:
                return Plan(tuple(intents), state, step, may_start, tuple(started))
            stamped = [self._stamped(event, now) for event in events]
            state = foresee(state, stamped)
            around = after(around, events)
            intents += stamped
            started += [event.call_id for event in events if isinstance(event, CallStarted)]

    def _stamped(self, event: Event, now: datetime) -> Stamped:
        return Stamped(EventId(self.gate.ids.event()), now, event)

    def _written(
        self,
        state: RunState,
        step: Step,
        now: datetime,
        *,
        may_start: bool,
        heard: Mapping[CallId, Heard],
        around: Circumstances,
    ) -> Sequence[Event]:
        """The events of a step that only writes; none where there is more to it."""
        gate = self.gate
        match step:
            case Finish(answer=answer):
                return [RunFinished(answer=answer)]
            case Fail(error=error):
                return [RunFailed(error=error)]
            case Cancel():
                toolbox = gate.agent.toolbox
                return [*leave_unknown(state, toolbox, gate.ids, for_good=True), RunCancelled()]
            case MarkTime(due=due):
                return list(mark(state, due))
            case AskForMore(reached=reached):
                return gate.ask_for_more(state, reached, now)
            case Shorten(cut=cut, summing=summing):
                return [ConversationShortened(cut=cut, summing=summing)]
            case DropCalls(call_ids=call_ids):
                return [
                    CallRefused(call_id=id, code="newer_message", message=_NEWER) for id in call_ids
                ]
            case JudgeCalls(call_ids=call_ids):
                return self._judged(state, call_ids, now, around)
            case RequestReview(call_id=call_id):
                call = state.call(call_id)
                return [review(call, call.detail, gate.ids)]
            case RequestApprovals(call_ids=call_ids):
                return self._questions(
                    state, [state.call(id) for id in call_ids], now, heard, around
                )
            case RecoverCall(call_id=call_id) if self._is_past_finding_out(state, call_id):
                return [CallLeftUnknown(call_id=call_id, detail=_NO_TOOL)]
            case RecoverCall(call_id=call_id) if self._is_not_looked_up(state, call_id):
                can_be_checked = self.gate.tool_of(state.call(call_id)).reconcile is not None
                left = CallLeftUnknown(
                    call_id=call_id, detail=_DRY_RUN, can_be_checked=can_be_checked
                )
                return [left]
            case StartCalls() | RecoverCall() if may_start:
                return self._started(state, step, now, around)
            case _:
                return []

    def _started(
        self,
        state: RunState,
        step: StartCalls | RecoverCall,
        now: datetime,
        around: Circumstances,
    ) -> Sequence[Event]:
        """Calls begin, or begin once more; none where what was begun is looked up first."""
        gate = self.gate
        call_ids = step.call_ids if isinstance(step, StartCalls) else (step.call_id,)
        calls = [state.call(call_id) for call_id in call_ids]
        is_lookup = isinstance(step, RecoverCall) and gate.effect_of(calls[0]) == "once"
        if is_lookup or state.is_ended:
            return []  # After the end nothing is run any more.
        if worn := _worn_out(calls):
            return self._given_up(state, worn)
        events: list[Event] = []
        for call in calls:
            # What one of them reserves is no more there for the next.
            events.append(gate.start(state, call, now, around))
            around = after(around, events[-1:])
        return events

    def _judged(
        self, state: RunState, call_ids: Sequence[CallId], now: datetime, around: Circumstances
    ) -> Sequence[Event]:
        """One by one: what one of them is going to use is no more there for the next."""
        events: list[Event] = []
        for id in call_ids:
            event = self.gate.judge(state, state.call(id), now, around)
            state = foresee(state, [Stamped(_ONLY_FORESEEN, now, event)])
            events.append(event)
        return events

    def _is_past_finding_out(self, state: RunState, call_id: CallId) -> bool:
        """Is a run to end that its tool can't be waited for any more?"""
        is_gone = self.gate.agent.toolbox.get(state.call(call_id).tool) is None
        return state.stop is not None and not state.is_ended and is_gone

    def _is_not_looked_up(self, state: RunState, call_id: CallId) -> bool:
        """It was begun before its agent's runs became dry ones: then its tool is not asked what became of it."""
        gate = self.gate
        return gate.agent.is_dry(state) and gate.effect_of(state.call(call_id)) == "once"

    def _given_up(self, state: RunState, call: Call) -> Sequence[Event]:
        """A call that never comes to an end may be what ends the processes: the run is failed."""
        error = never_ended(call.title or call.tool, ATTEMPTS_LIMIT)
        toolbox = self.gate.agent.toolbox
        return [*leave_unknown(state, toolbox, self.gate.ids), RunFailed(error=error)]

    def _questions(
        self,
        state: RunState,
        calls: Sequence[Call],
        now: datetime,
        heard: Mapping[CallId, Heard],
        around: Circumstances,
    ) -> Sequence[Event]:
        """Those that can be asked now: not the ones whose decider has yet to be heard."""
        events: list[Event] = []
        for call in calls:
            word, asked = heard.get(call.id), self.gate.ask(state, call, now)
            if isinstance(asked, CallRefused):
                events.append(asked)
                continue
            if word and word.is_about(asked):
                # It waits for people from when they are asked, however long the decider took.
                named = {"approval_id": word.requested.approval_id}
                asked = asked.model_copy(update=named)
            carried = carried_vote(state, call, asked, now)
            is_decided = isinstance(carried, ApprovalDecided)
            if self.gate.asks_code(call) and word is None and not is_decided:
                continue
            events.append(asked)
            events += [carried] if carried else []
            events += [] if is_decided else self._words(state, asked, carried, word, now, around)
        return events

    def _words(
        self,
        state: RunState,
        asked: ApprovalRequested,
        carried: Event | None,
        word: Heard | None,
        now: datetime,
        around: Circumstances,
    ) -> Sequence[Event]:
        """What the agent's decider has said of it, behind the yes of whoever steered it to what it
        is."""
        if word is None or word.decision is None or not word.is_about(asked):
            return []
        agent = self.gate.agent
        before = [asked, carried] if carried else [asked]
        with_question = foresee(
            state, [Stamped(EventId(str(n)), now, e) for n, e in enumerate(before)]
        )

        def judge(tool: str, args: Mapping[str, JsonValue]) -> Judgement:
            return agent.judge(state, tool, args, promised(around, state))

        try:
            return decide(
                with_question,
                asked.approval_id,
                word.decision,
                code_decider(agent.decider),
                now=now,
                judge=judge,
                next_approval_id=ApprovalId(self.gate.ids.new("apr")),
            )
        except Exception as error:
            # What is no decision, or can't be carried out, is passed on to people.
            log.warning("the decider's word on %s does not fit: %s", asked.call_id, tell(error))
            return []


_NO_TOOL = "The run was stopped, and its tool is not here any more to look it up."
_DRY_RUN = "It was begun before its agent was set to dry_run; now its tool is not run, not even to look it up."
_NEWER = "A newer message arrived before it began; it is the next thing in this conversation."


def _worn_out(calls: Sequence[Call]) -> Call | None:
    """The first of these that was begun too often."""
    return next((c for c in calls if c.attempts - c.attempts_before >= ATTEMPTS_LIMIT), None)


def code_decider(decider: CodeDecider | None) -> Decider:
    """The agent's decider, as who decides."""
    name = getattr(decider, "__name__", type(decider).__name__)
    return Decider(Principal(f"code:{name}"), authority="code")
