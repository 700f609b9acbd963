"""Grants and switches: facts of the control journal, and rows beside it that say how they stand."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from itertools import count

import pytest
from pydantic import JsonValue, ValidationError

from agent.errors import SeqConflict
from agent.rules.control import ControlEvent, GrantGiven, GrantRevoked, StampedControl, SwitchTurned
from agent.rules.events import CallStarted
from agent.rules.ids import CallId, EventId, GrantId, RunId, SessionId
from agent.rules.recorded import Stamped
from agent.rules.standing import Grant
from store import SqlStore
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_sqlite
from tests.store.database import ask
from tests.store.story import ALICE, BOB, begin, stamp

RUN, SESSION = RunId("run_1"), SessionId("s_1")
_NUMBERS = count(1)


def given(id: str, *, agent: str = "refunds", **fields: object) -> GrantGiven:
    where: dict[str, JsonValue] = {"order": "ORD-3300"}
    return GrantGiven.model_validate(
        {
            "grant_id": id,
            "by": BOB,
            "agent": agent,
            "tool": "process_refund",
            "where": where,
            "reason": "they know what they do",
            **fields,
        }
    )


def revoked(id: str) -> GrantRevoked:
    return GrantRevoked(grant_id=GrantId(id), by=ALICE)


def turned(switch: str, is_on: bool) -> SwitchTurned:
    return SwitchTurned(switch=switch, is_on=is_on, by=BOB, reason="an incident")


async def tell(store: SqlStore, clock: ManualClock, *events: ControlEvent) -> None:
    stamped = [StampedControl(EventId(f"evt_{next(_NUMBERS)}"), clock.now(), e) for e in events]
    await store.control.record(stamped)


def ids(grants: Iterable[Grant]) -> list[str]:
    return [grant.id for grant in grants]


async def in_force(store: SqlStore, agent: str = "refunds") -> list[str]:
    return ids(await store.control.grants_in_force(agent, RUN, SESSION))


async def test_a_grant_is_in_force_for_its_agent_and_where_it_was_given(
    store: SqlStore, clock: ManualClock
) -> None:
    await tell(
        store,
        clock,
        given("grt_1"),
        given("grt_2", run_id=RUN),
        given("grt_3", session=SESSION),
        given("grt_4", run_id="run_2"),
        given("grt_5", session="s_2"),
        given("grt_6", agent="deploys"),
        # Of the same name, but not the same thing.
        given("grt_7", run_id=SESSION),
        given("grt_8", session=RUN),
    )
    assert await in_force(store) == ["grt_1", "grt_2", "grt_3"]
    assert await in_force(store, "deploys") == ["grt_6"]
    assert await in_force(store, "refund") == []


async def test_a_grant_is_read_as_it_was_given(store: SqlStore, clock: ManualClock) -> None:
    event = given(
        "grt_1", run_id=RUN, claimed_by=ALICE, expires_at=clock.now() + timedelta(hours=1)
    )
    await tell(store, clock, event)
    (grant,) = await store.control.grants_in_force("refunds", RUN, SESSION)
    assert grant == Grant(event, 1, clock.now())


async def test_a_grant_ends_at_its_time_by_the_stores_clock(
    store: SqlStore, clock: ManualClock
) -> None:
    await tell(store, clock, given("grt_1", expires_at=clock.now() + timedelta(hours=1)))
    clock.move(timedelta(hours=1) - timedelta(microseconds=1))
    assert await in_force(store) == ["grt_1"]
    clock.move(timedelta(microseconds=1))
    assert await in_force(store) == []
    assert await store.control.grants() == []


async def test_a_grant_that_was_revoked_stands_no_more(store: SqlStore, clock: ManualClock) -> None:
    await tell(store, clock, given("grt_1"), given("grt_2"), revoked("grt_1"))
    await tell(store, clock, revoked("grt_1"), revoked("grt_9"))
    assert await in_force(store) == ["grt_2"]
    assert await store.control.differences() == []


async def test_a_grant_is_what_it_was_given_as_first(store: SqlStore, clock: ManualClock) -> None:
    await tell(store, clock, given("grt_1"), revoked("grt_1"), given("grt_1", agent="deploys"))
    assert await in_force(store) == []
    assert await in_force(store, "deploys") == []
    assert await store.control.differences() == []


async def test_grants_in_force_are_listed_page_by_page(store: SqlStore, clock: ManualClock) -> None:
    await tell(store, clock, *(given(f"grt_{n}", agent=f"a{n}") for n in range(5)))
    await tell(store, clock, revoked("grt_2"))
    assert ids(await store.control.grants(limit=2)) == ["grt_0", "grt_1"]
    assert ids(await store.control.grants(GrantId("grt_1"), 2)) == ["grt_3", "grt_4"]
    assert ids(await store.control.grants(GrantId("grt_4"))) == []


async def test_a_switch_stands_as_it_was_last_turned(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    assert await store.control.switches() == []
    await tell(store, clock, turned("kill", True), turned("freeze", True), turned("kill", False))
    other = await open_another()
    assert [(s.name, s.is_on, s.seq) for s in await other.control.switches()] == [
        ("freeze", True, 2),
        ("kill", False, 3),
    ]
    assert [s.name for s in await store.control.switches("freeze", 1)] == ["kill"]
    (kill,) = await store.control.switches("freeze")
    assert (kill.turned.by, kill.turned.reason) == (BOB, "an incident")


async def test_turned_by_many_at_once_a_switch_stands_as_the_journal_says(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    stores = [store, await open_another()]
    await asyncio.gather(
        *(tell(stores[n % 2], clock, turned("kill", n % 3 == 0)) for n in range(20))
    )
    assert await store.control.differences() == []
    (kill,) = await store.control.switches()
    assert kill.seq == 20


async def test_what_was_revoked_before_it_was_given_is_never_in_force(
    store: SqlStore, clock: ManualClock
) -> None:
    await tell(store, clock, revoked("grt_1"))
    await tell(store, clock, given("grt_1"), given("grt_2"), revoked("grt_2"))
    assert await in_force(store) == []
    assert await store.control.differences() == []


@on_sqlite
def test_grants_are_looked_up_by_an_index(store: SqlStore, url: str) -> None:
    plan = ask(
        url,
        "EXPLAIN QUERY PLAN SELECT * FROM grants WHERE agent = 'a' AND scope IN ('x', 'y')"
        " AND revoked_seq IS NULL",
    )
    assert [row[3] for row in plan] == [
        "SEARCH grants USING INDEX grants_standing (agent=? AND scope=?)"
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"run_id": "run_1", "session": "s_1"},
        {"agent": ""},
        {"agent": "a\0b"},
        {"grant_id": "\ud800"},
        {"run_id": "x" * 501},
        {"session": "\n"},
        {"expires_at": "2026-11-29T12:00:00"},
    ],
)
def test_a_grant_that_no_database_could_keep_or_that_says_nothing_clear_is_refused(
    wrong: dict[str, str],
) -> None:
    with pytest.raises(ValidationError):
        GrantGiven.model_validate(given("grt_1").model_dump() | wrong)


async def test_what_rests_on_a_grant_is_appended_only_while_that_is_in_force(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin(store.journal, clock)
    hour = timedelta(hours=1)
    await tell(store, clock, given("grt_1"), given("grt_2", expires_at=clock.now() + hour))
    for n, id in enumerate(("grt_1", "grt_2"), 1):
        await store.journal.intend(run_id, [start_under(clock, id)], expected_seq=n)
    await tell(store, clock, revoked("grt_1"))
    clock.move(hour)
    for id in ("grt_1", "grt_2", "grt_3"):
        with pytest.raises(SeqConflict):
            await store.journal.intend(run_id, [start_under(clock, id)], expected_seq=3)
    assert len(await store.journal.read(run_id)) == 3


async def test_of_a_start_and_a_revocation_at_once_either_may_be_first(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    other = await open_another()
    names = [f"grt_{n}" for n in range(6)]
    await tell(store, clock, *map(given, names))
    runs = [await begin(store.journal, clock, f"run_{n}") for n in range(6)]
    outcomes = await asyncio.gather(
        *(
            store.journal.intend(run_id, [start_under(clock, id)], expected_seq=1)
            for run_id, id in zip(runs, names, strict=True)
        ),
        *(tell(other, clock, revoked(id)) for id in names),
        return_exceptions=True,
    )
    assert all(isinstance(one, list | SeqConflict | None) for one in outcomes), outcomes
    assert await in_force(store) == []


def start_under(clock: ManualClock, id: str) -> Stamped:
    started = CallStarted(call_id=CallId("c_1"), attempt=1, deadline=clock.now(), grant=GrantId(id))
    return stamp(clock, started)
