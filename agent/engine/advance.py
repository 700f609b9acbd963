"""Advancing one leased run: write what follows by itself, do what the next step says, until it suspends
or ends."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from agent.engine.agents import Agent, NoModel
from agent.engine.asking import ask, failed, replied, too_long
from agent.engine.carrying import Carrying
from agent.engine.circumstances import circumstances_of
from agent.engine.flights import Flights, Happened, Heard, Landing, Written
from agent.engine.gate import Gate
from agent.engine.giving_up import last_words
from agent.engine.guard import LeaseGuard
from agent.engine.in_force import AreAsOf, always
from agent.engine.journaling import RunJournal
from agent.engine.long_conversations import (
    request_for_summary,
    size_of,
    summarised,
)
from agent.engine.planning import Planner
from agent.engine.releasing import release_again
from agent.engine.waiting import watched
from agent.errors import Blocked, LeaseLost, LimitReached, SeqConflict, StoreError
from agent.mending import mend, read_state
from agent.ports import ContextOverflow, Directory, Ids, ModelRequest, Store
from agent.rules.calls import Call
from agent.rules.events import ApprovalRequested, Event
from agent.rules.given_up import no_progress
from agent.rules.ids import CallId
from agent.rules.limiting import foreseen
from agent.rules.state import RunState
from agent.rules.steps import (
    AskModel,
    AwaitCalls,
    Done,
    PreviewCalls,
    RecoverCall,
    RequestApprovals,
    Step,
    Summarise,
    Suspend,
)
from agent.rules.transcript import Told
from agent.tools.registry import Toolbox
from agent.tools.running import run_bounded

log = logging.getLogger(__name__)

#: A wait for something else to happen is cut into pieces of this many seconds; nothing depends on it.
WAIT_LIMIT = 1.0
#: The result of a read waits for the next commit, but not longer than this many seconds; so often it is
#: also looked, while the model thinks, whether the run is to be stopped.
READ_WAITS = 0.5
#: Between two looks at the journal while calls are in flight, in seconds.
LOOK_AGAIN = 0.03
#: How often a run is taken up again without any progress before it is given up.
CLAIMS_LIMIT = 5


@dataclass(frozen=True, slots=True)
class Engine:
    """What it takes to advance any run."""

    store: Store
    agents: Mapping[str, Agent]
    ids: Ids
    are_as_of: AreAsOf = always
    #: Looks up who asked for a run, where a rule speaks of that.
    directory: Directory | None = None

    async def advance(self, guard: LeaseGuard, stopping: asyncio.Event) -> None:
        """Take the run's steps until it suspends or ends, or ``stopping`` is set and no call is in
        flight. A run that was taken up too often without any progress is failed instead.

        Raises ``LeaseLost`` when another worker has it, ``Blocked`` when it can't go on here."""
        moves = self.store.wakeups.moves
        state = await read_state(self.store, guard.lease.run_id)
        await mend(self.store, state)
        journal = RunJournal(self.store, self.ids, guard, state)
        if guard.lease.claims > CLAIMS_LIMIT and not state.is_ended:
            await self._give_up(journal, _PROCESSES_ENDED)
        if state.agent not in self.agents and (state.stop is None or state.is_ended):
            raise Blocked("missing_agent", f"The agent {state.agent} is not configured here.")
        await _Advance(self, guard, stopping, journal, moves).run()

    def gate(self, name: str) -> Gate:
        """That of the agent as it is in force now."""
        # What is to end asks no model, and begins nothing.
        return Gate(self.agents.get(name) or Agent(name, NoModel(), Toolbox()), self.ids)

    async def give_up(self, guard: LeaseGuard, error: Exception) -> bool:
        """Fail a run that fails here each time it is taken up; False while it may be tried again."""
        if guard.lease.claims < CLAIMS_LIMIT:
            return False
        state = await read_state(self.store, guard.lease.run_id)
        if state.is_ended:
            return False
        journal = RunJournal(self.store, self.ids, guard, state)
        await self._give_up(journal, f"a fault of ours: {type(error).__name__}: {error}")
        return True

    async def _give_up(self, journal: RunJournal, why: str) -> None:
        error = no_progress(CLAIMS_LIMIT, why)
        log.error("%s is given up: %s", journal.state.run_id, error)
        events = last_words(journal.state, self.gate(journal.state.agent), error)
        await journal.commit([journal.stamp(event) for event in events])


_PROCESSES_ENDED = "each time the process that worked it ended"


