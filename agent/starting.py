"""How a run begins: by somebody's words, or where another run had come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agent.engine.agents import Agent
from agent.errors import ConfigError, KeyReused, NothingToDo
from agent.ports import Ids, Store
from agent.rules.events import Event, RunStarted
from agent.rules.fold import fold
from agent.rules.forking import fork
from agent.rules.ids import Principal, RunId, SessionId
from agent.rules.interventions import MessageReceived
from agent.rules.json_text import whole_text
from agent.rules.recorded import Stamped
from agent.rules.state import RunState


@dataclass(frozen=True, slots=True)
class Starting:
    """Begins runs of ``agents`` on one store."""

    store: Store
    agents: Mapping[str, Agent]
    ids: Ids
    stamp: Callable[[Event], Stamped]

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
        said: Sequence[MessageReceived] = (),
    ) -> RunId:
        """The run that this begins, or that ``key`` began before; ``said`` is said to it at once. Raises
        ``SessionBusy``, ``KeyReused``, ``ConfigError``, ``NothingToDo``."""
        if not prompt.strip():
            raise NothingToDo
        name = agent or next(iter(self.agents))
        if name not in self.agents:
            known = ", ".join(self.agents)
            raise ConfigError(f"There is no agent named {name}. There are: {known}.")
        started = RunStarted(
            agent=name,
            session=session or SessionId(self.ids.new("ses")),
            prompt=prompt,
            requester=requester,
            channel=channel,
            place=place,
        )
        run_id = RunId(self.ids.new("run"))
        key = None if key is None else whole_text(key)
        behind = [self.stamp(event) for event in said]
        begun = await self.store.journal.start(run_id, self.stamp(started), key=key, behind=behind)
        if key is not None and begun != run_id:
            there = fold(await self.store.journal.read(begun))
            if (there.prompt, there.agent) != (prompt, name):
                raise KeyReused(key, begun)
        return begun

    async def start_next(
        self, ended: RunState, by: Principal, words: str, *, key: str | None
    ) -> RunId:
        """The next run of the same conversation, with the same agent. It is told as well what the run
        before it had been told and failed over before its model heard it. Raises as ``start`` does."""
        return await self.start(
            words,
            requester=by,
            agent=ended.agent,
            session=ended.session,
            key=key,
            channel=ended.channel,
            place=ended.place,
            said=await self._left_unheard(ended.session),
        )

    async def _left_unheard(self, session: SessionId) -> Sequence[MessageReceived]:
        """Of the newest run alone: what an older one left, the next one was told."""
        for row in await self.store.lists.runs_of_session(session, limit=1):
            if row.status == "failed":
                state = fold(await self.store.journal.read(row.run_id))
                return [
                    MessageReceived(by=one.by, text=one.text, ref=one.ref) for one in state.unseen
                ]
        return ()

    async def fork(self, run_id: RunId, at: int, by: Principal, text: str | None) -> RunId:
        """A new run for the same requester, in a session of its own, that begins where the other had come
        to at ``at``; ``text`` is said to it then by ``by``. Raises ``NotFound``, ``NoBoundary``, ``NothingToDo``."""
        if text is not None and not text.strip():
            raise NothingToDo
        state, taken = fork(await self.store.journal.read(run_id), at, by, self.ids.new)
        said = () if text is None else (MessageReceived(by=by, text=text),)
        started = RunStarted(
            agent=state.agent,
            session=SessionId(self.ids.new("ses")),
            prompt=state.prompt,
            requester=state.requester,
            channel=state.channel,
        )
        return await self.store.journal.start(
            RunId(self.ids.new("run")),
            self.stamp(started),
            behind=[self.stamp(event) for event in (*taken, *said)],
        )
