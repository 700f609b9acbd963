"""Rows that would keep everybody away from a run: they are seen, and made free."""

from __future__ import annotations

import pytest

from agent.errors import CorruptJournal
from agent.rules.ids import RunId
from store import SqlStore
from tests.store.clock import ManualClock
from tests.store.database import ask
from tests.store.story import begin, decided, stamp, stamps, started
from tests.store.test_projections import RUN, TERM, ask_people

FAR = 9_000_000_000_000_000


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (f"UPDATE runs SET lease_expires_at = {FAR}", "the lease on its run: no holder's"),
        (
            f"UPDATE runs SET lease_expires_at = {FAR}, holder = 'p_gone'",
            "the lease on its run: no holder's",
        ),
        (f"UPDATE threads SET lease_expires_at = {FAR}", "the lease on its thread: no holder's"),
        (f"UPDATE threads SET shown_seq = 1, wake_at = {FAR}", "its thread: how far it is behind"),
        ("UPDATE runs SET format = 99", "its row: "),
    ],
)
async def test_a_row_that_would_keep_everybody_away_is_made_free(
    store: SqlStore, clock: ManualClock, url: str, damage: str, words: str
) -> None:
    state = await ask_people(store, clock)
    ask(url, damage)
    (said,) = await store.projections.differences(state)
    assert said.startswith(words)
    assert await store.projections.mend(state) == [said]
    assert await store.projections.differences(state) == []
    claimed = await store.run_leases.claim("p2", TERM, 9) + await store.thread_leases.claim(
        "p2", TERM, 9
    )
    assert (len(claimed) > 0) is ("format" not in damage), "that alone made nothing due"


async def test_a_decision_wakes_a_run_whose_lease_nobody_holds(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await ask_people(store, clock)
    ask(url, f"UPDATE runs SET lease_expires_at = {FAR}")
    await store.journal.intend(RUN, stamps(clock, decided("apr_1")), expected_seq=3)
    assert [lease.run_id for lease in await store.run_leases.claim("p2", TERM, 9)] == [RUN]


async def test_a_session_that_another_run_has_by_now_is_not_taken_from_it(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    state = await ask_people(store, clock)
    ask(url, "UPDATE runs SET session = 'elsewhere'")
    await store.journal.start(RunId("run_9"), stamp(clock, started("s_run_1")))
    with pytest.raises(CorruptJournal, match="run_9"):
        await store.projections.mend(state)


async def test_a_run_of_a_form_beyond_and_an_ended_one_that_is_listed_are_suspects(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await ask_people(store, clock)
    await begin(store.journal, clock, "run_2")
    assert [run async for run in store.projections.suspects()] == []
    ask(url, "UPDATE runs SET format = 99 WHERE run_id = 'run_2'")
    ask(url, "UPDATE runs SET status = 'finished' WHERE run_id = 'run_1'")
    assert [run async for run in store.projections.suspects()] == ["run_1", "run_2"]
