"""The rows of a run's reservations, lost or changed by hand, are written anew from its journal."""

from __future__ import annotations

import pytest

from agent.rules.events import CallLookedUp
from agent.rules.fold import fold
from agent.rules.ids import CallId
from store import SqlStore, reservation_rows
from tests.store.clock import ManualClock
from tests.store.database import ask
from tests.store.limits import DAY, Worked, as_folded, as_kept, of_limit
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
    assert in_transaction(url, lambda c: reservation_rows.mend(c, state)) == [SAID]
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
