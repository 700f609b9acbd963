"""The facts of all runs: begun, appended, read, checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, insert, select

from agent.errors import NotFound, SessionBusy, Unstorable, Untimely
from agent.ports import NewestRun, StartsLimit, ThreadMessage
from agent.rules.control import StampedControl
from agent.rules.events import CallStarted, Event, RunStarted
from agent.rules.ids import RunId
from agent.rules.recorded import Recorded, Stamped
from store import threads
from store.appends import (
    Append,
    append,
    insert_facts,
    project,
    rests_on,
)
from store.bodies import Fact, write_body, write_control_body
from store.chain import BEGINNING
from store.clock import StoreClock
from store.control import append_facts, change_them
from store.keys import Keys
from store.late_keys import bring_along_if_late
from store.limits import may_move_sums
from store.now import NOW
from store.openings import end_opening
from store.plain import chain_up
from store.queued import LAST
from store.reader import Reader
from store.reading import read_facts
from store.schema import journal, runs
from store.sessions import must_be_as_seen, must_be_free
from store.starts import must_be_below, take_turn
from store.together import Appending, plainly
from store.verdicts import change_verdicts, keep_verdicts
from store.wakeups import stir
from store.writer import Writer, of_start

_BY_KEY = select(runs.c.run_id).where(runs.c.key == bindparam("of_key"))
_BY_FIRST_EVENT = select(journal.c.run_id).where(
    journal.c.event_id == bindparam("first_event"), journal.c.seq == 1
)
_INSERT_RUN = insert(runs).values(wake_at=NOW, updated_at=NOW)


class SqlJournal:
    """The ``Journal`` port. ``moved`` is called after each append of this process; whether it draws
    threads says ``is_drawn_here``."""

    def __init__(
        self,
        writer: Writer,
        reader: Reader,
        clock: StoreClock,
        moved: Callable[[], None],
        is_drawn_here: Callable[[], bool],
        keys: Keys,
    ) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock
        self._moved = moved
        self._is_drawn_here = is_drawn_here
        self._keys = keys

    async def start(
        self,
        run_id: RunId,
        started: Stamped,
        *,
        key: str | None = None,
        behind: Sequence[Stamped] = (),
        newest: NewestRun | None = None,
        root: ThreadMessage | None = None,
        limit: StartsLimit | None = None,
    ) -> RunId:
        facts = [write_body(one, self._keys) for one in (started, *behind)]
        begun = await self._writer.run_until_known(
            lambda c: _start(c, run_id, facts, key, newest, root, limit, self._clock.told()),
            of=of_start(key or run_id),
        )
        self._moved()
        return begun

    async def read(self, run_id: RunId, after: int = 0) -> list[Recorded]:
        try:
            return await self._reader.run(lambda c: read_facts(c, run_id, self._keys, after))
        except Unstorable as error:
            raise NotFound("run", run_id) from error

    async def intend(
        self,
        run_id: RunId,
        events: Sequence[Stamped],
        *,
        expected_seq: int,
        fence: int | None = None,
        control: Sequence[StampedControl] = (),
        redraws: str | None = None,
        verdict_seq: int | None = None,
    ) -> list[Recorded]:
        return await self._append(
            run_id, events, expected_seq, fence, control, redraws, verdict_seq
        )

    async def record(
        self, run_id: RunId, events: Sequence[Stamped], *, fence: int
    ) -> list[Recorded]:
        return await self._append(run_id, events, None, fence)

    async def _append(
        self,
        run_id: RunId,
        events: Sequence[Stamped],
        expected_seq: int | None,
        fence: int | None,
        control: Sequence[StampedControl] = (),
        redraws: str | None = None,
        verdict_seq: int | None = None,
    ) -> list[Recorded]:
        facts = tuple([write_body(one, self._keys) for one in events])
        if verdict_seq is not None and not any(isinstance(f.event, CallStarted) for f in facts):
            verdict_seq = None
        wanted = Append(
            run_id, facts, expected_seq, fence, self._is_drawn_here(), redraws, verdict_seq
        )
        beside = [write_control_body(one, self._keys) for one in control]

        def work(connection: Connection) -> list[Recorded]:
            if change_them(beside):
                change_verdicts(connection)
            elif verdict_seq is not None:
                keep_verdicts(connection)
            try:
                appended = append(connection, wanted, self._clock.told())
            except Untimely:
                # Whoever asked took it for another time; from now on they know better.
                self._clock.measure(connection)
                raise
            if beside:
                append_facts(connection, beside)
            return appended

        takes_others = bool(beside) or _takes_others(facts)
        recorded = await self._writer.append(
            Appending(run_id, work, None if beside else plainly(wanted, self._clock.told)),
            of=LAST if takes_others else run_id,
            behind=None if verdict_seq is None else keep_verdicts,
        )
        self._moved()
        return recorded


def _takes_others(facts: Sequence[Fact[Event]]) -> bool:
    """Does it lock rows that other runs use too?"""
    return any(may_move_sums((fact.event,)) or rests_on(fact.event) for fact in facts)


def _start(
    connection: Connection,
    run_id: RunId,
    facts: Sequence[Fact[Event]],
    key: str | None,
    newest: NewestRun | None,
    root: ThreadMessage | None,
    limit: StartsLimit | None,
    now: datetime | None,
) -> RunId:
    """Begin the run, or find the one that this start or an equal one has begun."""
    fact, started = facts[0], facts[0].event
    assert isinstance(started, RunStarted), "a run begins with run_started"
    if limit is not None:
        # First of all: nobody is waited for by whoever waits here.
        take_turn(connection, started, now)
    if known := _find_begun(connection, fact, key):
        return known
    try:
        must_be_free(connection, started.session)
    except SessionBusy:
        # An equal start may have been committed since the look: then its run is what keeps it busy.
        if known := _find_begun(connection, fact, key):
            return known
        raise
    if limit is not None:
        must_be_below(connection, started.requester, started.agent, limit, now)
    if newest is not None:
        must_be_as_seen(connection, started.session, newest)
    if root is not None:
        end_opening(connection, run_id)
    recorded = chain_up(run_id, 0, BEGINNING, facts)
    connection.execute(
        _INSERT_RUN,
        {
            "run_id": run_id,
            "agent": started.agent,
            "session": started.session,
            "requester": started.requester,
            "key": key,
            "status": "active",
            "head_seq": recorded[-1].seq,
            "head_hash": recorded[-1].hash,
            "now": now,
            "fence": 0,
            "started_at": fact.at,
            "format": max(one.event.form for one in recorded),
        },
    )
    insert_facts(connection, facts, recorded)
    bring_along_if_late(connection, fact.keys)
    project(connection, recorded, now)
    if started.place is not None:
        threads.open_thread(connection, run_id, recorded[-1].seq, now, root)
    stir(connection)
    return run_id


def _find_begun(connection: Connection, fact: Fact[Event], key: str | None) -> RunId | None:
    if key is not None:
        found = connection.execute(_BY_KEY, {"of_key": key}).scalar()
    else:
        found = connection.execute(_BY_FIRST_EVENT, {"first_event": fact.id}).scalar()
    return None if found is None else RunId(found)
