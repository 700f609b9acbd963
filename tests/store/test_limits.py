"""How much is used of limits: reserved with a call's start, given back when it is known not to have happened."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from decimal import Decimal
from itertools import count

import pytest
from sqlalchemy import bindparam, select

from agent.errors import LimitReached, StoreError
from agent.rules.events import CallLeftUnknown, CallLookedUp, CallReturned, Event
from agent.rules.ids import CallId
from agent.rules.parts import Receipt, ReceiptStatus, SettleOutcome
from store import SqlStore, schema
from store.limits import may_move_sums
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_postgres
from tests.store.database import ask
from tests.store.limits import DAY, Worked, as_folded, as_kept, begun, of_limit, used
from tests.store.story import decided, requested, stamps


def ended(call: str, status: ReceiptStatus | None) -> CallReturned:
    receipt = None if status is None else Receipt(status=status)
    return CallReturned(call_id=CallId(call), output="x", receipt=receipt)


def unknown(call: str) -> CallLeftUnknown:
    return CallLeftUnknown(call_id=CallId(call), detail="no answer")


async def test_what_is_reserved_is_used_up_to_the_maximum_and_not_beyond(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    run = await Worked.of(store, clock, "run_1", "c1", "c2", "c3")
    await run.start("c1", of_limit("499.9"))
    with pytest.raises(LimitReached) as reached:
        await run.start("c2", of_limit("0.2"))
    assert (reached.value.run_id, reached.value.limit) == ("run_1", DAY)
    assert (reached.value.used, reached.value.max) == (Decimal("499.9"), Decimal(500))
    assert len(await store.journal.read(run.run_id)) == 3, "nothing was appended"
    await run.start("c3", of_limit("0.1"))
    assert await used(store) == Decimal(500)
    assert as_kept(url, run.run_id) == await as_folded(store, run.run_id)
    assert (await store.verifier.check(run.run_id)).broken is None


async def test_a_limit_that_is_reached_leaves_the_others_of_the_call_as_they_were(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    run = await Worked.of(store, clock, "run_1", "c1")
    with pytest.raises(LimitReached):
        await run.start("c1", of_limit("1", limit="a"), of_limit("2", "1", limit="b"))
    assert await store.limits.used(["a", "b"]) == {"a": 0, "b": 0}
    assert as_kept(url, run.run_id) == []


async def test_a_limit_that_is_reached_fails_nobody_else_who_commits_at_the_same_time(
    store: SqlStore, clock: ManualClock
) -> None:
    runs = [await Worked.of(store, clock, f"run_{n}", f"c{n}") for n in range(6)]
    done = await asyncio.gather(
        *(run.start(f"c{n}", of_limit("100", "250")) for n, run in enumerate(runs)),
        return_exceptions=True,
    )
    assert [one for one in done if one is None] == [None, None]
    assert sum(isinstance(one, LimitReached) for one in done) == 4
    assert await used(store) == Decimal(200)


async def test_decimals_are_added_exactly(store: SqlStore, clock: ManualClock) -> None:
    amounts = ["0.1", "0.2", "0.3", "12345678901234567890.000000000000000001"]
    calls = [f"c{n}" for n in range(len(amounts))]
    run = await Worked.of(store, clock, "run_1", *calls)
    for call, amount in zip(calls, amounts, strict=True):
        await run.start(call, of_limit(amount, "99999999999999999999"))
    assert await used(store) == Decimal("12345678901234567890.600000000000000001")


@pytest.mark.parametrize(
    ("story", "left"),
    [
        ([ended("c1", "committed")], "180"),
        ([ended("c1", "rejected")], "0"),
        ([ended("c1", "unknown")], "180"),
        ([ended("c1", None)], "180"),
        ([unknown("c1")], "180"),
        ([CallLookedUp(call_id=CallId("c1"))], "0"),
        ([ended("c1", "unknown"), ended("c1", "rejected")], "0"),
        ([ended("c1", "committed"), ended("c1", "rejected")], "180"),
        ([ended("c1", "rejected"), ended("c1", "committed")], "0"),
        ([CallLookedUp(call_id=CallId("c1")), ended("c1", "committed")], "180"),
        ([CallLookedUp(call_id=CallId("c1")), unknown("c1"), ended("c1", "rejected")], "0"),
    ],
)
async def test_what_did_not_happen_is_given_back_and_nothing_else(
    store: SqlStore, clock: ManualClock, url: str, story: Sequence[Event], left: str
) -> None:
    run = await Worked.of(store, clock, "run_1", "c1")
    await run.start("c1", of_limit("180"))
    for event in story:
        await run.tell(event)
    assert await used(store) == Decimal(left)
    assert as_kept(url, run.run_id) == await as_folded(store, run.run_id)
    assert await store.limits.differences() == []


@pytest.mark.parametrize(
    ("outcome", "left"),
    [("happened", "180"), ("not_happened", "0"), ("check", "180"), ("give_up", "180")],
)
async def test_a_person_who_settles_an_effect_settles_what_it_reserved(
    store: SqlStore, clock: ManualClock, url: str, outcome: SettleOutcome, left: str
) -> None:
    run = await Worked.of(store, clock, "run_1", "c1")
    await run.start("c1", of_limit("180"))
    await run.tell(unknown("c1"), requested("apr_1", "c1", kind="review"))
    word = stamps(clock, decided("apr_1", "settle", outcome=outcome))
    await store.journal.intend(run.run_id, word, expected_seq=5)
    assert await used(store) == Decimal(left)
    assert as_kept(url, run.run_id) == await as_folded(store, run.run_id)


async def test_an_attempt_more_reserves_nothing_twice(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    run = await Worked.of(store, clock, "run_1", "c1")
    await run.start("c1", of_limit("180", "200"))
    await run.start("c1", of_limit("180", "200"), of_limit("1", limit="b"), attempt=2)
    assert await store.limits.used([DAY, "b"]) == {DAY: 180, "b": 1}
    await run.start("c1", of_limit("190", "200"), attempt=3)
    assert await used(store) == Decimal(190)
    with pytest.raises(LimitReached):
        await run.start("c1", of_limit("201", "200"), attempt=4)
    assert as_kept(url, run.run_id) == await as_folded(store, run.run_id)


async def test_what_was_given_back_is_reserved_anew_as_it_is_asked_for(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    run = await Worked.of(store, clock, "run_1", "c1")
    await run.start("c1", of_limit("180"), of_limit("1", limit="b"))
    await run.tell(CallLookedUp(call_id=CallId("c1")))
    await run.start("c1", of_limit("90"), attempt=2)
    assert await store.limits.used([DAY, "b"]) == {DAY: 90, "b": 0}
    assert as_kept(url, run.run_id) == await as_folded(store, run.run_id)
    assert await store.limits.differences() == []


async def test_a_start_whose_answer_was_lost_is_found_and_reserves_nothing_more(
    store: SqlStore, clock: ManualClock
) -> None:
    run = await Worked.of(store, clock, "run_1", "c1")
    start = stamps(clock, begun(clock, "c1", of_limit("180")))
    for _ in range(2):
        await store.journal.intend(run.run_id, start, expected_seq=2)
    assert await used(store) == Decimal(180)


async def test_two_processes_at_once_never_exceed_a_limit(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    """Each start is a transaction of its own, and half of them come through the other handle."""
    stores = [store, await open_another()]
    runs = {f"c{n}": await Worked.of(stores[n % 2], clock, f"run_{n}", f"c{n}") for n in range(20)}

    async def try_one(call: str) -> bool:
        try:
            await runs[call].start(call, of_limit("0.3", "2"))
        except LimitReached:
            return False
        return True

    done = await asyncio.gather(*map(try_one, runs))
    assert sum(done) == 6
    assert await used(store) == Decimal("1.8")
    assert await store.limits.differences() == []


async def test_a_run_without_reservations_costs_no_look_at_limits(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    """Where there are none, an append does not even ask: it goes on without the table."""
    run = await Worked.of(store, clock, "run_1", "c1")
    await run.start("c1")
    ask(url, "ALTER TABLE reservations RENAME TO hidden")
    await run.tell(ended("c1", "rejected"))
    assert ask(url, "SELECT format FROM runs") == [(1,)]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE limits SET used = 'much'",
        "UPDATE limits SET used = '1E+300'",
        "UPDATE reservations SET amount = 'much'",
        "UPDATE reservations SET status = 'lost'",
    ],
)
async def test_what_happened_is_recorded_whatever_became_of_the_rows_beside_it(
    store: SqlStore, clock: ManualClock, url: str, damage: str
) -> None:
    run = await Worked.of(store, clock, "run_1", "c1")
    await run.start("c1", of_limit("180"))
    ask(url, damage)
    await run.tell(ended("c1", "rejected"))
    assert len(await store.journal.read(run.run_id)) == 4


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("UPDATE limits SET used = '1'", "1 is said to be used, 180 is reserved"),
        ("DELETE FROM limits", "0 is said to be used, 180 is reserved"),
        ("UPDATE limits SET used = 'much'", "what is no number is said to be used, 180 is"),
        ("UPDATE limits SET used = '1E+30'", f"1{'0' * 30} is said to be used, 180 is reserved"),
        ("UPDATE limits SET used = 'NaN'", "what is no number is said to be used, 180 is"),
        ("UPDATE reservations SET status = 'freed'", "180 is said to be used, 0 is reserved"),
    ],
)
async def test_a_sum_that_is_wrong_is_found_and_mended(
    store: SqlStore, clock: ManualClock, url: str, damage: str, said: str
) -> None:
    run = await Worked.of(store, clock, "run_1", "c1")
    await run.start("c1", of_limit("180"))
    assert await store.limits.differences() == []
    ask(url, damage)
    (found,) = await store.limits.differences()
    assert found.startswith(f"limit {DAY}: {said}")
    assert await store.limits.mend() == [found]
    assert await store.limits.differences() == []
    await store.limits.used([DAY])


async def test_a_sum_that_can_not_be_read_starts_nothing(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    run = await Worked.of(store, clock, "run_1", "c1", "c2")
    await run.start("c1", of_limit("180"))
    ask(url, "UPDATE limits SET used = 'much'")
    with pytest.raises(StoreError, match="can't be read"):
        await run.start("c2", of_limit("1"))
    with pytest.raises(StoreError, match="can't be read"):
        await used(store)
    ask(url, "UPDATE limits SET used = '-1E+300'")
    with pytest.raises(StoreError, match="can't be counted"):
        await run.start("c2", of_limit("1"))


async def test_a_limit_whose_row_was_lost_is_as_far_used_as_before(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    other = await open_another()
    run = await Worked.of(store, clock, "run_1", "c1", "c2", "c3", "c4")
    await run.start("c1", of_limit("300"))
    await run.start("c2", of_limit("100"))
    ask(url, "DELETE FROM limits")
    assert await used(store) == Decimal(400)
    with pytest.raises(LimitReached) as reached:
        await run.start("c3", of_limit("101"))
    assert reached.value.used == Decimal(400)
    await run.tell(ended("c1", "rejected"))
    assert ask(url, "SELECT used FROM limits") == [("100",)]
    ask(url, "DELETE FROM limits")
    # Two at once find that there is no row.
    second = await Worked.of(other, clock, "run_2", "d1", "d2")
    await asyncio.gather(
        *(one.start(c, of_limit("1")) for one, c in ((run, "c3"), (second, "d1"), (second, "d2")))
    )
    assert await used(store) == Decimal(103)
    assert await store.limits.differences() == []


async def test_a_reservation_that_can_not_be_read_leaves_its_limit_as_it_is(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    run = await Worked.of(store, clock, "run_1", "c1")
    await run.start("c1", of_limit("180"))
    ask(url, "UPDATE reservations SET amount = 'much'")
    said = f"limit {DAY}: what is reserved can't be counted; what is used is left as it is"
    assert await store.limits.differences() == [said]
    assert await store.limits.mend() == [said]
    assert await used(store) == Decimal(180)


async def test_a_sum_whose_row_comes_while_it_is_compared_is_right(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    other = await open_another()
    run = await Worked.of(other, clock, "run_1", *(f"c{n}" for n in range(30)))

    async def go_on() -> None:
        for n in range(30):
            await run.start(f"c{n}", of_limit("1", limit=f"limit {n}"))

    going = asyncio.create_task(go_on())
    while not going.done():
        assert await store.limits.differences() == []
    await going


def test_words_that_can_count_again_what_was_given_back_move_sums_too() -> None:
    assert may_move_sums([ended("c1", "committed")])
    assert may_move_sums([ended("c1", "unknown")])
    assert may_move_sums([unknown("c1")])
    assert not may_move_sums([ended("c1", None)])


async def test_sums_are_compared_page_by_page(
    store: SqlStore, clock: ManualClock, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = [f"c{n}" for n in range(7)]
    run = await Worked.of(store, clock, "run_1", *calls)
    for n, call in enumerate(calls):
        await run.start(call, of_limit("1", limit=f"l{n % 4}"), of_limit("1", limit="all"))
    monkeypatch.setattr("store.limit_sums.PAGE", 2)
    assert await store.limits.differences() == []
    ask(url, "UPDATE limits SET used = '9' WHERE limit_key IN ('l3', 'all')")
    assert len(await store.limits.differences()) == 2


@on_postgres
async def test_without_the_lock_on_its_row_a_limit_would_be_exceeded(
    store: SqlStore,
    open_another: OpenAnother,
    clock: ManualClock,
    url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The control of the test with two processes: it can see what it is about."""
    unlocked = select(schema.limits.c.used).where(
        schema.limits.c.limit_key == bindparam("of_limit")
    )
    monkeypatch.setattr("store.limits._LOCK", unlocked)
    stores = [store, await open_another()]
    async with asyncio.timeout(30):
        for n in count():
            runs = [
                await Worked.of(one, clock, f"run_{n}_{i}", f"c{n}_{i}")
                for i, one in enumerate(stores)
            ]
            limit = f"limit {n}"
            ask_for = of_limit("1", "1", limit)
            ask(url, "INSERT INTO limits (limit_key, used) VALUES (?, '0')", limit)
            done = await asyncio.gather(
                *(run.start(f"c{n}_{i}", ask_for) for i, run in enumerate(runs)),
                return_exceptions=True,
            )
            if done == [None, None]:
                break
    assert len(await store.limits.differences()) == 1
