"""A database in which runs were worked for years: written from below, each a copy of one that the store wrote itself.

Nothing in it can be told from what a bot leaves: the chains hold, and so does what is kept beside the journals.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import asyncpg

from agent.ports import ThreadMessage
from agent.rules.anchors import CONTROL
from agent.rules.control import DecisionRefused, StampedControl
from agent.rules.events import CallStarted, Event, RunFinished
from agent.rules.ids import ApprovalId, CallId, EventId, RunId
from agent.rules.parts import Approvers
from agent.rules.reservations import Reservation
from benchmarks.store.appends import opened
from store import SqlStore
from store.chain import hash_fact
from store.instants import Instant, microseconds
from store.schema import metadata
from tests.store.database import ask, is_file, path_of
from tests.store.story import (
    BOB,
    begin,
    decided,
    judged,
    replied,
    requested,
    returned,
    stamps,
)

#: Between the beginnings of two runs: a million of them took a year.
APART = timedelta(seconds=30)
RUNS_A_DAY = timedelta(days=1) // APART
#: So many people asked for them, one after the other.
PEOPLE = 1_000
#: Of so many runs one decision was refused, which is a fact of the control journal.
RUNS_A_REFUSAL = 10
#: In what is copied: the number of the run, who asked for it, on which day.
_NUMBER, _ASKER, _DAY = "NUMBER", "ASKER", "DAY"
_ENDED, _WAITING = "run_old_NUMBER", "run_waits_NUMBER"
_LIMIT = "a day DAY"
_TERM = timedelta(minutes=1)
_AT_A_TIME = 5_000
#: Those that are referred to before those that refer to them.
_TABLES = (
    "runs",
    "journal",
    "operations",
    "reservations",
    "approvals",
    "awaited",
    "threads",
    "thread_messages",
)

Values = tuple[object, ...]
Rows = dict[str, list[Values]]


async def grow(url: str, *, ended: int, waiting: int) -> int:
    """Into a database that is empty or not there yet: so many runs that ended, the newest just now, each after Bob had
    allowed a call, and so many that wait for him or a group. How many facts there are of a run that ended."""
    async with opened(url) as store:
        await _write_one(store, _ENDED, ends=True)
        await _write_one(store, _WAITING, ends=False)
        now = store.clock.now()
    whole = {name: _Copied.of(url, name) for name in (_ENDED, _WAITING)}
    control = _control_rows(url, ended // RUNS_A_REFUSAL)
    writer = await _writer(url)
    try:
        for name, count in ((_ENDED, ended), (_WAITING, waiting)):
            for first in range(0, count, _AT_A_TIME):
                rows: Rows = {table: [] for table in _TABLES}
                for number in range(first, min(first + _AT_A_TIME, count)):
                    ago = (count - number) * APART
                    whole[name].copy(number, microseconds(ago), now - ago, rows)
                await writer.write(rows)
        await writer.write({"limits": list(_sums(ended)), "control_journal": control})
    finally:
        await writer.close()
    _forget_templates(url)
    if control:
        seq, _, _, hash, *_ = control[-1]
        ask(url, "UPDATE control_head SET head_seq = ?, head_hash = ?", seq, hash)
    ask(url, "ANALYZE")
    return len(whole[_ENDED].facts)


async def _write_one(store: SqlStore, name: str, *, ends: bool) -> None:
    """A whole life of a run, or up to where it waits."""
    apr, call = name.replace("run_", "apr_"), name.replace("run_", "call_")
    asks = requested(apr, call).model_copy(
        update={"approvers": Approvers(users=("UBOB",), groups=("S1",))}
    )
    run_id = await begin(
        store.journal,
        store.clock,
        name,
        requester=f"slack:T1:{_ASKER}",
        place=f"slack:T1/C1/1.{_NUMBER}",
        key=f"key_{name}",
    )
    await _intend(store, run_id, 1, replied(call), judged(call), asks)
    if ends:
        await _intend(store, run_id, 4, decided(apr))
        (lease,) = await store.run_leases.claim("history", _TERM, 1)
        started = CallStarted(
            call_id=CallId(call),
            attempt=1,
            deadline=store.clock.now() + _TERM,
            reserves=(Reservation(limit=_LIMIT, amount=Decimal(180), max=Decimal(10**9)),),
        )
        answer = "Refunded $180.00."
        told: list[Event] = [
            started,
            returned(call),
            replied(asked_at=7, text=answer),
            RunFinished(answer=answer),
        ]
        for event in told:
            await store.journal.record(run_id, stamps(store.clock, event), fence=lease.fence)
    else:
        (lease,) = await store.run_leases.claim("history", _TERM, 1)
        await store.run_leases.suspend(lease, seen_seq=4, until=None)
    (thread,) = await store.thread_leases.claim("history", _TERM, 1)
    for key in ("status", apr):
        message = ThreadMessage(key, "posted", f"C1/1.{_NUMBER}{key}", "0" * 64, store.clock.now())
        await store.threads.save(thread, message)
    seen = 9 if ends else 4
    await store.thread_leases.suspend(thread, seen_seq=seen, until=None)
    if ends:
        refused = DecisionRefused(
            run_id=run_id,
            approval_id=ApprovalId(apr),
            action="approve",
            by=BOB,
            code="already_decided",
            message="It was decided already.",
        )
        await store.control.record(
            [StampedControl(EventId("evt_refused"), store.clock.now(), refused)]
        )


async def _intend(store: SqlStore, run_id: RunId, seq: int, *events: Event) -> None:
    await store.journal.intend(run_id, stamps(store.clock, *events), expected_seq=seq)


@dataclass(frozen=True, slots=True)
class _Fact:
    """What a fact's body says behind its id and its time, and how long before now that was, in microseconds."""

    at: int
    rest: str


