"""A row of a file that is damaged keeps neither retention nor a check from the others."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.mending import mend_all
from agent.rules.retention import STATUSES, Retention
from store import SqlStore
from store.checking import differences
from tests.store.clock import ManualClock
from tests.store.conftest import on_sqlite
from tests.store.database import ask
from tests.store.test_purging import sweep
from tests.store.test_purging_limits import ends_in, run_that_used, under

pytestmark = on_sqlite

DAY = timedelta(days=1)
AUDIT = Retention({"audit": dict.fromkeys(STATUSES, 30 * DAY)})


@pytest.mark.parametrize(
    ("written", "gone"),
    [
        ("UPDATE runs SET session = x'00ff' WHERE run_id = 'run_1'", 2),
        ("UPDATE runs SET agent = x'00ff' WHERE run_id = 'run_1'", 2),
        ("UPDATE runs SET purged_to = 'far' WHERE run_id = 'run_1'", 2),
        ("UPDATE reservations SET limit_key = x'00ff' WHERE run_id = 'run_1'", 2),
        # Of which nothing counts: it goes with its run.
        ("INSERT INTO reservations VALUES ('run_1', 'c', x'00ff', '1', 'released')", 3),
    ],
)
async def test_one_run_keeps_no_other_from_going(
    store: SqlStore, clock: ManualClock, url: str, written: str, gone: int
) -> None:
    for number in (1, 2, 3):
        await run_that_used(store, clock, f"run_{number}", under("20", until=ends_in(clock, 1)))
    ask(url, written)
    clock.move(40 * DAY)
    assert dict((await sweep(store, AUDIT)).removed) == {"audit": gone}
    assert all(one.startswith(("run_1: ", "limit ")) for one in await differences(store))


@pytest.mark.parametrize(
    "written",
    [
        "INSERT INTO limits VALUES (x'00ff', '5')",
        "UPDATE limits SET limit_key = x'00ff' WHERE limit_key = 'b'",
        "INSERT INTO reservations VALUES ('run_1', x'01', x'00ff', '1', 'held')",
        "UPDATE reservations SET limit_key = x'00ff' WHERE run_id = 'run_1'",
    ],
)
async def test_a_limit_that_is_no_name_hides_no_other(
    store: SqlStore, clock: ManualClock, url: str, written: str
) -> None:
    until = ends_in(clock, 1)
    await run_that_used(store, clock, "run_1", under("20", key="b", until=until))
    await run_that_used(store, clock, "run_2", under("20", until=until))
    ask(url, written)
    ask(url, "UPDATE limits SET used = '7' WHERE limit_key = 'refunds a day'")
    found = await differences(store)
    assert "limit refunds a day: 7 is said to be used, 20 is reserved" in found
    assert any(str(b"\x00\xff") in one for one in found)
    await mend_all(store, at_sight=True)
    assert not [one for one in await differences(store) if "refunds a day" in one]
