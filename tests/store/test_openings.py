"""Threads that are opened before their run begins."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.errors import NotFound, OpeningGivenUp
from agent.ports import Opening, ThreadMessage
from agent.rules.ids import RunId
from store import SqlStore
from tests.store.clock import ManualClock
from tests.store.story import begin

RUN = RunId("run_1")
PLACE = "slack:T1/C1/"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def root(clock: ManualClock) -> ThreadMessage:
    return ThreadMessage("status", "posted", "C1/1.2", "d1", clock.now())


async def test_a_run_begins_with_the_message_that_has_opened_its_thread(
    store: SqlStore, clock: ManualClock, root: ThreadMessage
) -> None:
    await store.openings.begin(RUN, PLACE)
    assert await store.openings.is_open(RUN)
    await begin(store.journal, clock, RUN, place="slack:T1/C1/1.2", root=root)
    assert (await store.threads.known(RUN)).messages == {"status": root}
    assert await store.threads.run_at("C1/1.2") == RUN
    assert not await store.openings.is_open(RUN)
    clock.move(MINUTE)
    assert await store.openings.give_up(timedelta(), limit=9) == []


async def test_what_was_given_up_does_not_begin_any_more(
    store: SqlStore, clock: ManualClock, root: ThreadMessage
) -> None:
    since = clock.now()
    await store.openings.begin(RUN, PLACE)
    clock.move(MINUTE)
    assert await store.openings.give_up(MINUTE, limit=9) == []
    clock.move(MINUTE)
    assert await store.openings.give_up(MINUTE, limit=9) == [Opening(RUN, PLACE, since)]
    assert not await store.openings.is_open(RUN)
    with pytest.raises(OpeningGivenUp):
        await begin(store.journal, clock, RUN, place=PLACE, root=root)
    with pytest.raises(NotFound):
        await store.journal.read(RUN)
    assert await store.openings.give_up(MINUTE, limit=9) == [Opening(RUN, PLACE, since)]
    await store.openings.forget(RUN)
    assert await store.openings.give_up(MINUTE, limit=9) == []


async def test_a_thread_that_nobody_said_was_opened_is_no_thread(
    store: SqlStore, clock: ManualClock, root: ThreadMessage
) -> None:
    with pytest.raises(OpeningGivenUp):
        await begin(store.journal, clock, RUN, place=PLACE, root=root)


async def test_the_same_start_again_finds_its_run(
    store: SqlStore, clock: ManualClock, root: ThreadMessage
) -> None:
    await store.openings.begin(RUN, PLACE)
    await begin(store.journal, clock, RUN, place=PLACE, root=root, key="command:1")
    other = RunId("run_2")
    await store.openings.begin(other, PLACE)
    assert await begin(store.journal, clock, other, place=PLACE, root=root, key="command:1") == RUN
    assert await store.openings.is_open(other)


async def test_the_oldest_are_given_up_first_and_so_many_at_a_time(
    store: SqlStore, clock: ManualClock
) -> None:
    for number in range(3):
        await store.openings.begin(RunId(f"run_{number}"), PLACE)
        clock.move(MINUTE)
    assert [one.run_id for one in await store.openings.give_up(timedelta(), limit=2)] == [
        "run_0",
        "run_1",
    ]
    assert await store.openings.is_open(RunId("run_2"))
