"""Every journal is checked, also against heads that were taken out of the store before."""

from __future__ import annotations

import asyncio

import pytest

from agent.errors import NotFound
from agent.rules.anchors import CONTROL, Anchor, Break, anchor_of
from agent.rules.events import RunFinished
from agent.rules.ids import RunId
from agent.verifying import Verified, verify
from store import SqlStore
from store.verifying import SqlVerifier
from tests.store.clock import ManualClock
from tests.store.conftest import on_sqlite
from tests.store.database import ask
from tests.store.story import begin, replied, stamps
from tests.store.tampering import rewrite, setting


async def tell(store: SqlStore, clock: ManualClock, runs: int = 3) -> None:
    """So many runs of three facts each."""
    for number in range(1, runs + 1):
        run_id = await begin(store.journal, clock, f"run_{number}")
        events = stamps(clock, replied(text="a"), replied(text="b"))
        await store.journal.intend(run_id, events, expected_seq=1)


async def take_anchor(store: SqlStore, clock: ManualClock) -> Anchor:
    verified = await verify(store.verifier)
    assert verified.is_whole
    return anchor_of(verified.heads, clock.now())


async def breaks(store: SqlStore, anchor: Anchor | None = None) -> list[tuple[str, int]]:
    return [(one.journal, one.seq) for one in (await verify(store.verifier, anchor=anchor)).breaks]


async def test_an_empty_store_is_whole(store: SqlStore) -> None:
    verified = await verify(store.verifier)
    assert (verified.runs, verified.facts, verified.breaks) == (0, 0, ())
    assert [head.journal for head in verified.heads] == [CONTROL]