class _Advance:
    """One run being advanced."""

    def __init__(
        self,
        engine: Engine,
        guard: LeaseGuard,
        stopping: asyncio.Event,
        journal: RunJournal,
        moves: int,
    ) -> None:
        self._engine = engine
        self._store = engine.store
        self._gate = engine.gate(journal.state.agent)
        self._guard = guard
        self._stopping = stopping
        self._journal = journal
        self._carrying = Carrying(journal, guard, self._store.clock)
        #: How often the store had moved before the state was read.
        self._moves = moves
        self._looked_at = -LOOK_AGAIN
        self._flights = Flights()
        self._heard: dict[CallId, Heard] = {}
        self._told = Told()

    async def run(self) -> None:
        try:
            while not await self._advance_once():
                pass
        except LeaseLost:
            raise
        except Exception:
            # It can't go on here; but effects that have begun are not cut, they are heard out, and what
            # has happened is recorded if it can be.
            async with watched(self._guard.lost.wait()) as (lost,):
                await self._flights.hear_out(lost)
            with suppress(StoreError):
                await self._journal.flush_once()
            raise
        finally:
            # A thread can't be cut off, but may want to know.
            self._carrying.cancel(self._why_cancelled() or "another process goes on with the run")
            await self._flights.cancel()

    def _why_cancelled(self) -> str:
        """Why what runs had better end, in words; empty where it may go on."""
        if self._guard.is_over:
            return "this process has lost the run"
        if self._stopping.is_set():
            return "this process is about to end"
        return "the run is to be stopped" if self._state.stop is not None else ""

    async def _advance_once(self) -> bool:
        """One commit and one deed; True once there is nothing more to do here."""
        for landing in self._flights.land():
            await self._land(landing)
        if self._guard.lost.is_set():
            raise LeaseLost(self._state.run_id, self._guard.lease.fence)
        if self._guard.is_over:
            await self._flights.cut_off()
        if why := self._why_cancelled():
            self._carrying.cancel(why)
        if self._stopping.is_set():
            return await self._let_go()
        # From here on one and the same agent.
        agents, name = self._engine.agents, self._state.agent
        agent, self._gate = agents.get(name), self._engine.gate(name)
        await self._look_at_servers()
        # One time for both: what is used is that of the windows in which calls start.
        now, durable = self._now(), self._journal.durable
        around = await circumstances_of(
            self._store,
            self._gate.agent,
            self._state,
            now,
            self._flights.ids,
            directory=self._engine.directory,
        )
        if not await self._engine.are_as_of(around.verdict_seq) or agents.get(name) is not agent:
            return False  # It may not be as of what was looked up.
        around = foreseen(around, durable, self._state)
        plan = Planner(self._gate).plan(
            self._state,
            now=now,
            in_flight=self._flights.ids,
            may_start=self._guard.may_start,
            heard=self._heard,
            around=around,
        )
        try:
            if plan.intents:
                await self._journal.commit(plan.intents, plan.state, around.verdict_seq)
                self._heard.clear()
                for call in self._calls(plan.started):
                    tool = self._gate.tool_of(call)
                    work = self._carrying.run(tool, self._state, call)
                    self._flights.launch(call.id, work, is_effect=call.effect != "read")
            return await self._act(plan.step, may_start=plan.may_start)
        except (SeqConflict, LimitReached):
            return False  # Somebody was faster: the state is up to date, so look again.

    async def _look_at_servers(self) -> None:
        """What is about to be judged, or to start, is so by the tools as they are now, also those that are not
        ours."""
        toolbox, calls = self._gate.agent.toolbox, self._state.open_calls
        if toolbox.servers:
            await toolbox.look_again(c.tool for c in calls if c.status in ("proposed", "ready"))

    async def _act(self, step: Step, *, may_start: bool) -> bool:
        """Do what takes more than writing; True once the run has been let go. What must not be begun
        with as little of the lease as was left when it was planned is planned anew."""
        match step:
            case Done():
                return await self._suspend(None)
            case Suspend(until=until):
                return await self._suspend(until)
            case AwaitCalls(until=until):
                await self._await_calls(until)
            case _ if not may_start:
                if not self._guard.may_start:
                    await self._await_lease()
            case AskModel():
                await self._ask_model()
            case Summarise(replies=replies):
                await self._ask_model(summing=replies)
            case PreviewCalls(call_ids=call_ids):
                for call in self._calls(call_ids):
                    tool = self._gate.tool_of(call)
                    work = self._carrying.preview(tool, self._state, call)
                    self._flights.launch(call.id, work)
            case RecoverCall(call_id=call_id):
                (call,) = self._calls([call_id])
                work = self._carrying.look_up(self._gate.tool_of(call), self._state, call)
                self._flights.launch(call.id, work)
            case RequestApprovals(call_ids=call_ids):
                self._ask_decider(self._calls(call_ids))
            case _:
                raise AssertionError(f"{step} is planned, not done")
        return False

    async def _land(self, landing: Landing) -> None:
        match landing:
            case Happened(event=event):
                self._journal.happened(event)
            case Written(recorded=recorded):
                await self._journal.absorb(recorded)
            case Heard(requested=requested):
                self._heard[requested.of_call] = landing

    async def _ask_model(self, summing: int | None = None) -> None:
        """Ask; what it said goes behind whatever people did meanwhile. ``summing``: to sum up so many replies."""
        if not self._journal.can_wait:
            await self._journal.flush()
            return  # Others may have been faster, and have held the run, say.
        if self._journal.has_pending and await self._has_news():
            return
        request, hear = self._request(summing)
        began_at = self._now()
        agent, seen = self._gate.agent, self._journal.seen_seq
        asking = run_bounded(ask(agent.model, request), agent.request_timeout.total_seconds())
        async with watched(asking, self._stopping.wait(), self._guard.over()) as waits:
            if not await self._while_it_thinks(waits) or not waits[0].done():
                return
            asked = waits[0]
        try:
            event = hear(await asked, asked_at=seen, began_at=began_at, model=agent.model.name)
        except Blocked:
            raise  # It could not be asked here, and was not: nothing happened.
        except ContextOverflow as error:
            event = too_long(
                error,
                size=size_of(request),
                times=self._state.too_long_in_a_row,
                began_at=began_at,
                now=self._now(),
            )
        except Exception as error:
            # Also a reply that is none: a model is foreign code.
            log.warning("the model failed in %s: %s", self._state.run_id, type(error).__name__)
            failures = self._state.model_failures
            event = failed(error, failures=failures, began_at=began_at, now=self._now())
        self._journal.happened(event)

    def _request(self, summing: int | None) -> tuple[ModelRequest, Callable[..., Event]]:
        """What it is asked, and what its answer amounts to."""
        agent, state = self._gate.agent, self._state
        if summing is not None:
            room = agent.context.room(state)
            request = request_for_summary(state, summing, room)
            return request, partial(summarised, state=state, replies=summing, room=room)
        self._told = self._told.up_to(state)
        request = ModelRequest(agent.instructions, self._told.messages, agent.toolbox.specs)
        return request, partial(replied, ids=self._gate.ids, estimated=size_of(request))

    async def _while_it_thinks(self, waits: Sequence[asyncio.Future[object]]) -> bool:
        """Until one of ``waits`` is done. Results of reads are recorded when that takes long, and people
        may say something meanwhile. False if the lease ran out first, the engine is to stop, or the run
        is."""
        while True:
            done, _ = await asyncio.wait(
                waits, timeout=READ_WAITS, return_when=asyncio.FIRST_COMPLETED
            )
            if done:
                return waits[0] in done
            await self._journal.flush()
            await self._has_news()
            if self._state.is_ended or self._state.stop is not None:
                return False

    async def _has_news(self) -> bool:
        """Has somebody else appended something? It is known then. What was just committed shows that by
        itself; what waits for a commit does not."""
        if self._store.wakeups.moves <= self._moves:
            return False
        self._moves, seen = self._store.wakeups.moves, self._journal.seen_seq
        await self._journal.catch_up()
        return self._journal.seen_seq > seen

    def _ask_decider(self, calls: Sequence[Call]) -> None:
        decider = self._gate.agent.decider
        assert decider is not None, "a call that nobody else is asked about is asked in writing"
        for call in calls:
            asked = self._gate.ask(self._state, call, self._now())
            assert isinstance(asked, ApprovalRequested), "a refusal is written"
            self._flights.launch(call.id, self._carrying.ask_decider(decider, asked))

    async def _await_calls(self, until: datetime | None) -> None:
        """A flight's end, a move of the journal, or the next deadline: whichever is first."""
        left = WAIT_LIMIT if until is None else (until - self._now()).total_seconds()
        most = min(left, READ_WAITS if self._journal.has_pending else WAIT_LIMIT)
        lease = self._guard.renewed() if self._guard.is_over else self._guard.over()
        async with watched(self._store.wakeups.wait(self._moves, most), lease) as waits:
            await self._flights.wait(*waits, timeout=max(0.0, most))
            # The store moves with every run; what is under way here need not look at each.
            if not self._flights.have_landed and not waits[1].done():
                since = time.monotonic() - self._looked_at
                await self._flights.wait(waits[1], timeout=max(0.0, LOOK_AGAIN - since))
        if self._flights.have_landed:
            return
        await self._journal.flush()
        self._moves, self._looked_at = self._store.wakeups.moves, time.monotonic()
        await self._journal.catch_up()

    async def _await_lease(self) -> None:
        """Nothing is begun with too little of the lease left; what is under way goes on."""
        async with watched(self._guard.renewed(), self._stopping.wait()) as waits:
            await self._flights.wait(*waits)

    async def _suspend(self, until: datetime | None) -> bool:
        if self._journal.has_pending:
            await self._journal.flush()
            return False
        leases, lease = self._store.run_leases, self._guard.lease
        if await leases.suspend(lease, seen_seq=self._journal.seen_seq, until=until):
            if self._engine.agents.get(self._state.agent) is not self._gate.agent:
                await release_again(self._store, self._state)
            return True
        await self._journal.catch_up()
        return False

    async def _let_go(self) -> bool:
        """The process is to end: start nothing more, hear what is in flight, hand the run on."""
        if self._flights.ids:
            await self._await_calls(None)
            return False
        await self._journal.flush()
        await self._store.run_leases.defer(self._guard.lease, until=self._now())
        return True

    @property
    def _state(self) -> RunState:
        return self._journal.state

    def _calls(self, call_ids: Sequence[CallId]) -> list[Call]:
        return [self._state.call(call_id) for call_id in call_ids]

    def _now(self) -> datetime:
        return self._store.clock.now()
