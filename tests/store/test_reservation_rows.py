"""The rows of a run's reservations, lost or changed by hand, are written anew from its journal."""

from __future__ import annotations

import pytest

from agent.rules.events import CallLookedUp
from agent.rules.fold import fold
from agent.rules.ids import CallId
from store import SqlStore, reservation_rows
from tests.store.clock import ManualClock
from tests.store.database import ask
from tests.store.limits import DAY, Worked, as_folded, as_kept, of_limit, used
from tests.store.outside import in_transaction

SAID = "run_1: what c1 has reserved of the limit refunds a day is not kept as its journal says"


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM reservations WHERE call_id = 'c1'",
        "UPDATE reservations SET status = 'freed' WHERE call_id = 'c1'",
        "UPDATE reservations SET amount = '1' WHERE call_id = 'c1'",
        "UPDATE reservations SET amount = 'much' WHERE call_id = 'c1'",
    ],
)
async def test_rows_that_say_something_else_than_the_journal_are_written_anew(
    store: SqlStore, clock: ManualClock, url: str, damage: str
) -> None:
    run = await Worked.of(store, clock, "run_1", "c1", "c2", "c3")
    await run.start("c1", of_limit("180"))
    await run.start("c2", of_limit("20"), of_limit("1", limit="calls"))
    await run.start("c3", of_limit("7"))
    await run.tell(CallLookedUp(call_id=CallId("c3")))
    state = fold(await store.journal.read(run.run_id))
    assert in_transaction(url, lambda c: reservation_rows.differences(c, state)) == []
    assert in_transaction(url, lambda c: reservation_rows.mend(c, state)) == []

    ask(url, damage)
    assert in_transaction(url, lambda c: reservation_rows.differences(c, state)) == [SAID]
    assert in_transaction(url, lambda c: reservation_rows.mend(c, state))[0] == SAID
    assert as_kept(url, run.run_id) == await as_folded(store, run.run_id)
    assert await store.limits.used([DAY, "calls"]) == {DAY: 200, "calls": 1}
    assert await store.limits.differences() == []


async def test_a_reservation_that_no_fact_says_is_taken_out(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    run = await Worked.of(store, clock, "run_1", "c1")
    await run.start("c1", of_limit("180"))
    ask(
        url,
        "INSERT INTO reservations (run_id, call_id, limit_key, amount, status)"
        " VALUES ('run_1', 'c9', 'another', '5', 'held')",
    )
    state = fold(await store.journal.read(run.run_id))
    assert len(in_transaction(url, lambda c: reservation_rows.mend(c, state))) == 1
    assert as_kept(url, run.run_id) == await as_folded(store, run.run_id)


async def test_nothing_is_said_of_a_state_that_the_journal_has_left_behind(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    run = await Worked.of(store, clock, "run_1", "c1")
    await run.start("c1", of_limit("180"))
    state = fold(await store.journal.read(run.run_id))
    await run.tell(CallLookedUp(call_id=CallId("c1")))
    assert in_transaction(url, lambda c: reservation_rows.differences(c, state)) == []
    assert in_transaction(url, lambda c: reservation_rows.mend(c, state)) == []
    assert await store.projections.differences(state) == []


async def test_what_another_run_has_reserved_and_can_not_be_read_keeps_nobody_from_mending(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    run = await Worked.of(store, clock, "run_1", "c1")
    other = await Worked.of(store, clock, "run_2", "d1")
    await run.start("c1", of_limit("180"))
    await other.start("d1", of_limit("20"))
    ask(url, "UPDATE reservations SET amount = 'much' WHERE run_id = 'run_2'")
    ask(url, "UPDATE reservations SET amount = '1' WHERE run_id = 'run_1'")
    state = fold(await store.journal.read(run.run_id))
    assert await store.projections.mend(state) == [
        SAID,
        f"limit {DAY}: what is reserved can't be counted; what is used is left as it is",
    ]
    assert as_kept(url, run.run_id) == await as_folded(store, run.run_id)
    assert await used(store) == 200
