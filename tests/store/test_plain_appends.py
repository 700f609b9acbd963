"""Plain appends that are done together leave what the general way leaves, whatever they follow."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Protocol

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, insert, make_url, update

from agent.rules.events import RunStarted
from agent.rules.ids import EventId, RunId
from agent.rules.recorded import Recorded, Stamped
from store.appends import Append, append
from store.bodies import Row, write_body
from store.cipher import key_of
from store.groups import Outcome, Transactions, commit_alone
from store.keys import NO_KEYS, Keys, new_key, parse_keys
from store.lane import PlainLane
from store.schema import FORMAT, control_head, journal, metadata, runs, threads
from store.server import Server
from store.sqlite import SqliteTransactions
from store.together import Appending, Heads, commit_plain, plainly
from tests.agent.rules.histories import History
from tests.agent.rules.legal_histories import legal_histories
from tests.agent.rules.legally import legally
from tests.databases import NewDatabase
from tests.examples import examples
from tests.store.clock import ManualClock
from tests.store.outside import file_of, transactions_of
from tests.store.story import replied, stamp

TERM = timedelta(seconds=30)
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HOLDER, FENCE = "p1", 3
LEASES = st.sampled_from([NOW - TERM, NOW + TERM, None])
#: How an event is tried before it is appended as it should be.
TRIES = st.sampled_from(
    ["", "with an old fence", "behind another fact", "by an old verdict", "and again"]
)
#: Of the newest fact that can change a verdict.
VERDICT_SEQ = 4
KEPT_WITH = st.sampled_from(
    [
        NO_KEYS,
        parse_keys(None, new_key()),
        parse_keys(f"2026:{new_key()}", new_key()),
    ]
)


def appending(
    run_id: RunId,
    events: Sequence[Stamped],
    expected_seq: int | None,
    fence: int | None,
    verdict_seq: int | None = None,
    keys: Keys = NO_KEYS,
) -> Appending:
    facts = tuple(write_body(one, keys) for one in events)
    wanted = Append(run_id, facts, expected_seq, fence, verdict_seq=verdict_seq)
    return Appending(run_id, lambda c: append(c, wanted, NOW), plainly(wanted, lambda: NOW))


class Plainly(Protocol):
    """How a kind of database does what is plain."""

    heads: Heads

    def do(self, works: Sequence[Appending]) -> list[Outcome | None]:
        """Of each, None where it is left to the general way."""

    def close(self) -> None: ...


class InFile:
    def __init__(self, movers: SqliteTransactions) -> None:
        self.movers = movers
        self.heads = Heads()

    def do(self, works: Sequence[Appending]) -> list[Outcome | None]:
        return commit_plain(self.movers, self.heads, works, [work.run_id for work in works])

    def close(self) -> None:
        self.movers.dispose()


class OnServer:
    def __init__(self, url: str) -> None:
        self.runner = asyncio.Runner()
        self.lane = PlainLane(Server(make_url(url), TERM), TERM)
        self.heads = self.lane.heads

    def do(self, works: Sequence[Appending]) -> list[Outcome | None]:
        async def append_all() -> list[list[Recorded] | None]:
            return await asyncio.gather(*map(self.lane.append, works))

        return [None if one is None else Outcome(one) for one in self.runner.run(append_all())]

    def close(self) -> None:
        with self.runner:
            self.runner.run(self.lane.close())


class Together:
    """A database in which what is plain is done together, as a store does."""

    def __init__(self, database: Transactions, plainly: Plainly) -> None:
        self.database = database
        self.plainly = plainly
        self.plain = 0

    def do(self, work: Appending) -> Outcome:
        (outcome,) = self.plainly.do([work])
        if outcome is not None:
            self.plain += 1
            return outcome
        outcome = commit_alone(self.database, work)
        self.plainly.heads.learn([work], [outcome])
        return outcome


def told(outcome: Outcome) -> object:
    return outcome.value if outcome.error is None else repr(outcome.error)


def rows(database: Transactions, keys: Keys) -> dict[str, list[Any]]:
    """All that stands there, but for when an active run last moved, which plain appends leave as it was; of bodies
    what they were before they were encrypted."""

    def work(connection: Connection) -> dict[str, list[Any]]:
        connection.execute(update(runs).where(runs.c.status == "active").values(updated_at=NOW))
        kept = {
            table.name: sorted(map(tuple, connection.execute(table.select())), key=repr)
            for table in metadata.sorted_tables
        }
        facts = connection.execute(journal.select()).all()
        assert {key_of(one.body) for one in facts} <= {keys.cipher.newest}
        bodies = [Row.of(one.run_id, one, keys) for one in facts]
        return {**kept, "journal": sorted(bodies, key=lambda one: (one.seq, one.event_id))}

    return database.run(work)


def begun(connection: Connection, first: Recorded, lease: datetime | None) -> None:
    """A run with a thread, held by somebody whose lease lives, or has ended, or by nobody any more."""
    for table in reversed(metadata.sorted_tables):
        if table.name not in ("control_head", "schema_floor"):
            connection.execute(table.delete())
    started = first.event
    assert isinstance(started, RunStarted)
    connection.execute(update(control_head).values(verdict_seq=VERDICT_SEQ))
    row = {"run_id": first.run_id, "agent": started.agent, "session": started.session}
    head = {
        "status": "active",
        "claims": 2,
        "head_seq": 1,
        "head_hash": first.hash,
        "format": FORMAT - 2,
    }
    held = {"holder": HOLDER, "fence": FENCE, "lease_expires_at": lease, "wake_at": lease}
    times = {"started_at": first.at, "updated_at": first.at}
    connection.execute(
        insert(runs).values(requester=started.requester, **row, **head, **held, **times)
    )
    thread = {"run_id": first.run_id, "wanted_seq": 1, "shown_seq": 0, "fence": 0}
    connection.execute(insert(threads).values(**thread, holder="p2", lease_expires_at=NOW + TERM))


@pytest.fixture
def databases(kind: str, new_database: NewDatabase) -> Iterator[tuple[Together, Transactions]]:
    with new_database() as one, new_database() as other, ExitStack() as closing:
        both = [transactions_of(url) for url in (one, other)]
        for database in both:
            closing.callback(database.dispose)
        plainly: Plainly = InFile(file_of(one)) if kind == "sqlite" else OnServer(one)
        closing.callback(plainly.close)
        yield Together(both[0], plainly), both[1]


def test_they_leave_what_the_general_way_leaves(
    kind: str, databases: tuple[Together, Transactions]
) -> None:
    @settings(
        legally,
        max_examples=examples(25 if kind == "sqlite" else 3),
        suppress_health_check=list(HealthCheck),
    )
    @given(legal_histories(), LEASES, KEPT_WITH, st.data())
    def compare(history: History, lease: datetime | None, keys: Keys, data: st.DataObject) -> None:
        first, *rest = history.recorded
        ours, general = databases
        for database in (ours.database, general):
            database.run(partial(begun, first=first, lease=lease))

        def both(
            events: Sequence[Stamped],
            expected: int | None,
            fence: int | None,
            verdict_seq: int | None = None,
        ) -> None:
            one, other = (
                appending(first.run_id, events, expected, fence, verdict_seq, keys)
                for _ in range(2)
            )
            assert told(ours.do(one)) == told(commit_alone(general, other))

        for one in rest:
            events = [Stamped(EventId(one.id), one.at, one.event)]
            expected = data.draw(st.sampled_from([None, one.seq - 1]))
            match tried := data.draw(TRIES):
                case "with an old fence":
                    both(events, expected, FENCE - 1)
                case "behind another fact":
                    both(events, one.seq - 2, FENCE)
                case "by an old verdict":
                    both(events, one.seq - 1, FENCE, VERDICT_SEQ - 1)
            fence = data.draw(st.sampled_from([FENCE, None]))
            judged_by = data.draw(st.sampled_from([None, VERDICT_SEQ]))
            both(events, expected, fence, judged_by)
            if tried == "and again":
                both(events, expected, FENCE)
        # Only while the run has not ended.
        late = stamp(ManualClock(NOW), replied("call_too_late"))
        both([late], None, FENCE)
        assert rows(ours.database, keys) == rows(general, keys)

    compare()
    assert databases[0].plain > 0
