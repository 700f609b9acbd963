"""The control journal: the facts that belong to no run."""

from __future__ import annotations

import asyncio

import pytest

from agent.errors import CorruptJournal, UnknownEvent
from agent.rules.anchors import CONTROL
from agent.rules.control import (
    ControlEvent,
    DecisionRefused,
    PolicyLoaded,
    StampedControl,
    refusal_id,
)
from agent.rules.ids import ApprovalId, EventId, RunId
from store import SqlStore
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_sqlite
from tests.store.database import ask
from tests.store.story import BOB
from tests.store.tampering import rewrite_control, setting, to


def loaded(version: str, agent: str = "refunds") -> PolicyLoaded:
    return PolicyLoaded(agent=agent, policy_version=version, build="test")


def refused(code: str = "not_allowed", message: str = "Not decided.") -> DecisionRefused:
    return DecisionRefused(
        run_id=RunId("run_1"),
        approval_id=ApprovalId("apr_1"),
        action="approve",
        by=BOB,
        code=code,
        message=message,
    )


def stamp_control(clock: ManualClock, id: str, event: ControlEvent) -> StampedControl:
    return StampedControl(EventId(id), clock.now(), event)


async def load(store: SqlStore, clock: ManualClock, *names: str) -> None:
    """A policy of this name each."""
    events = [stamp_control(clock, f"evt_{name}", loaded(name)) for name in names]
    await store.control.record(events)


async def versions(store: SqlStore, after: int = 0, limit: int = 100) -> list[str]:
    read = [one.event for one in await store.control.read(after, limit)]
    return [event.policy_version for event in read if isinstance(event, PolicyLoaded)]


async def test_what_was_recorded_is_what_is_read(store: SqlStore, clock: ManualClock) -> None:
    events = [stamp_control(clock, "evt_1", loaded("v1")), stamp_control(clock, "evt_2", refused())]
    await store.control.record(events)
    read = await store.control.read()
    assert [one.seq for one in read] == [1, 2]
    assert [StampedControl(one.id, one.at, one.event) for one in read] == events
    assert (await store.verifier.check_control()).broken is None


async def test_it_is_read_page_by_page(store: SqlStore, clock: ManualClock) -> None:
    await load(store, clock, *"abcde")
    assert await versions(store, limit=2) == ["a", "b"]
    assert await versions(store, after=2, limit=2) == ["c", "d"]
    assert await versions(store, after=4, limit=2) == ["e"]
    assert await versions(store, after=5) == []


async def test_an_event_is_recorded_once_however_often_it_is_tried(
    store: SqlStore, clock: ManualClock
) -> None:
    one = stamp_control(clock, "evt_a", loaded("a"))
    await store.control.record([one, one])
    await store.control.record([one])
    await load(store, clock, "a", "b")
    assert await versions(store) == ["a", "b"]
    assert (await store.verifier.check_control()).broken is None


async def test_somebody_who_goes_on_clicking_fills_no_journal(
    store: SqlStore, clock: ManualClock
) -> None:
    for message in ("Not decided: at 12:00.", "Not decided: at 12:01."):
        event = refused(message=message)
        await store.control.record([StampedControl(refusal_id(event), clock.now(), event)])
    other = refused("expired")
    await store.control.record([StampedControl(refusal_id(other), clock.now(), other)])
    read = [one.event for one in await store.control.read()]
    codes = [event.code for event in read if isinstance(event, DecisionRefused)]
    assert codes == ["not_allowed", "expired"]