async def test_the_first_break_of_each_journal_is_named(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await tell(store, clock)
    ask(url, "UPDATE journal SET body = '{}' WHERE run_id = 'run_1' AND seq > 1")
    ask(url, "DELETE FROM journal WHERE run_id = 'run_3' AND seq = 3")
    ask(url, "DELETE FROM control_head")
    verified = await verify(store.verifier)
    assert [(one.journal, one.seq) for one in verified.breaks] == [
        (CONTROL, 0),
        ("run_1", 2),
        ("run_3", 3),
    ]
    assert (verified.runs, verified.facts) == (3, 1 + 3 + 2)
    assert [head.journal for head in verified.heads] == ["run_2"]


async def test_one_run_alone_can_be_checked(store: SqlStore, clock: ManualClock, url: str) -> None:
    await tell(store, clock)
    ask(url, "UPDATE journal SET body = '{}' WHERE run_id = 'run_1' AND seq > 1")
    assert (await verify(store.verifier, RunId("run_2"))).is_whole
    assert (await verify(store.verifier, RunId("run_1"))).breaks == (
        Break("run_1", 2, "it is not what was written"),
    )
    with pytest.raises(NotFound):
        await verify(store.verifier, RunId("run_0"))


@pytest.mark.parametrize("at_a_time", [1, 2, 3])
async def test_pages_leave_nothing_out(
    store: SqlStore, clock: ManualClock, url: str, at_a_time: int
) -> None:
    await tell(store, clock, runs=5)
    verifier = SqlVerifier(store.verifier._reader, at_a_time)
    whole = await verify(verifier)
    assert (whole.is_whole, whole.runs, whole.facts) == (True, 5, 15)
    ask(url, "UPDATE journal SET body = '{}' WHERE run_id = 'run_4' AND seq = 3")
    assert [(one.journal, one.seq) for one in (await verify(verifier)).breaks] == [("run_4", 3)]


async def test_a_first_look_says_only_what_is_plainly_whole(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await tell(store, clock, runs=4)
    looked = [one async for one in store.verifier.first_looks()]
    assert looked == [(id, await store.verifier.check(id)) for id, _ in looked]
    assert [id for id, _ in looked] == ["run_1", "run_2", "run_3", "run_4"]
    ask(url, "UPDATE journal SET body = '{}' WHERE run_id = 'run_2' AND seq = 3")
    ask(url, "DELETE FROM journal WHERE run_id = 'run_3' AND seq = 3")
    ask(url, "UPDATE journal SET purged_by = 1 WHERE run_id = 'run_4' AND seq = 1")
    found = {id: one is not None async for id, one in store.verifier.first_looks()}
    assert found == {"run_1": True, "run_2": False, "run_3": False, "run_4": False}


async def test_what_is_longer_than_a_page_is_left_to_a_look_of_its_own(
    store: SqlStore, clock: ManualClock
) -> None:
    await tell(store, clock, runs=3)
    verifier = SqlVerifier(store.verifier._reader, 2)
    assert [one async for one in verifier.first_looks()] == [
        (RunId(f"run_{n}"), None) for n in (1, 2, 3)
    ]


async def test_many_heads_are_kept_only_for_an_anchor(store: SqlStore, clock: ManualClock) -> None:
    await tell(store, clock, runs=3)
    told: list[tuple[int, int]] = []
    verified = await verify(
        store.verifier, keeps_heads=False, progress=lambda *numbers: told.append(numbers)
    )
    assert (verified.is_whole, verified.runs, verified.heads) == (True, 3, ())
    assert told[-1] == (verified.runs, verified.facts)


async def test_appends_meanwhile_are_no_breaks(store: SqlStore, clock: ManualClock) -> None:
    await tell(store, clock)

    async def go_on() -> None:
        for seq in range(3, 43):
            await store.journal.intend(RunId("run_1"), stamps(clock, replied()), expected_seq=seq)

    verifier = SqlVerifier(store.verifier._reader, 2)
    appending = asyncio.create_task(go_on())
    looks: list[Verified] = []
    while not appending.done():
        looks.append(await verify(verifier))
    await appending
    assert all(one.is_whole for one in looks)


@on_sqlite
async def test_facts_without_a_row_of_their_run_are_named(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    """A server keeps such a row; a file is told to by who opens it."""
    await tell(store, clock)
    ask(url, "DELETE FROM runs WHERE run_id = 'run_2'")
    assert await breaks(store) == [("run_2", 0)]
    (broken,) = (await verify(store.verifier, RunId("run_2"))).breaks
    assert "no row" in broken.why


class TestAnAnchor:
    async def test_of_what_goes_on_holds(self, store: SqlStore, clock: ManualClock) -> None:
        await tell(store, clock)
        anchor = await take_anchor(store, clock)
        await store.journal.intend(
            RunId("run_1"), stamps(clock, RunFinished(answer="done")), expected_seq=3
        )
        await begin(store.journal, clock, "run_9")
        assert (await verify(store.verifier, anchor=anchor)).is_whole

    async def test_shows_a_tail_that_was_cut_off(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        await tell(store, clock)
        anchor = await take_anchor(store, clock)
        ((hash,),) = ask(url, "SELECT hash FROM journal WHERE run_id = 'run_2' AND seq = 2")
        ask(url, "DELETE FROM journal WHERE run_id = 'run_2' AND seq = 3")
        ask(url, "UPDATE runs SET head_seq = 2, head_hash = ? WHERE run_id = 'run_2'", hash)
        assert await breaks(store) == []
        assert await breaks(store, anchor) == [("run_2", 3)]

    async def test_shows_a_chain_that_was_written_anew(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        await tell(store, clock)
        anchor = await take_anchor(store, clock)
        rewrite(url, 2, setting(text="forged"), "run_2")
        assert await breaks(store) == []
        assert await breaks(store, anchor) == [("run_2", 3)]
        (broken,) = (await verify(store.verifier, RunId("run_2"), anchor)).breaks
        assert "anchor" in broken.why

    async def test_shows_a_run_that_was_removed(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        await tell(store, clock)
        anchor = await take_anchor(store, clock)
        ask(url, "DELETE FROM journal WHERE run_id = 'run_2'")
        ask(url, "DELETE FROM runs WHERE run_id = 'run_2'")
        assert await breaks(store) == []
        assert await breaks(store, anchor) == [("run_2", 0)]
        assert (await verify(store.verifier, RunId("run_2"), anchor)).breaks[0].seq == 0

    async def test_of_another_store_fits_nothing(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        await tell(store, clock)
        anchor = await take_anchor(store, clock)
        ask(url, "DELETE FROM journal")
        ask(url, "DELETE FROM runs")
        await tell(store, clock)
        assert len(await breaks(store, anchor)) == 3