@dataclass(frozen=True, slots=True)
class _Copied:
    """A run that the store wrote, ready to be copied."""

    name: str
    facts: Sequence[_Fact]
    rows: Mapping[str, Sequence[Values]]

    @classmethod
    def of(cls, url: str, name: str) -> _Copied:
        found = ask(url, "SELECT at, body FROM journal WHERE run_id = ? ORDER BY seq", name)
        facts = [_Fact(at, _behind_time(body)) for at, body in found]
        rows = {table: _rows_of(url, table, name) for table in _TABLES if table != "journal"}
        return cls(name, facts, rows)

    def copy(self, number: int, ago: int, at: datetime, into: Rows) -> None:
        """``ago``: so many microseconds earlier."""
        words = {
            _NUMBER: f"{number:08}",
            _ASKER: f"U{number % PEOPLE}",
            _DAY: str(number // RUNS_A_DAY),
        }
        run_id, previous = _say(self.name, words), ""
        for seq, fact in enumerate(self.facts, 1):
            event_id, moment = f"evt_{run_id}_{seq}", fact.at - ago
            body = f'{{"id":"{event_id}","at":"{_show(moment)}"{_say(fact.rest, words)}'
            previous = hash_fact(previous, run_id, seq, event_id, body)
            into["journal"].append((run_id, seq, event_id, moment, previous, body, None))
        for table, rows in self.rows.items():
            moments = _moments(table)
            head = _HEAD_HASH if table == "runs" else None
            for row in rows:
                into[table].append(
                    tuple(
                        previous
                        if index == head
                        else _say(value, words)
                        if isinstance(value, str)
                        else value - ago
                        if index in moments and isinstance(value, int)
                        else value
                        for index, value in enumerate(row)
                    )
                )


def _columns(table: str) -> list[str]:
    return [column.name for column in metadata.tables[table].columns]


_HEAD_HASH = _columns("runs").index("head_hash")
_MOMENTS = {
    name: frozenset(n for n, one in enumerate(table.columns) if isinstance(one.type, Instant))
    for name, table in metadata.tables.items()
}


def _moments(table: str) -> frozenset[int]:
    return _MOMENTS[table]


def _rows_of(url: str, table: str, run_id: str) -> list[Values]:
    where = "run_id = ?"
    if table == "awaited":
        where = "approval_id IN (SELECT approval_id FROM approvals WHERE run_id = ?)"
    columns = ", ".join(f'"{one}"' for one in _columns(table))
    return [tuple(row) for row in ask(url, f"SELECT {columns} FROM {table} WHERE {where}", run_id)]


def _control_rows(url: str, count: int) -> list[Values]:
    """So many more refusals, behind the newest fact."""
    ((seq, previous, at, body),) = ask(
        url, "SELECT seq, hash, at, body FROM control_journal ORDER BY seq DESC LIMIT 1"
    )
    rest, rows = _behind_time(body), list[Values]()
    for number in range(count):
        seq += 1
        event_id = f"evt_refused_{number:08}"
        words = {_NUMBER: f"{number * RUNS_A_REFUSAL:08}"}
        text = f'{{"id":"{event_id}","at":"{_show(at)}"{_say(rest, words)}'
        previous = hash_fact(previous, CONTROL, seq, event_id, text)
        rows.append((seq, event_id, at, previous, text, None, None, None, None))
    return rows


def _sums(ended: int) -> Iterator[Values]:
    for day in range((ended + RUNS_A_DAY - 1) // RUNS_A_DAY):
        runs = min(RUNS_A_DAY, ended - day * RUNS_A_DAY)
        yield _say(_LIMIT, {_DAY: str(day)}), str(180 * runs)


def _forget_templates(url: str) -> None:
    """Only copies are left."""
    for name in (_ENDED, _WAITING):
        ask(
            url,
            "DELETE FROM awaited WHERE approval_id IN"
            " (SELECT approval_id FROM approvals WHERE run_id = ?)",
            name,
        )
        for table in ("thread_messages", "threads", *reversed(_TABLES[:5])):
            ask(url, f"DELETE FROM {table} WHERE run_id = ?", name)
    ask(url, "DELETE FROM limits WHERE limit_key = ?", _LIMIT)


def _say(text: str, words: Mapping[str, str]) -> str:
    for token, word in words.items():
        if token in text:
            text = text.replace(token, word)
    return text


def _behind_time(body: str) -> str:
    """Of a fact's body."""
    end = body.index('"at":"') + len('"at":"')
    return body[body.index('"', end) + 1 :]


def _show(moment: int) -> str:
    """As a body says it."""
    seconds, micro = divmod(moment, 1_000_000)
    at = datetime.fromtimestamp(seconds, UTC).replace(microsecond=micro)
    return at.isoformat().replace("+00:00", "Z")


class _File:
    """Writes rows into a file. What it writes need not outlive a power failure."""

    def __init__(self, url: str) -> None:
        self._file = sqlite3.connect(path_of(url), isolation_level=None)
        self._file.execute("PRAGMA synchronous = OFF")

    async def write(self, rows: Mapping[str, Sequence[Values]]) -> None:
        self._file.execute("BEGIN IMMEDIATE")
        for table, values in rows.items():
            columns = _columns(table)
            names, marks = ", ".join(f'"{one}"' for one in columns), ", ".join("?" * len(columns))
            self._file.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)
        self._file.execute("COMMIT")

    async def close(self) -> None:
        self._file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._file.close()


class _Server:
    """The same on a server."""

    def __init__(self, server: asyncpg.Connection) -> None:
        self._server = server

    async def write(self, rows: Mapping[str, Sequence[Values]]) -> None:
        async with self._server.transaction():
            for table, values in rows.items():
                await self._server.copy_records_to_table(
                    table, records=values, columns=_columns(table)
                )

    async def close(self) -> None:
        await self._server.close()


async def _writer(url: str) -> _File | _Server:
    if is_file(url):
        return _File(url)
    server = await asyncpg.connect(url)
    # What is copied fits together: nothing that it refers to is looked up for each row.
    await server.execute("SET session_replication_role = replica; SET synchronous_commit = off")
    return _Server(server)
