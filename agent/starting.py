"""How a run begins: by somebody's words, or where another run had come to."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from agent.engine.agents import Agent, name_of
from agent.errors import (
    ConfigError,
    CorruptJournal,
    KeyReused,
    NothingToDo,
    SeqConflict,
    UnknownEvent,
)
from agent.mending import has_no_words, must_have_payloads, read_state
from agent.ports import Ids, NewestRun, RunRow, StartsLimit, Store, ThreadMessage
from agent.rules.continuing import go_on_from
from agent.rules.events import Event, RunStarted
from agent.rules.forking import fork
from agent.rules.given import fitting_files, fitting_quotes
from agent.rules.ids import Principal, RunId, SessionId
from agent.rules.interventions import MessageReceived, SessionContinued
from agent.rules.json_text import whole_text
from agent.rules.parts import GivenFile, Quoted, Words
from agent.rules.recorded import Stamped
from agent.rules.state import RunState
from agent.rules.words import MESSAGE_LIMIT, must_fit

log = logging.getLogger(__name__)

#: So many of a session's newest runs are tried where they can't be read.
LOOK_BACK = 5


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
        run_id: RunId | None = None,
        root: ThreadMessage | None = None,
        ref: str | None = None,
        quoted: Sequence[Quoted] = (),
        files: Sequence[GivenFile] = (),
        as_of: datetime | None = None,
    ) -> RunId:
        """The run that this begins, or that ``key`` began before. Where the ``session`` had runs, it goes on
        with what these said and did, and with their agent unless one is named. ``run_id`` and ``root`` where its
        thread was opened before (``Openings``). Raises ``OpeningGivenUp``, ``SessionBusy``, ``KeyReused``,
        ``ConfigError``, ``NothingToDo``, ``TooLong``, ``TooManyStarts``."""
        if not prompt.strip():
            raise NothingToDo
        must_fit(prompt, MESSAGE_LIMIT)
        agent = agent or await self._agent_of(session)
        name = name_of(self.agents, agent) if agent else next(iter(self.agents))
        if name is None:
            known = ", ".join(self.agents)
            raise ConfigError(f"There is no agent named {agent}. There are: {known}.")
        started = RunStarted(
            agent=name,
            session=session or SessionId(self.ids.new("ses")),
            prompt=prompt,
            requester=requester,
            channel=channel,
            place=place,
            ref=ref,
            quoted=fitting_quotes(quoted),
            files=fitting_files(files),
            dry_run=self.agents[name].dry_run,
            as_of=as_of,
        )
        run_id = run_id or self.new_run_id()
        key = None if key is None else whole_text(key)
        begun = await self._begin(run_id, started, key, root)
        if key is not None and begun != run_id:
            there = await read_state(self.store, begun)
            is_as_it_was = there.ref is None or there.ref not in there.edited | there.deleted
            is_known = is_as_it_was and not await self._are_words_gone(begun)
            has_others = is_known and there.prompt != whole_text(prompt)
            if has_others or there.agent != name:
                raise KeyReused(key, begun)
        return begun

    async def _are_words_gone(self, run_id: RunId) -> bool:
        row = await self.store.lists.run(run_id)
        return row is not None and has_no_words(row)

    async def _agent_of(self, session: SessionId | None) -> str | None:
        """Whose conversation it is by now; None: nobody's yet."""
        rows = await self.store.lists.runs_of_session(session, limit=1) if session else ()
        return rows[0].agent if rows else None

    async def start_next(
        self,
        ended: RunState,
        by: Principal,
        words: Words,
        *,
        key: str | None,
        ref: str | None = None,
        place: str | None = None,
    ) -> RunId:
        """The next run of the same conversation, with the same agent, at ``place`` or where the one before was.
        Raises as ``start`` does."""
        return await self.start(
            words.text,
            requester=by,
            agent=ended.agent,
            session=ended.session,
            key=key,
            channel=ended.channel,
            place=place or ended.place,
            ref=ref,
            quoted=words.quoted,
            files=words.files,
            as_of=words.as_of,
        )

    def new_run_id(self) -> RunId:
        """The id of a run that is about to begin."""
        return RunId(self.ids.new("run"))

    async def _begin(
        self, run_id: RunId, started: RunStarted, key: str | None, root: ThreadMessage | None
    ) -> RunId:
        """Begin it behind what its session has come to, and look again whenever that has moved meanwhile:
        what was said and done in between would be forgotten, or handed on twice."""
        first, limit = self.stamp(started), self._limit_of(started)
        while True:
            rows = await self.store.lists.runs_of_session(started.session, limit=LOOK_BACK)
            newest = NewestRun(rows[0].run_id, rows[0].head_seq) if rows else NewestRun()
            behind = [self.stamp(event) for event in await self._from_before(rows)]
            with suppress(SeqConflict):
                return await self.store.journal.start(
                    run_id, first, key=key, behind=behind, newest=newest, root=root, limit=limit
                )

    def _limit_of(self, started: RunStarted) -> StartsLimit | None:
        """How many such runs its requester may start; whoever holds the database may start any number."""
        if started.requester.startswith("cli:"):
            return None
        return self.agents[started.agent].starts_limit

    async def _from_before(self, rows: Sequence[RunRow]) -> Sequence[Event]:
        """What the newest of a session's runs that can be read here hands on to the next one."""
        if not rows or rows[0].status == "active":
            return ()
        for unreadable, row in enumerate(rows):
            if has_no_words(row):
                continue  # Nobody knows any more what was said.
            try:
                ended = await read_state(self.store, row.run_id)
            except (CorruptJournal, UnknownEvent) as error:
                log.warning("nothing of %s is handed on: %s", row.run_id, error)
            else:
                return go_on_from(ended, unreadable)
        return (SessionContinued(of_run=rows[0].run_id, unreadable=len(rows)),)

    async def fork(self, run_id: RunId, at: int, by: Principal, text: str | None) -> RunId:
        """A new run for the same requester, in a session of its own, that begins where the other had come
        to at ``at``; ``text`` is said to it then by ``by``. Raises ``NotFound``, ``NoBoundary``, ``NothingToDo``,
        ``TooLong``, ``PayloadsRemoved``."""
        if text is not None:
            if not text.strip():
                raise NothingToDo
            must_fit(text, MESSAGE_LIMIT)
        await must_have_payloads(self.store, run_id)
        state, taken = fork(await self.store.journal.read(run_id), at, by, self.ids.new)
        said = () if text is None else (MessageReceived(by=by, text=text),)
        agent = self.agents.get(state.agent)
        started = RunStarted(
            agent=state.agent,
            session=SessionId(self.ids.new("ses")),
            prompt=state.prompt,
            requester=state.requester,
            channel=state.channel,
            quoted=state.quoted,
            files=state.files,
            dry_run=state.is_dry_run or (agent is not None and agent.dry_run),
        )
        return await self.store.journal.start(
            self.new_run_id(),
            self.stamp(started),
            behind=[self.stamp(event) for event in (*taken, *said)],
        )
