"""A world in which anything may happen to a run at any point of its way: what is outside of the processes, and
survives them; and processes whose every append, model request and tool call is a point at which something
can be made to happen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from agent import (
    Agent,
    Approve,
    Budget,
    Committed,
    Policy,
    Principal,
    Rejected,
    Runtime,
    Settle,
    Toolbox,
    ToolContext,
    tool,
)
from agent.engine.advance import Engine
from agent.engine.guard import LeaseGuard
from agent.engine.new_ids import UuidIds
from agent.errors import DecisionRefused, LeaseLost, RunEnded
from agent.ports import ModelReply, ModelRequest
from agent.rules.decisions import Decider
from agent.rules.ids import ApprovalId, OperationId, RunId
from agent.rules.parts import Patience, SettleOutcome, Usage
from agent.rules.recorded import Stamped
from agent.rules.rule import People
from agent.rules.state import Approval, RunState
from agent.rules.steps import Done, Suspend, next_step
from agent.rules.transcript import ToolMessage, UserMessage, of_this_run
from agent.tools.declare import Tool
from store import SqlStore, open_store
from tests.agent.engine.bench import ALICE, calls, says
from tests.agent.engine.clock import SteppedClock
from tests.agent.engine.crashing import Crash, StoreWith
from tests.agent.engine.journal_around import JournalAround, Way
from tests.agent.engine.lawful import Ran, check_run
from tests.agent.engine.patient import PatientPolicy
from tests.agent.engine.strict import StrictModel
from tests.store.files import with_tables

T = TypeVar("T")

TERM = timedelta(seconds=30)
BOB = Principal("slack:T0PILOT:U0BOB")
OWNER = Decider(BOB, user="U0BOB")
EXPIRES = timedelta(hours=1)
POLICY = PatientPolicy(
    owners=People(users=("U0BOB",)),
    patience=Patience(expires=EXPIRES, remind=timedelta(minutes=25)),
)

#: A tool of each kind of effect: ``look`` and ``post`` run unasked, ``put`` and ``wire`` are asked about;
#: ``wire`` can be looked up.
KINDS = ("look", "put", "post", "wire")

USAGE = Usage(input_tokens=10, output_tokens=5)

Deed = Callable[[], Awaitable[object]]
Note = Callable[[Approval, RunState], None]


@dataclass
class Points:
    """The points that one process comes to, counted; at some of them something happens."""

    deeds: dict[int, Deed] = field(default_factory=dict)
    count: int = 0
    is_dead: bool = False
    #: It dies right behind its next append, not before it.
    dies_after: bool = False

    async def reach(self) -> None:
        self.count += 1
        if deed := self.deeds.pop(self.count, None):
            await deed()

    async def die(self) -> None:
        """This process is gone: whatever else it tries to write does not get there."""
        self.is_dead = True

    async def die_after(self) -> None:
        """It is gone once its next append has got there, before it hears of that."""
        self.dies_after = True


@dataclass
class PointedJournal(JournalAround):
    """The journal, each append a point."""

    points: Points

    async def around(
        self, way: Way, run_id: RunId, events: Sequence[Stamped], append: Callable[[], Awaitable[T]]
    ) -> T:
        if way == "start":
            return await append()
        await self.points.reach()
        if self.points.is_dead:
            raise Crash
        done = await append()
        if self.points.dies_after:
            self.points.is_dead = True
        if self.points.is_dead:
            raise Crash
        return done


@dataclass
class Outside:
    """What the world outside has seen: each call that reached it, and what came of it. But for ``post`` it
    honours operation ids: what it has done it does not do again."""

    ran: list[Ran] = field(default_factory=list)
    done: list[OperationId] = field(default_factory=list)

    def tools(self, points: Points) -> list[Tool]:
        """One of each kind: see ``KINDS``."""

        async def act(name: str, context: ToolContext) -> str:
            await points.reach()
            self.ran.append(Ran(name, context.operation_id, context.attempt))
            if name == "post" or context.operation_id not in self.done:
                self.done.append(context.operation_id)
            return f"{name} done"

        def look_for(operation_id: str) -> Committed | Rejected:
            return Committed("found") if operation_id in self.done else Rejected("not found")

        @tool(approval=False, effect="read", timeout=5)
        async def look(context: ToolContext) -> str:
            """Look."""
            return await act("look", context)

        @tool(approval=True, effect="idempotent", timeout=5)
        async def put(context: ToolContext) -> str:
            """Put."""
            return await act("put", context)

        @tool(approval=False, timeout=5)
        async def post(context: ToolContext) -> str:
            """Post."""
            return await act("post", context)

        @tool(approval=True, reconcile=look_for, timeout=5)
        async def wire(context: ToolContext) -> str:
            """Wire."""
            return await act("wire", context)

        return [look, put, post, wire]


@dataclass
class Persistent:
    """A model that proposes each of ``wanted`` until it has been answered, then says what it heard."""

    wanted: tuple[str, ...]
    points: Points
    #: How its next requests fail.
    troubles: list[Exception] = field(default_factory=list)
    name: str = "persistent"

    async def reply(self, request: ModelRequest) -> ModelReply:
        await self.points.reach()
        if self.troubles:
            raise self.troubles.pop(0)
        return replace(self._say(request), usage=USAGE)

    def _say(self, request: ModelRequest) -> ModelReply:
        answered = {
            message.tool
            for message in of_this_run(request.messages)
            if isinstance(message, ToolMessage) and "newer message" not in message.output
        }
        if left := [name for name in self.wanted if name not in answered]:
            return calls(*((name, "{}") for name in left))
        heard = [one.text for one in of_this_run(request.messages) if isinstance(one, UserMessage)]
        return says(" / ".join(heard))


@dataclass
class Handle:
    """One process on the store."""

    store: SqlStore
    runtime: Runtime
    engine: Engine
    points: Points
    name: str

    async def work(self) -> None:
        """Advance what is due until nothing is; a crash is the end of it. Whoever was replaced stops."""
        while leases := await self.store.run_leases.claim(self.name, TERM, 10):
            for lease in leases:
                with suppress(LeaseLost):
                    await self.engine.advance(LeaseGuard(lease, TERM), asyncio.Event())


@dataclass
class World:
    """The database file, the world outside, time; and whatever processes there are."""

    folder: Path
    wanted: tuple[str, ...] = KINDS
    policy: Policy = POLICY
    budget: Budget | None = None
    clock: SteppedClock = field(default_factory=SteppedClock)
    outside: Outside = field(default_factory=Outside)
    names: int = 0
    #: How the next requests to the model fail, whoever makes them.
    troubles: list[Exception] = field(default_factory=list)

    async def open(self, deeds: dict[int, Deed] | None = None) -> Handle:
        """A new process: every object is new."""
        points = Points(deeds or {})
        self.names += 1
        opened = await open_store(with_tables(self.folder / "runs.db"), clock=self.clock)
        store = StoreWith(opened, PointedJournal(opened.journal, points))
        model = StrictModel(Persistent(self.wanted, points, self.troubles))
        toolbox = Toolbox(self.outside.tools(points))
        agent = Agent("tester", model, toolbox, self.policy, budget=self.budget)
        engine = Engine(store, {agent.name: agent}, UuidIds())
        return Handle(opened, Runtime([agent], store), engine, points, f"p{self.names}")

    @asynccontextmanager
    async def process(self, deeds: dict[int, Deed] | None = None) -> AsyncIterator[Handle]:
        """The same, until the block ends. Its death ends only the block."""
        handle = await self.open(deeds)
        try:
            yield handle
        except Crash:
            pass
        finally:
            await handle.store.close()

    def wait(self) -> None:
        """Leases of the dead end, and so do the deadlines of what they had begun."""
        self.clock.advance(TERM * 2)

    async def bring_to_an_end(
        self,
        handle: Handle,
        run_id: RunId,
        people: Handle | None = None,
        take_note: Note = lambda approval, state: None,
    ) -> RunState:
        """``handle`` works and ``people`` do what is needed of them (in the same process, unless said)
        until the run has ended. ``take_note`` hears of each decision."""
        for _ in range(30):
            await handle.work()
            state = await handle.runtime.state(run_id)
            await self.check(handle, run_id)
            row = await handle.store.lists.run(run_id)
            assert row is not None
            step = next_step(state, self.clock.now(), budget=self.budget)
            # What a process held that has died falls due when its lease ends.
            is_through = row.holder is not None or isinstance(step, Suspend | Done)
            assert is_through, f"nobody was woken for {step}"
            if state.is_ended and not state.open_approvals:
                return state
            is_helped = False
            with suppress(DecisionRefused, RunEnded):  # Somebody was faster.
                is_helped = await self._help(people or handle, state, take_note)
            if not is_helped:
                self.wait()
        raise AssertionError(f"it is stuck: {await handle.store.journal.read(run_id)}")

    async def _help(self, handle: Handle, state: RunState, take_note: Note) -> bool:
        """One thing that people can do for it."""
        if state.held:
            await handle.runtime.resume(state.run_id, BOB)
            return True
        for approval in state.open_approvals:
            is_review = approval.kind == "review"
            what = Settle(self.truth(state, approval.id)) if is_review else Approve()
            after = await handle.runtime.decide(approval.id, what, OWNER)
            take_note(after.approvals[approval.id], after)
            return True
        for approval in state.approvals.values():
            is_waited_for = approval.status == "expired" and approval.superseded_by is None
            if is_waited_for and not state.is_ended and state.stop is None:
                await handle.runtime.ask_again(approval.id, OWNER)
                return True
        return False

    def truth(self, state: RunState, approval_id: ApprovalId) -> SettleOutcome:
        """What became of the effect that this review asks about."""
        call_id = state.approvals[approval_id].requested.of_call
        if state.call(call_id).operation_id in self.outside.done:
            return "happened"
        return "give_up" if state.is_ended or state.stop else "not_happened"

    async def check(self, handle: Handle, run_id: RunId) -> RunState:
        """Fails if anything happened to the run that should never happen."""
        recorded = await handle.store.journal.read(run_id)
        control = await handle.store.control.read(0, 500)
        state = check_run(recorded, self.outside.ran, self.budget, control)
        for call in state.calls.values():
            if call.effect != "read":
                assert self.outside.done.count(call.operation_id) <= 1, "nothing is done twice"
            if call.receipt is not None and call.receipt.status == "committed":
                assert call.operation_id in self.outside.done
            if call.receipt is not None and call.receipt.status == "rejected":
                assert call.operation_id not in self.outside.done
        return state


async def begin(handle: Handle) -> RunId:
    return await handle.runtime.start("go", requester=ALICE)