async def test_the_newest_policy_of_an_agent_is_found_behind_whatever_came_later(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await load(store, clock, "a", "b")
    await store.control.record(
        [
            stamp_control(clock, "evt_other", loaded("c", "deploys")),
            *(
                stamp_control(clock, f"evt_refused_{n}", refused(f"code_{n}", message="refunds"))
                for n in range(3)
            ),
        ]
    )
    # It is found without a look at what else there is.
    ask(url, "UPDATE control_journal SET body = '{' WHERE seq NOT IN (2, 3)")
    newest = await store.control.newest_policy("refunds")
    assert newest is not None
    assert (newest.seq, newest.event) == (2, loaded("b"))
    other = await store.control.newest_policy("deploys")
    assert other is not None
    assert other.event == loaded("c", "deploys")
    assert await store.control.newest_policy("refund") is None


async def test_a_newest_policy_that_can_not_be_read_says_so(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await load(store, clock, "a", "b")
    ask(url, "UPDATE control_journal SET body = replace(body, 'test', 'forged') WHERE seq = 2")
    with pytest.raises(CorruptJournal, match="not what was written"):
        await store.control.newest_policy("refunds")
    rewrite_control(url, 2, setting(version=9))
    with pytest.raises(UnknownEvent):
        await store.control.newest_policy("refunds")
    ask(url, "UPDATE control_journal SET body = '{' WHERE seq = 2")
    with pytest.raises(CorruptJournal):
        await store.control.newest_policy("refunds")


@on_sqlite
def test_the_newest_policy_is_looked_up_by_an_index(store: SqlStore, url: str) -> None:
    plan = ask(
        url,
        "EXPLAIN QUERY PLAN SELECT * FROM control_journal WHERE policy_of = 'refunds'"
        " ORDER BY seq DESC LIMIT 1",
    )
    assert [row[3] for row in plan] == [
        "SEARCH control_journal USING INDEX control_policies (policy_of=?)"
    ]


async def test_many_at_once_make_one_whole_chain(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    stores = [store, await open_another()]
    await asyncio.gather(*(load(stores[n % 2], clock, f"{n:02}") for n in range(30)))
    assert sorted(await versions(store)) == [f"{n:02}" for n in range(30)]
    assert (await store.verifier.check_control()).broken is None


async def test_of_many_equal_ones_at_once_one_is_recorded(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    stores = [store, await open_another()]
    await asyncio.gather(*(load(stores[n % 2], clock, "a") for n in range(10)))
    assert await versions(store) == ["a"]


@pytest.mark.parametrize(
    ("damage", "at", "why"),
    [
        ("DELETE FROM control_journal WHERE seq = 1", 1, "it is missing"),
        ("DELETE FROM control_journal WHERE seq = 2", 2, "it is missing"),
        ("DELETE FROM control_journal WHERE seq = 3", 3, "it is missing"),
        (
            "UPDATE control_journal SET body = replace(body, 'refunds', 'refund') WHERE seq = 2",
            *(2, "it is not what was written"),
        ),
        (
            "UPDATE control_journal SET event_id = 'evt_x' WHERE seq = 3",
            *(3, "it is not what was written"),
        ),
        (
            "UPDATE control_journal SET at = at + 1 WHERE seq = 2",
            2,
            "its time differs from its row",
        ),
        ("UPDATE control_head SET head_hash = 'x'", 3, "the head is another"),
        ("UPDATE control_head SET head_seq = 2", 3, "the head is another"),
        ("UPDATE control_head SET head_seq = 4", 4, "it is missing"),
        ("DELETE FROM control_head", 0, "its head is missing"),
    ],
)
async def test_the_first_fact_that_is_not_as_it_was_written_is_named(
    store: SqlStore, clock: ManualClock, url: str, damage: str, at: int, why: str
) -> None:
    await load(store, clock, *"abc")
    ask(url, damage)
    broken = (await store.verifier.check_control()).broken
    assert broken is not None
    assert (broken.journal, broken.seq) == (CONTROL, at)
    assert why in broken.why
    with pytest.raises(CorruptJournal, match=why) as corrupt:
        await store.control.read()
    assert corrupt.value.seq == at


async def test_a_page_is_tied_to_what_stands_before_it(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await load(store, clock, *"abcde")
    ask(url, "UPDATE control_journal SET hash = 'x' WHERE seq = 2")
    with pytest.raises(CorruptJournal) as corrupt:
        await store.control.read(after=2, limit=2)
    assert corrupt.value.seq == 3
    assert await versions(store, after=3, limit=1) == ["d"]


async def test_what_holds_and_can_not_be_read_says_where(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await load(store, clock, *"abc")
    rewrite_control(url, 2, to("{"))
    with pytest.raises(CorruptJournal, match="JSONDecodeError") as corrupt:
        await store.control.read()
    assert corrupt.value.seq == 2


async def test_what_a_newer_build_wrote_is_left_for_it(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await load(store, clock, "a")
    rewrite_control(url, 1, setting(kind="weather_changed"))
    with pytest.raises(UnknownEvent):
        await store.control.read()
    assert (await store.verifier.check_control()).broken is None
