"""What all processes together may still do, where the outside allows only so much."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.ports import Rate, Take
from store import SqlStore
from store.allowances import Taken, judge
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother

RATE = Rate(timedelta(seconds=2), 3)
NOTHING = timedelta()


def some(key: str = "edits", *, reserve: int = 0, rate: Rate = RATE) -> list[Take]:
    return [Take(key, rate, reserve)]


async def take_all(store: SqlStore, wanted: list[Take]) -> int:
    taken = 0
    while not await store.allowances.take(wanted):
        taken += 1
    return taken


async def test_after_a_rest_a_burst_is_taken_and_then_one_every_so_often(
    store: SqlStore, clock: ManualClock
) -> None:
    assert await take_all(store, some()) == 3
    assert await store.allowances.take(some()) == timedelta(seconds=2)
    clock.move(timedelta(seconds=2))
    assert await take_all(store, some()) == 1
    clock.move(timedelta(hours=1))
    assert await take_all(store, some()) == 3


async def test_to_be_refused_takes_nothing(store: SqlStore, clock: ManualClock) -> None:
    await take_all(store, some())
    for _ in range(10):
        await store.allowances.take(some())
    assert await store.allowances.take(some()) == timedelta(seconds=2)


async def test_what_is_kept_in_reserve_is_for_the_more_urgent(store: SqlStore) -> None:
    assert await take_all(store, some(reserve=2)) == 1
    assert await take_all(store, some(reserve=1)) == 1
    assert await take_all(store, some()) == 1
    assert await store.allowances.take(some(reserve=2)) == timedelta(seconds=6)


async def test_one_of_each_is_taken_or_none(store: SqlStore) -> None:
    wide, narrow = Rate(timedelta(seconds=1), 5), Rate(timedelta(seconds=1), 2)
    both = [Take("posts:C1", narrow), Take("posts", wide)]
    assert await take_all(store, both) == 2
    assert await take_all(store, [Take("posts", wide)]) == 3


async def test_each_key_is_counted_by_itself(store: SqlStore) -> None:
    await take_all(store, some("a"))
    assert await take_all(store, some("b")) == 3


async def test_two_processes_take_from_the_same(store: SqlStore, open_another: OpenAnother) -> None:
    other = await open_another()
    asked = [one.allowances.take(some()) for one in (store, other) for _ in range(5)]
    waits = await asyncio.gather(*asked)
    assert sorted(waits)[:4] == [NOTHING, NOTHING, NOTHING, timedelta(seconds=2)]


async def test_those_who_take_several_do_not_wait_for_each_other_for_ever(
    store: SqlStore, open_another: OpenAnother
) -> None:
    other = await open_another()
    wide, narrow = Rate(timedelta(microseconds=1), 1000), Rate(timedelta(microseconds=1), 1000)

    async def take(one: SqlStore, channel: int) -> timedelta:
        return await one.allowances.take([Take("posts", wide), Take(f"posts:C{channel}", narrow)])

    works = [take(one, channel) for channel in range(20) for one in (store, other)]
    assert set(await asyncio.gather(*works)) == {NOTHING}


async def test_what_is_withheld_is_withheld_from_all_and_comes_back_without_a_burst(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    other = await open_another()
    await store.allowances.withhold("edits", timedelta(seconds=30))
    await store.allowances.withhold("edits", timedelta(seconds=5))
    assert await other.allowances.take(some()) == timedelta(seconds=30)
    clock.move(timedelta(seconds=30))
    assert await take_all(other, some()) == 1


async def test_a_clock_that_is_set_back_is_not_waited_for(
    store: SqlStore, clock: ManualClock
) -> None:
    await take_all(store, some())
    clock.move(-timedelta(hours=1))
    wait = await store.allowances.take(some())
    assert wait == timedelta(seconds=2)
    clock.move(wait)
    assert await take_all(store, some()) == 1


async def test_what_was_withheld_is_forgotten_when_the_clock_is_set_back_and_stays_so(
    store: SqlStore, clock: ManualClock
) -> None:
    await store.allowances.withhold("edits", timedelta(days=1))
    clock.move(-timedelta(minutes=1))
    assert await store.allowances.take(some()) == RATE.every
    clock.move(timedelta(minutes=2))
    assert await take_all(store, some()) == 3
    await store.allowances.withhold("edits", timedelta(seconds=5))
    assert await store.allowances.take(some()) == timedelta(seconds=5)


async def test_a_shorter_word_after_the_clock_was_set_back_is_the_one_that_holds(
    store: SqlStore, clock: ManualClock
) -> None:
    await store.allowances.withhold("edits", timedelta(days=1))
    clock.move(-timedelta(hours=1))
    await store.allowances.withhold("edits", timedelta(seconds=5))
    clock.move(timedelta(seconds=5))
    assert await store.allowances.take(some()) == RATE.every
    clock.move(RATE.every)
    assert await take_all(store, some()) == 1


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.integers(0, 4_000), st.integers(0, 2)), min_size=1, max_size=60),
    st.integers(1, 4),
)
def test_in_no_span_is_more_taken_than_the_rate_says(
    asked: list[tuple[int, int]], burst: int
) -> None:
    """By the rule itself, whoever keeps the instant."""
    rate, now = Rate(timedelta(seconds=1), burst), ManualClock().now()
    row: Taken | None = None
    taken: list[datetime] = []
    for pause, reserve in asked:
        now += timedelta(milliseconds=pause)
        moved_to, wait = judge(
            row and row.as_of(now, rate), now, Take("k", rate, min(reserve, burst - 1))
        )
        if wait <= NOTHING:
            row = Taken(moved_to)
            taken.append(now)
    for first in range(len(taken)):
        for last in range(first, len(taken)):
            span = taken[last] - taken[first]
            assert last - first + 1 <= burst + span / rate.every
