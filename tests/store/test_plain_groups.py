"""Plain appends of many runs, done together, leave what each would leave alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, insert

from agent.rules.events import Event
from agent.rules.ids import RunId
from agent.rules.recorded import Stamped
from store.appends import Append, append
from store.bodies import write_body
from store.groups import Transactions, commit_alone
from store.keys import NO_KEYS
from store.plain import Head
from store.schema import approvals, metadata, reservations, runs, threads
from store.sqlite import SqliteTransactions
from store.together import Appending
from store.together import plainly as as_plain
from tests.databases import NewDatabase
from tests.examples import examples
from tests.store.clock import ManualClock
from tests.store.outside import PATIENCE, transactions_of
from tests.store.story import replied, returned, stamp
from tests.store.test_plain_appends import InFile, OnServer, Plainly, rows, told

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TERM = timedelta(seconds=30)
FENCE = 3
SEEN = Head(4, "0" * 64)
TIMES = st.sampled_from([None, NOW - TERM, NOW, NOW + TERM])
HOLDERS = st.sampled_from([None, "p1", "p2"])
#: More than are done by one statement.
MANY = 70


@dataclass(frozen=True)
class Lease:
    holder: str | None
    expires_at: datetime | None
    wake_at: datetime | None


@dataclass(frozen=True)
class Case:
    """A run as it is found, and what is appended to it."""

    kind: str
    lease: Lease
    thread: Lease | None
    changed: dict[str, object]
    is_asked_about: bool
    has_reserved: bool
    is_drawn_here: bool
    fence: int

    def event(self, n: int) -> Event:
        """Of the n-th run: no operation is opened twice."""
        match self.kind:
            case "reply with a call":
                return replied(f"call_of_{n}")
            case "return":
                return returned("call_1")
            case _:
                return replied()


LEASES = st.builds(Lease, HOLDERS, TIMES, TIMES)
#: Mostly the run is as it was seen.
CHANGES: st.SearchStrategy[dict[str, object]] = st.sampled_from(
    [
        *[{}] * 6,
        {"head_seq": 5},
        {"head_hash": "1" * 64},
        {"fence": FENCE + 1},
        {"status": "failed"},
        {"purged": 1},
        {"format": 1},
    ]
)
RARELY = st.sampled_from([False, False, False, True])
CASES = st.builds(
    Case,
    st.sampled_from(["reply", "reply with a call", "return"]),
    LEASES,
    st.none() | LEASES,
    CHANGES,
    RARELY,
    RARELY,
    st.booleans(),
    st.sampled_from([FENCE, FENCE, FENCE, FENCE - 1]),
)


def run_id_of(n: int) -> RunId:
    return RunId(f"run_{n}")


def held(lease: Lease) -> dict[str, object]:
    return {
        "holder": lease.holder,
        "lease_expires_at": lease.expires_at,
        "wake_at": lease.wake_at,
    }


def begun(connection: Connection, cases: list[Case]) -> None:
    for table in reversed(metadata.sorted_tables):
        if table.name not in ("control_head", "schema_floor"):
            connection.execute(table.delete())
    for n, case in enumerate(cases):
        row = {"run_id": run_id_of(n), "agent": "refunds", "session": f"s_{n}", "requester": "u"}
        head = {"status": "active", "claims": 1, "head_seq": SEEN.seq, "head_hash": SEEN.hash}
        times = {"started_at": NOW - TERM, "updated_at": NOW - TERM, "format": 4, "fence": FENCE}
        connection.execute(
            insert(runs).values({**row, **head, **times, **held(case.lease), **case.changed})
        )
        if case.thread is not None:
            at = {"run_id": row["run_id"], "wanted_seq": 4, "shown_seq": 0, "fence": 0}
            connection.execute(insert(threads).values({**at, **held(case.thread)}))
        if case.is_asked_about:
            asked = {"approval_id": f"apr_{n}", "run_id": row["run_id"], "call_id": "call_1"}
            state = {"kind": "call", "status": "pending", "requested_at": NOW, "requester": "u"}
            connection.execute(insert(approvals).values({**asked, **state}))
        if case.has_reserved:
            reserved = {"run_id": row["run_id"], "call_id": "call_1", "limit_key": "l"}
            state = {"amount": "1", "status": "held"}
            connection.execute(insert(reservations).values({**reserved, **state}))


def appending(n: int, case: Case, stamped: Stamped) -> Appending:
    run_id, facts = run_id_of(n), (write_body(stamped),)
    wanted = Append(run_id, facts, None, case.fence, case.is_drawn_here)
    return Appending(run_id, lambda c: append(c, wanted, NOW), as_plain(wanted, lambda: NOW))


class Heard:
    """How often others were told."""

    def __init__(self) -> None:
        self.times = 0

    def tell(self) -> None:
        self.times += 1


@dataclass
class Databases:
    """One in which what is plain is done together, and one in which nothing is."""

    ours: Transactions
    plainly: Plainly
    general: Transactions
    ours_heard: Heard
    general_heard: Heard


@pytest.fixture
def databases(kind: str, new_database: NewDatabase) -> Iterator[Databases]:
    with new_database() as one, new_database() as other, ExitStack() as closing:
        heard = Heard(), Heard()
        if kind == "sqlite":
            files = [
                SqliteTransactions(Path(url.removeprefix("sqlite:///")), PATIENCE, its.tell)
                for url, its in zip((one, other), heard, strict=True)
            ]
            found = Databases(files[0], InFile(files[0]), files[1], *heard)
        else:
            lane = OnServer(one)
            closing.callback(lane.close)
            found = Databases(transactions_of(one), lane, transactions_of(other), *heard)
        closing.callback(found.ours.dispose)
        closing.callback(found.general.dispose)
        yield found


def test_together_they_leave_what_each_leaves_alone(kind: str, databases: Databases) -> None:
    ours, general, plainly = databases.ours, databases.general, databases.plainly
    ours_heard, general_heard = databases.ours_heard, databases.general_heard
    done = 0

    @settings(
        max_examples=examples(40 if kind == "sqlite" else 4),
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(CASES, min_size=1, max_size=9), RARELY)
    def compare(cases: list[Case], are_many: bool) -> None:
        nonlocal done
        if are_many:
            cases = (cases * MANY)[:MANY]
        for database in (ours, general):
            database.run(partial(begun, cases=cases))
        ours_heard.times = general_heard.times = 0
        clock = ManualClock(NOW)
        events = [stamp(clock, case.event(n)) for n, case in enumerate(cases)]
        for n in range(len(cases)):
            plainly.heads.forget(run_id_of(n))
            plainly.heads.keep(run_id_of(n), SEEN)
        works, alone = (
            [appending(n, *one) for n, one in enumerate(zip(cases, events, strict=True))]
            for _ in range(2)
        )
        together = plainly.do(works)
        done += sum(one is not None for one in together)
        outcomes = [
            one or commit_alone(ours, work) for one, work in zip(together, works, strict=True)
        ]
        expected = [commit_alone(general, work) for work in alone]
        assert list(map(told, outcomes)) == list(map(told, expected))
        assert rows(ours, NO_KEYS) == rows(general, NO_KEYS)
        assert bool(ours_heard.times) == bool(general_heard.times)

    compare()
    assert done > 0
