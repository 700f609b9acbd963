"""The façade: everything that can be done with runs, without Slack and without SQL."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import aclosing
from datetime import timedelta

from agent.blocked import why_blocked
from agent.control_record import record_policies, record_refusal
from agent.deciding import Deciding
from agent.engine.advance import Engine
from agent.engine.agents import Agent
from agent.engine.follow import follow
from agent.engine.new_ids import UuidIds
from agent.engine.presence import is_worked, process_of
from agent.engine.worker import Worker
from agent.errors import (
    ConfigError,
    CorruptJournal,
    DecisionRefused,
    KeyReused,
    NotFailed,
    NotFound,
    NothingToDo,
    SeqConflict,
    UnknownEvent,
)
from agent.mending import find_asker, mend_all
from agent.ports import Directory, Ids, Process, Store
from agent.rules.anchors import Anchor
from agent.rules.decisions import Decider, Decision
from agent.rules.events import Event, RunReopened, RunStarted
from agent.rules.fold import fold
from agent.rules.ids import ApprovalId, EventId, OperationId, Principal, RunId, SessionId
from agent.rules.json_text import whole_text
from agent.rules.receipts import KnownEffect, effect_of
from agent.rules.recorded import Recorded, Stamped
from agent.rules.shapes import status_of
from agent.rules.state import Approval, RunState
from agent.verifying import Verified, verify
from agent.working import DRAIN, TERM, Working

log = logging.getLogger(__name__)


class Runtime:
    """Runs of ``agents`` on one store. Any number of these, in any number of processes, may share it.

    A runtime starts, decides and reads; a ``worker`` does the work. Raises ``ConfigError`` when two
    agents have one name, or there is none.
    """

    def __init__(
        self,
        agents: Iterable[Agent],
        store: Store,
        *,
        ids: Ids | None = None,
        directory: Directory | None = None,
        term: timedelta = TERM,
        drain: timedelta = DRAIN,
        build: str = "",
    ) -> None:
        """``directory`` looks up those whose votes are counted, at the moment when they are; ``term``
        is that of the leases, ``drain`` the time that running calls get at the end of what is worked
        here, ``build`` how this process is named."""
        self.agents: Mapping[str, Agent] = {}
        for agent in agents:
            if agent.name in self.agents:
                raise ConfigError(f"Two agents are named {agent.name}.")
            self.agents = {**self.agents, agent.name: agent}
        if not self.agents:
            raise ConfigError("There is no agent.")
        self.store = store
        self._ids: Ids = ids or UuidIds()
        self._engine = Engine(store, self.agents, self._ids)
        self._term = term
        self._build = build
        self._working = Working(self._engine, term, drain, build)
        self._deciding = Deciding(store, self.agents, self._ids, self._stamp, directory)

    async def start(
        self,
        prompt: str,
        *,
        requester: Principal,
        agent: str | None = None,
        session: SessionId | None = None,
        key: str | None = None,
        channel: str | None = None,
        place: str | None = None,
        wait: bool = False,
    ) -> RunId:
        """Begin a run and answer with its id; without ``agent``, the first one's.

        The same ``key`` again finds the run that is there. ``wait`` returns only when the run has
        ended or waits for a person, and works it here if nobody else does. Raises ``SessionBusy``
        while the session has another active run, ``KeyReused`` for a key that began a run with
        other words, ``ConfigError`` for an unknown agent, ``NothingToDo`` for a prompt of blanks.
        """
        if not prompt.strip():
            raise NothingToDo
        name = agent or next(iter(self.agents))
        if name not in self.agents:
            known = ", ".join(self.agents)
            raise ConfigError(f"There is no agent named {name}. There are: {known}.")
        started = RunStarted(
            agent=name,
            session=session or SessionId(self._ids.new("ses")),
            prompt=prompt,
            requester=requester,
            channel=channel,
            place=place,
        )
        run_id = RunId(self._ids.new("run"))
        key = None if key is None else whole_text(key)
        begun = await self.store.journal.start(run_id, self._stamp(started), key=key)
        if key is not None and begun != run_id:
            there = await self.state(begun)
            if (there.prompt, there.agent) != (prompt, name):
                raise KeyReused(key, begun)
        run_id = begun
        if wait:
            await self._working.settle(run_id)
        return run_id

    async def decide(
        self,
        approval_id: ApprovalId,
        decision: Decision,
        decider: Decider,
        *,
        wait: bool = False,
    ) -> RunState:
        """Take a decision; the state after it. The first one wins, whoever makes it and wherever.

        A yes that is not enough yet is counted, and the approval stays open. ``wait`` as for
        ``start``. A refusal goes into the control journal. Raises ``NotFound``, one of
        ``DecisionRefused``, or ``StoreUnavailable`` (then nothing was decided).
        """
        taken = await self._deciding.take(approval_id, decision, decider)
        return await self._working.settle(taken.after.run_id) if wait else taken.after

    async def decide_stream(
        self, approval_id: ApprovalId, decision: Decision, decider: Decider
    ) -> AsyncGenerator[Recorded]:
        """Take a decision when the first event is asked for, and give the run's events from it on,
        until the run has ended or waits for people; it is worked here if nobody else does.

        Raises as ``decide`` does, and ``Blocked``."""
        taken = await self._deciding.take(approval_id, decision, decider)
        async with aclosing(self._working.to_pause(taken.after.run_id)) as events:
            async for recorded, _ in events:
                if recorded.seq > taken.before.seq:
                    yield recorded

    async def record_refusal(
        self, run_id: RunId, decision: Decision, decider: Decider, refused: DecisionRefused
    ) -> None:
        """Take down a decision that was refused before it came to ``decide``, because nobody could say
        who its decider is. What ``decide`` refuses is recorded already."""
        await record_refusal(self.store, run_id, decision, decider, refused)

    async def state(self, run_id: RunId) -> RunState:
        """Raises ``NotFound``, ``CorruptJournal``, ``UnknownEvent``."""
        return fold(await self.store.journal.read(run_id))

    async def approval(self, approval_id: ApprovalId) -> tuple[Approval, RunState]:
        """An approval and its run. Raises ``NotFound``."""
        state = await find_asker(self.store, approval_id)
        return state.approvals[approval_id], state

    async def approvals(
        self, *, limit: int = 50, pending_only: bool = True
    ) -> list[tuple[Approval, RunState]]:
        """Oldest first. One whose run can't be read is left out, and named in the log."""
        rows = await self.store.lists.approvals(limit=limit, pending_only=pending_only)
        states = await self._readable(row.run_id for row in rows)
        return [
            (states[row.run_id].approvals[row.approval_id], states[row.run_id])
            for row in rows
            if row.run_id in states and row.approval_id in states[row.run_id].approvals
        ]

    async def runs(self, *, limit: int = 20, requester: Principal | None = None) -> list[RunState]:
        """Newest first; only ``requester``'s, where given. One that can't be read is left out, and
        named in the log."""
        rows = await self.store.lists.runs(limit=limit, requester=requester)
        return list((await self._readable(row.run_id for row in rows)).values())

    async def unfinished(self, *, limit: int = 1_000) -> list[RunState]:
        """The runs that have not ended, newest first. One that can't be read is left out, and named in
        the log."""
        rows = await self.store.lists.runs(limit=limit, active_only=True)
        return list((await self._readable(row.run_id for row in rows)).values())

    async def receipt(self, operation_id: OperationId) -> KnownEffect:
        """What is known of this operation's effect. Raises ``NotFound``."""
        run_id = await self.store.lists.run_of_operation(operation_id)
        known = None if run_id is None else effect_of(await self.state(run_id), operation_id)
        if known is None:
            raise NotFound("operation", operation_id)
        return known

    def stream(self, run_id: RunId, after: int = 0) -> AsyncIterator[Recorded]:
        """The run's events behind ``after``, live, up to its end. Raises ``NotFound``."""
        return follow(self.store, run_id, after)

    def work_to_pause(self, run_id: RunId) -> AsyncGenerator[tuple[Recorded, RunState]]:
        """All events of the run, each with the state after it, until it has ended or waits for people;
        it is worked here while nobody else does. Close it in the end.

        Raises ``NotFound``, and ``Blocked`` when neither this process nor any live one can take it
        on."""
        return self._working.to_pause(run_id)

    async def settle(self, run_id: RunId) -> RunState:
        """Wait until the run has ended or waits for people; work it here if nobody else does.

        Raises as ``work_to_pause`` does."""
        return await self._working.settle(run_id)

    async def resume(self, run_id: RunId, *, wait: bool = False) -> RunState | None:
        """Try a blocked or unfinished run again, here and now, until it suspends or ends; ``wait`` as
        for ``start``. None when nothing was to do: it has ended, waits for people (or, without
        ``wait``, for a time), or somebody alive works it.

        Raises ``NotFound``, and ``Blocked`` when this process can't take it on."""
        return await self._working.resume(run_id, wait=wait)

    async def recover(self) -> list[RunId]:
        """Take up every run that is due and that nobody alive holds, and work it here until it
        suspends or ends; which these were. Any number of processes may do this at once."""
        return await self._working.recover()

    async def mend(self) -> list[RunId]:
        """Put right what was lost or changed of grants, switches and limits, and beside the journals of
        runs that wait; which runs these were. For a process that works runs, when it begins: whoever takes a run up mends that one."""
        return await mend_all(self.store)

    async def verify(self, run_id: RunId | None = None, anchor: Anchor | None = None) -> Verified:
        """Check that each fact of this run, or of all runs and of the control journal, is what was
        written; with ``anchor``, also that they hold what they held when it was taken.

        Raises ``NotFound``."""
        return await verify(self.store.verifier, run_id, anchor)

    async def retry(self, run_id: RunId, by: Principal, *, wait: bool = False) -> RunState:
        """Have a failed run go on from where it failed; the state after that. ``wait`` as for
        ``start``.

        Raises ``NotFound``, ``NotFailed``, and ``SessionBusy`` while its session has another active
        run."""
        conflicted_at = 0
        while True:
            state = await self.state(run_id)
            if state.ending != "failed":
                raise NotFailed(run_id, status_of(state, self.store.clock.now()))
            if state.seq == conflicted_at:
                raise CorruptJournal(run_id, state.seq, "its row contradicts it")
            try:
                recorded = await self.store.journal.intend(
                    run_id, [self._stamp(RunReopened(by=by))], expected_seq=state.seq
                )
            except SeqConflict:
                conflicted_at = state.seq
                continue  # Somebody was faster: at this, or with word of an effect.
            return await self.settle(run_id) if wait else fold(recorded, state)

    async def record_policy(self, build: str) -> None:
        """Take down, in the control journal, which policy holds for each agent from now on, where it
        is another than before. For a process that works runs, when it begins; ``build`` names it."""
        await record_policies(self.store, self.agents, build)

    async def blocked(self, state: RunState) -> dict[str, str] | None:
        """Why nobody takes the run on (``code``, ``message``, ``fix``): no live process that works its
        agent's runs can, and neither could this one where there is none. None where somebody can."""
        return await why_blocked(self.store, self.agents, state)

    async def is_worked(self, state: RunState) -> bool:
        """Is there a live process that can take this run on?"""
        return await is_worked(self.store, state)

    def process(self, process_id: str, *, draws: bool) -> Process:
        """How others see a process that works runs of these agents: to join with, beside a worker."""
        return process_of(self.agents, process_id, self._build, does_work=True, draws=draws)

    def worker(
        self,
        *,
        process_id: str | None = None,
        concurrency: int = 50,
        term: timedelta | None = None,
    ) -> Worker:
        """What works runs of these agents; ``run`` it until ``stop``."""
        holder = process_id or self._ids.new("proc")
        term = term or self._term
        return Worker(self._engine, process_id=holder, concurrency=concurrency, term=term)

    async def _readable(self, run_ids: Iterable[RunId]) -> dict[RunId, RunState]:
        """One journal that can't be read hides no other."""
        states: dict[RunId, RunState] = {}
        for run_id in dict.fromkeys(run_ids):
            try:
                states[run_id] = await self.state(run_id)
            except (CorruptJournal, UnknownEvent) as error:
                log.warning("%s is left out: %s", run_id, error)
        return states

    def _stamp(self, event: Event) -> Stamped:
        return Stamped(EventId(self._ids.event()), self.store.clock.now(), event)
