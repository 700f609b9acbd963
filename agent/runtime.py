"""The façade: everything that can be done with runs, without Slack and without SQL."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import timedelta

from pydantic import JsonValue

from agent.engine.advance import Engine
from agent.engine.agents import Agent
from agent.engine.follow import follow
from agent.engine.helping import HelpingHand, is_worked
from agent.engine.new_ids import UuidIds
from agent.engine.worker import Worker
from agent.errors import (
    Blocked,
    ConfigError,
    CorruptJournal,
    KeyReused,
    NotFound,
    SeqConflict,
    UnknownEvent,
)
from agent.ports import Ids, Store
from agent.rules.decisions import Decider, Decision, decide
from agent.rules.events import Event, Recorded, RunStarted, Stamped
from agent.rules.fold import fold
from agent.rules.ids import ApprovalId, EventId, Principal, RunId, SessionId
from agent.rules.judgement import Judgement
from agent.rules.state import Approval, RunState
from agent.rules.steps import Done, Suspend, next_step

log = logging.getLogger(__name__)

TERM = timedelta(seconds=30)
DRAIN = timedelta(seconds=60)


class Runtime:
    """Runs of ``agents`` on one store. Any number of these, in any number of processes, may share it.

    A runtime starts, decides and reads; a ``worker`` does the work. Raises ``ConfigError`` when two
    agents have one name, or there is none.
    """

    def __init__(self, agents: Iterable[Agent], store: Store, *, ids: Ids | None = None) -> None:
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
        other words, ``ConfigError`` for an unknown agent.
        """
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
        begun = await self.store.journal.start(run_id, self._stamp(started), key=key)
        if key is not None and begun != run_id:
            there = await self.state(begun)
            if (there.prompt, there.agent) != (prompt, name):
                raise KeyReused(key, begun)
        run_id = begun
        if wait:
            await self.settle(run_id)
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

        ``wait`` as for ``start``. Raises ``NotFound``, one of ``DecisionRefused``, or
        ``StoreUnavailable`` (then nothing was decided).
        """
        row = await self.store.lists.approval(approval_id)
        if row is None:
            raise NotFound("approval", approval_id)
        conflicted_at = 0
        while True:
            state = await self.state(row.run_id)
            events = self._events_of(state, approval_id, decision, decider)
            if state.seq == conflicted_at:
                raise CorruptJournal(
                    state.run_id, state.seq, "its list of approvals contradicts it"
                )
            stamped = [self._stamp(event) for event in events]
            try:
                recorded = await self.store.journal.intend(
                    state.run_id, stamped, expected_seq=state.seq
                )
            except SeqConflict:
                conflicted_at = state.seq
                continue  # Somebody was faster at something: look at what it is.
            after = fold(recorded, state)
            return await self.settle(state.run_id) if wait else after

    async def state(self, run_id: RunId) -> RunState:
        """Raises ``NotFound``, ``CorruptJournal``, ``UnknownEvent``."""
        return fold(await self.store.journal.read(run_id))

    async def approval(self, approval_id: ApprovalId) -> tuple[Approval, RunState]:
        """An approval and its run. Raises ``NotFound``."""
        row = await self.store.lists.approval(approval_id)
        if row is None:
            raise NotFound("approval", approval_id)
        state = await self.state(row.run_id)
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

    def stream(self, run_id: RunId, after: int = 0) -> AsyncIterator[Recorded]:
        """The run's events behind ``after``, live, up to its end. Raises ``NotFound``."""
        return follow(self.store, run_id, after)

    def blocked(self, state: RunState) -> dict[str, str] | None:
        """Why this process could not take the run on (``code``, ``message``, ``fix``), or None."""
        if state.is_ended:
            return None
        agent = self.agents.get(state.agent)
        if agent is None:
            return {
                "code": "missing_agent",
                "message": f"The agent {state.agent} is not configured.",
                "fix": "Put the agent back into pilothouse.yml; the run goes on by itself.",
            }
        for call in state.open_calls:
            if call.status != "proposed" and agent.toolbox.get(call.tool) is None:
                return {
                    "code": "missing_tool",
                    "message": f"{agent.name} has no tool {call.tool} any more.",
                    "fix": "Put the tool back; the run goes on by itself.",
                }
        return None

    def worker(
        self,
        *,
        process_id: str | None = None,
        concurrency: int = 50,
        term: timedelta = TERM,
    ) -> Worker:
        """What works runs of these agents; ``run`` it until ``stop``."""
        holder = process_id or self._ids.new("proc")
        return Worker(self._engine, process_id=holder, concurrency=concurrency, term=term)

    def helping_hand(
        self, *, term: timedelta = TERM, drain: timedelta = DRAIN, build: str = ""
    ) -> HelpingHand:
        """What works a run here while no live process can; ask it to ``help``, close it in the end."""
        return HelpingHand(self._engine, term=term, drain=drain, build=build)

    async def is_worked(self, agent: str) -> bool:
        """Is there a live process that works runs of this agent?"""
        return await is_worked(self.store, agent)

    async def settle(self, run_id: RunId, *, term: timedelta = TERM) -> RunState:
        """Wait until the run has ended or waits for a person; work it here if nobody else does.

        Raises ``Blocked`` when neither this process nor any live one can take it on."""
        hand = self.helping_hand(term=term)
        try:
            while True:
                moves = self.store.wakeups.moves
                state = await self.state(run_id)
                step = next_step(state, self.store.clock.now())
                if isinstance(step, Done) or step == Suspend("approvals"):
                    return state
                await hand.help(state.agent)
                blocked = self.blocked(state)
                if blocked and await hand.is_alone(state.agent):
                    raise Blocked(blocked["code"], blocked["message"])
                await self.store.wakeups.wait(moves, 1.0)
        finally:
            await hand.close()

    async def _readable(self, run_ids: Iterable[RunId]) -> dict[RunId, RunState]:
        """One journal that can't be read hides no other."""
        states: dict[RunId, RunState] = {}
        for run_id in dict.fromkeys(run_ids):
            try:
                states[run_id] = await self.state(run_id)
            except (CorruptJournal, UnknownEvent) as error:
                log.warning("%s is left out: %s", run_id, error)
        return states

    def _events_of(
        self, state: RunState, approval_id: ApprovalId, decision: Decision, decider: Decider
    ) -> tuple[Event, ...]:
        def judge(tool: str, args: Mapping[str, JsonValue]) -> Judgement:
            agent = self.agents.get(state.agent)
            if agent is None:
                raise ConfigError(
                    f"The agent {state.agent} is not configured here, so its calls can't be changed. "
                    "Nothing was decided."
                )
            return agent.judge(state, tool, args)

        return decide(
            state,
            approval_id,
            decision,
            decider,
            now=self.store.clock.now(),
            judge=judge,
            next_approval_id=ApprovalId(self._ids.new("apr")),
        )

    def _stamp(self, event: Event) -> Stamped:
        return Stamped(EventId(self._ids.event()), self.store.clock.now(), event)
