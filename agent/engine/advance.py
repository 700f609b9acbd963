"""Advancing one leased run: obey the next step, record what happened, until it suspends or ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from agent.engine.agents import Agent
from agent.engine.asking import failed, replied
from agent.engine.calls import context_of, not_begun, run_call
from agent.engine.flights import Flights
from agent.engine.gate import Gate
from agent.engine.guard import LeaseGuard
from agent.engine.recovery import look_up
from agent.engine.waiting import watched
from agent.errors import Blocked, LeaseLost, SeqConflict, StoreUnavailable
from agent.ports import Ids, ModelRequest, Store
from agent.rules.events import CallStarted, Event, RunFailed, RunFinished, Stamped
from agent.rules.fold import fold
from agent.rules.ids import CallId, EventId
from agent.rules.state import Call, RunState
from agent.rules.steps import (
    AskModel,
    AwaitCalls,
    Done,
    Fail,
    Finish,
    JudgeCalls,
    RecoverCall,
    RequestApprovals,
    RequestReview,
    StartCalls,
    Step,
    Suspend,
    next_step,
)
from agent.rules.transcript import transcript
from agent.tools.declare import Tool
from agent.tools.running import run_function

log = logging.getLogger(__name__)

#: A wait for something else to happen is cut into pieces of this many seconds; nothing depends on it.
WAIT_LIMIT = 1.0


@dataclass(frozen=True, slots=True)
class Engine:
    """What it takes to advance any run."""

    store: Store
    agents: Mapping[str, Agent]
    ids: Ids

    async def advance(self, guard: LeaseGuard, stopping: asyncio.Event) -> None:
        """Take the run's steps until it suspends or ends, or ``stopping`` is set and no call is in
        flight. Raises ``LeaseLost`` when another worker has it, ``Blocked`` when it can't go on
        here."""
        state = fold(await self.store.journal.read(guard.lease.run_id))
        agent = self.agents.get(state.agent)
        if agent is None:
            raise Blocked("missing_agent", f"The agent {state.agent} is not configured here.")
        await _Advance(self.store, Gate(agent, self.ids), guard, stopping, state).run()


class _Advance:
    """One run being advanced."""

    def __init__(
        self,
        store: Store,
        gate: Gate,
        guard: LeaseGuard,
        stopping: asyncio.Event,
        state: RunState,
    ) -> None:
        self._store = store
        self._gate = gate
        self._guard = guard
        self._stopping = stopping
        self._state = state
        #: How often the store had moved before the state was read.
        self._moves = 0
        self._flights = Flights()

    async def run(self) -> None:
        try:
            while not await self._advance_once():
                pass
        except LeaseLost:
            raise
        except Exception:
            # It can't go on here; but effects that have begun are not cut, they are heard out.
            async with watched(self._guard.lost.wait()) as (lost,):
                await self._flights.hear_out(lost)
            raise
        finally:
            await self._flights.cancel()

    async def _advance_once(self) -> bool:
        """One step; True once there is nothing more to do here."""
        if self._flights.land():
            await self._catch_up()
        if self._guard.lost.is_set():
            raise LeaseLost(self._state.run_id, self._guard.lease.fence)
        if self._stopping.is_set():
            return await self._let_go()
        step = next_step(self._state, self._now(), self._flights.ids)
        try:
            return await self._obey(step)
        except SeqConflict:
            await self._catch_up()
            return False

    async def _obey(self, step: Step) -> bool:
        match step:
            case Done():
                return await self._suspend(None)
            case Suspend(until=until):
                return await self._suspend(until)
            case Finish(answer=answer):
                await self._intend(RunFinished(answer=answer))
            case Fail(error=error):
                await self._intend(RunFailed(error=error))
            case AskModel():
                await self._ask_model()
            case JudgeCalls(call_ids=call_ids):
                await self._intend(
                    *(self._gate.judge(self._state, c) for c in self._calls(call_ids))
                )
            case RequestApprovals(call_ids=call_ids):
                await self._request_approvals(self._calls(call_ids))
            case RequestReview(call_id=call_id):
                await self._intend(self._gate.review(self._state.calls[call_id]))
            case StartCalls(call_ids=call_ids):
                await self._start(self._calls(call_ids))
            case RecoverCall(call_id=call_id):
                await self._recover(self._state.calls[call_id])
            case AwaitCalls(until=until):
                await self._await_calls(until)
            case _:
                assert_never(step)
        return False

    async def _ask_model(self) -> None:
        """Ask, and record what it said behind whatever people did meanwhile."""
        if not self._guard.may_start:
            await self._guard.renewed()
            return
        agent, seen = self._gate.agent, self._state.seq
        request = ModelRequest(agent.instructions, transcript(self._state), agent.toolbox.specs)
        waits = (agent.model.reply(request), self._stopping.wait(), self._guard.over())
        async with watched(*waits) as (asked, *halts):
            await asyncio.wait({asked, *halts}, return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                return
            cancelled = RuntimeError("its request was cancelled")
            error = cancelled if asked.cancelled() else asked.exception()
        if isinstance(error, Exception):
            log.warning("the model failed in %s: %s", self._state.run_id, type(error).__name__)
            failures = self._state.model_failures
            await self._record(failed(error, failures=failures, now=self._now()))
        else:
            ids, name = self._gate.ids, agent.model.name
            await self._record(replied(asked.result(), asked_at=seen, model=name, ids=ids))

    async def _request_approvals(self, calls: Sequence[Call]) -> None:
        previews = await asyncio.gather(*(self._preview(call) for call in calls))
        group = self._gate.new_group()
        await self._intend(
            *(self._gate.ask(call, group, p) for call, p in zip(calls, previews, strict=True))
        )

    async def _preview(self, call: Call) -> str | None:
        """What would happen, in the tool's own words; a preview that fails is none."""
        tool = self._gate.tool_of(call)
        if tool.preview is None:
            return None
        try:
            values = tool.bind(tool.check(call.args), context_of(self._state, call, 1))
            values.pop(tool.context_name or "", None)
            async with asyncio.timeout(tool.timeout.total_seconds()):
                return str(await run_function(tool.preview, **values))
        except Exception as error:
            log.warning("the preview of %s failed: %s", call.id, type(error).__name__)
            return None

    async def _start(self, calls: Sequence[Call]) -> None:
        """Judge once more, record the starts durably, then run."""
        if not self._guard.may_start:
            await self._guard.renewed()
            return
        now = self._now()
        events = [self._gate.start(self._state, c, now) for c in calls]
        await self._intend(*events)
        for event in events:
            if isinstance(event, CallStarted):
                call = self._state.calls[event.call_id]
                self._flights.launch(call.id, self._carry_out(self._gate.tool_of(call), call))

    async def _carry_out(self, tool: Tool, call: Call) -> None:
        """Run the call and record its outcome; a store that is away is waited for."""
        event: Event | None
        if self._guard.is_over or self._is_late(tool, call):
            # The append took so long that others may take it for lost while it still runs. That
            # nothing happened is known of a first attempt only; any other is left open.
            event = not_begun(call) if call.attempts == 1 else None
        else:
            event = await run_call(tool, call, context_of(self._state, call, call.attempts))
        if event is None:
            return
        stamped = self._stamp(event)
        while True:
            try:
                await self._store.journal.record(
                    self._state.run_id, [stamped], fence=self._guard.lease.fence
                )
                return
            except StoreUnavailable:
                log.warning("the outcome of %s can't be recorded yet; trying again", call.id)
                await asyncio.sleep(WAIT_LIMIT)

    def _is_late(self, tool: Tool, call: Call) -> bool:
        return call.deadline is not None and self._now() + tool.timeout > call.deadline

    async def _recover(self, call: Call) -> None:
        """Nobody is running it any more: look the effect up, or run it again."""
        if call.effect == "once":
            found = await look_up(self._gate.tool_of(call), call)
            if found is not None:
                await self._record(found)
                return
        await self._start([call])

    async def _await_calls(self, until: datetime | None) -> None:
        """A call's end, a move of the journal, or the next deadline: whichever is first."""
        left = WAIT_LIMIT if until is None else (until - self._now()).total_seconds()
        moved = self._store.wakeups.wait(self._moves, WAIT_LIMIT)
        async with watched(moved, self._guard.lost.wait()) as waits:
            await self._flights.wait(*waits, timeout=max(0.0, min(left, WAIT_LIMIT)))
        await self._catch_up()

    async def _suspend(self, until: datetime | None) -> bool:
        leases, lease = self._store.run_leases, self._guard.lease
        if await leases.suspend(lease, seen_seq=self._state.seq, until=until):
            return True
        await self._catch_up()
        return False

    async def _let_go(self) -> bool:
        """The process is to end: start nothing more, hear what is in flight, hand the run on."""
        if self._flights.ids:
            await self._await_calls(None)
            return False
        await self._store.run_leases.defer(self._guard.lease, until=self._now())
        return True

    async def _intend(self, *events: Event) -> None:
        recorded = await self._store.journal.intend(
            self._state.run_id,
            [self._stamp(event) for event in events],
            expected_seq=self._state.seq,
            fence=self._guard.lease.fence,
        )
        self._state = fold(recorded, self._state)

    async def _record(self, event: Event) -> None:
        fence = self._guard.lease.fence
        await self._store.journal.record(self._state.run_id, [self._stamp(event)], fence=fence)
        await self._catch_up()

    async def _catch_up(self) -> None:
        self._moves = self._store.wakeups.moves
        newer = await self._store.journal.read(self._state.run_id, after=self._state.seq)
        self._state = fold(newer, self._state)

    def _calls(self, call_ids: Sequence[CallId]) -> list[Call]:
        return [self._state.calls[call_id] for call_id in call_ids]

    def _stamp(self, event: Event) -> Stamped:
        return Stamped(EventId(self._gate.ids.event()), self._now(), event)

    def _now(self) -> datetime:
        return self._store.clock.now()
