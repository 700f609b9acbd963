"""A journal that is not what was written is not read, and keeps no other from being worked."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.errors import CorruptJournal, NotFound
from agent.rules.ids import RunId
from agent.rules.recorded import Recorded
from store import SqlStore
from store.bodies import write_body
from store.chain import hash_fact
from store.instants import END_OF_TIME
from tests.store.clock import ManualClock
from tests.store.conftest import on_sqlite
from tests.store.database import ask
from tests.store.story import begin, replied, requested, stamp, stamps
from tests.store.tampering import Change, rewrite, setting, to

TERM = timedelta(seconds=30)
RUN = RunId("run_1")


async def tell(store: SqlStore, clock: ManualClock, run_id: str = "run_1") -> list[Recorded]:
    """A run of three facts."""
    await begin(store.journal, clock, run_id)
    events = stamps(clock, replied(text="héllo \u2028 \x00"), replied(text="b"))
    await store.journal.intend(RunId(run_id), events, expected_seq=1)
    return await store.journal.read(RunId(run_id))


async def broken(store: SqlStore, run_id: RunId = RUN) -> tuple[int, str]:
    """Where the check finds it broken, which is where the reading does."""
    found = (await store.verifier.check(run_id)).broken
    assert found is not None
    assert found.journal == run_id
    with pytest.raises(CorruptJournal) as corrupt:
        await store.journal.read(run_id)
    assert (corrupt.value.run_id, corrupt.value.seq, corrupt.value.why) == (
        *(run_id, found.seq, found.why),
    )
    return found.seq, found.why


async def test_what_nobody_touched_is_whole(store: SqlStore, clock: ManualClock) -> None:
    read = await tell(store, clock)
    checked = await store.verifier.check(RUN)
    assert checked.broken is None
    assert (checked.head.seq, checked.head.hash) == (3, read[-1].hash)
    assert (await store.verifier.check_control()).head.seq == 0
    with pytest.raises(NotFound):
        await store.verifier.check(RunId("run_0"))


@pytest.mark.parametrize(
    ("damage", "at", "why"),
    [
        ("DELETE FROM journal WHERE seq = 1", 1, "it is missing"),
        ("DELETE FROM journal WHERE seq = 2", 2, "it is missing"),
        ("DELETE FROM journal WHERE seq = 3", 3, "it is missing"),
        ("DELETE FROM journal", 1, "it is missing"),
        ("UPDATE journal SET body = '{' WHERE seq = 2", 2, "it is not what was written"),
        ("UPDATE journal SET body = body || ' ' WHERE seq = 3", 3, "it is not what was written"),
        ("UPDATE journal SET event_id = 'x' WHERE seq = 2", 2, "it is not what was written"),
        ("UPDATE journal SET hash = 'x' WHERE seq = 2", 2, "it is not what was written"),
        ("UPDATE journal SET at = at + 1 WHERE seq = 2", 2, "its time differs from its row"),
        ("UPDATE journal SET at = 9e18 WHERE seq = 2", 2, "its time differs from its row"),
        ("UPDATE journal SET seq = 9 WHERE seq = 3", 3, "it is missing"),
        ("UPDATE journal SET seq = -1 WHERE seq = 3", 1, "it is missing"),
        ("UPDATE journal SET seq = 0 WHERE seq = 1", 1, "it is missing"),
        ("UPDATE runs SET head_seq = 2", 3, "the head is another"),
        ("UPDATE runs SET head_seq = 4", 4, "it is missing"),
        ("UPDATE runs SET head_seq = -1", 3, "the head is another"),
        ("UPDATE runs SET head_hash = 'x'", 3, "the head is another"),
    ],
)
async def test_the_first_fact_that_is_not_as_it_was_written_is_named(
    store: SqlStore, clock: ManualClock, url: str, damage: str, at: int, why: str
) -> None:
    await tell(store, clock)
    ask(url, damage)
    seq, said = await broken(store)
    assert seq == at
    assert why in said


@on_sqlite
@pytest.mark.parametrize(
    ("damage", "at"),
    [
        ("UPDATE journal SET body = CAST(body AS BLOB) WHERE seq = 2", 2),
        ("UPDATE journal SET body = CAST(x'ff' AS TEXT) WHERE seq = 2", 2),
        ("UPDATE journal SET body = CAST('\"' || x'fffe' || '\"' AS TEXT) WHERE seq = 2", 2),
        ("UPDATE journal SET event_id = x'00' WHERE seq = 2", 2),
        ("UPDATE journal SET hash = x'00' WHERE seq = 2", 2),
        ("UPDATE journal SET body = 7 WHERE seq = 2", 2),
        ("UPDATE journal SET at = 'never' WHERE seq = 2", 2),
        ("UPDATE journal SET seq = 'two' WHERE seq = 2", 2),
        ("UPDATE journal SET seq = 2.5 WHERE seq = 2", 2),
        ("UPDATE runs SET head_seq = 'three'", 3),
        ("UPDATE runs SET head_hash = x'00'", 3),
    ],
)
async def test_what_a_file_takes_and_no_column_should_is_named(
    store: SqlStore, clock: ManualClock, url: str, damage: str, at: int
) -> None:
    await tell(store, clock)
    ask(url, damage)
    assert (await broken(store))[0] == at


async def test_facts_that_changed_places_are_named(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await tell(store, clock)
    for old, new in ((2, 9), (3, 2), (9, 3)):
        ask(url, "UPDATE journal SET seq = ? WHERE seq = ?", new, old)
    assert await broken(store) == (2, "it is not what was written")


@pytest.mark.parametrize("knows_the_hash", [True, False])
async def test_a_fact_that_was_put_in_is_named(
    store: SqlStore, clock: ManualClock, url: str, knows_the_hash: bool
) -> None:
    read = await tell(store, clock)
    fact = write_body(stamp(clock, replied(text="forged")))
    hash = hash_fact(read[-1].hash, RUN, 4, fact.id, fact.body) if knows_the_hash else "0" * 64
    at = ask(url, "SELECT at FROM journal WHERE seq = 3")[0][0]
    ask(
        url,
        "INSERT INTO journal (run_id, seq, event_id, at, hash, body) VALUES (?, 4, ?, ?, ?, ?)",
        *(RUN, fact.id, at, hash, fact.body),
    )
    why = "the head is another" if knows_the_hash else "it is not what was written"
    assert await broken(store) == (4, why)


async def test_a_fact_of_another_run_does_not_fit(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await tell(store, clock)
    await tell(store, clock, "run_2")
    ask(url, "DELETE FROM journal WHERE run_id = 'run_1' AND seq = 3")
    ask(url, "UPDATE journal SET run_id = 'run_1' WHERE run_id = 'run_2' AND seq = 3")
    assert await broken(store) == (3, "it is not what was written")
    assert await broken(store, RunId("run_2")) == (3, "it is missing")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (to("{"), "JSONDecodeError"),
        (to("[]"), "TypeError"),
        (to("[" * 100_000), "nested too deeply"),
        (setting(at="2026-01-01T00:00:00Z"), "its time differs"),
        (setting(id="other"), "its id or"),
    ],
)
async def test_a_forged_chain_hides_no_body_that_can_not_be_right(
    store: SqlStore, clock: ManualClock, url: str, change: Change, why: str
) -> None:
    await tell(store, clock)
    rewrite(url, 2, change)
    seq, said = await broken(store)
    assert seq == 2
    assert why in said


@pytest.mark.parametrize(
    "change",
    [
        setting(text=None),
        setting(usage={"cost_usd": "NaN"}),
        lambda body: body.replace('"asked_at":1', '"asked_at":1e400'),
        lambda body: body.replace('"asked_at":1', '"asked_at":NaN'),
        lambda body: body.replace('"asked_at":1', '"asked_at":' + "9" * 5_000),
        setting(version="1.5"),
    ],
)
async def test_a_fact_that_no_build_wrote_is_not_read(
    store: SqlStore, clock: ManualClock, url: str, change: Change
) -> None:
    await tell(store, clock)
    rewrite(url, 2, change)
    with pytest.raises(CorruptJournal) as corrupt:
        await store.journal.read(RUN)
    assert corrupt.value.seq == 2


class TestReadingOn:
    async def test_what_stands_before_is_not_looked_at(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        read = await tell(store, clock)
        ask(url, "DELETE FROM journal WHERE seq = 1")
        assert await store.journal.read(RUN, after=2) == read[2:]
        assert await store.journal.read(RUN, after=3) == []
        assert await store.journal.read(RUN, after=10**30) == []

    @pytest.mark.parametrize(
        ("damage", "after", "at"),
        [
            ("DELETE FROM journal WHERE seq = 2", 2, 2),
            ("UPDATE journal SET hash = 'x' WHERE seq = 2", 2, 3),
            ("DELETE FROM journal WHERE seq = 3", 2, 3),
            ("DELETE FROM journal WHERE seq = 3", 3, 3),
            ("UPDATE journal SET body = '{}' WHERE seq = 3", 2, 3),
            ("UPDATE journal SET hash = 'x' WHERE seq = 3", 3, 3),
            ("UPDATE runs SET head_hash = 'x'", 3, 3),
        ],
    )
    async def test_what_follows_is_tied_to_what_was_read(
        self, store: SqlStore, clock: ManualClock, url: str, damage: str, after: int, at: int
    ) -> None:
        await tell(store, clock)
        ask(url, damage)
        with pytest.raises(CorruptJournal) as corrupt:
            await store.journal.read(RUN, after)
        assert corrupt.value.seq == at


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE journal SET body = '{}' WHERE run_id = 'run_1'",
        "UPDATE runs SET head_seq = 9000000000000000000 WHERE run_id = 'run_1'",
        "UPDATE runs SET fence = 9223372036854775807 WHERE run_id = 'run_1'",
        "UPDATE runs SET fence = -9 WHERE run_id = 'run_1'",
        "UPDATE runs SET claims = 2147483647 WHERE run_id = 'run_1'",
        "UPDATE runs SET lease_expires_at = 9000000000000000000 WHERE run_id = 'run_1'",
        "UPDATE runs SET wake_at = -9000000000000000000 WHERE run_id = 'run_1'",
        "UPDATE runs SET status = 'odd', agent = '' WHERE run_id = 'run_1'",
        "UPDATE runs SET format = -5 WHERE run_id = 'run_1'",
    ],
)
async def test_a_damaged_run_keeps_no_other_from_being_listed_and_claimed(
    store: SqlStore, clock: ManualClock, url: str, damage: str
) -> None:
    await tell(store, clock)
    await tell(store, clock, "run_2")
    ask(url, damage)
    listed = [row.run_id for row in await store.lists.runs(limit=9)]
    assert sorted(listed) == ["run_1", "run_2"]
    claimed = [lease.run_id for lease in await store.run_leases.claim("p", TERM, 9)]
    assert "run_2" in claimed
    assert len(await store.journal.read(RunId("run_2"))) == 3


@on_sqlite
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE runs SET fence = 'x', head_seq = 'y', claims = 'z' WHERE run_id = 'run_1'",
        "UPDATE runs SET lease_expires_at = 'x', wake_at = x'00' WHERE run_id = 'run_1'",
        "UPDATE runs SET agent = CAST(x'ff' AS TEXT), session = x'00' WHERE run_id = 'run_1'",
        "UPDATE approvals SET requested_at = 'x', expires_at = 'y' WHERE run_id = 'run_1'",
        "UPDATE approvals SET call_id = CAST(x'ff' AS TEXT), kind = 7 WHERE run_id = 'run_1'",
    ],
)
async def test_a_row_that_no_column_should_take_hides_no_other(
    store: SqlStore, clock: ManualClock, url: str, damage: str
) -> None:
    for run_id, approval, call in (("run_1", "apr_1", "call_1"), ("run_2", "apr_2", "call_2")):
        await begin(store.journal, clock, run_id)
        asked = stamps(clock, replied(call), requested(approval, call))
        await store.journal.intend(RunId(run_id), asked, expected_seq=1)
    ask(url, damage)
    assert {row.run_id for row in await store.lists.runs(limit=9)} == {"run_1", "run_2"}
    assert {row.approval_id for row in await store.lists.approvals(limit=9)} == {"apr_1", "apr_2"}
    assert "run_2" in [lease.run_id for lease in await store.run_leases.claim("p", TERM, 9)]


@pytest.mark.parametrize("fence", [-1, 2**62])
async def test_a_run_that_nobody_could_claim_any_more_is_called_corrupt(
    store: SqlStore, clock: ManualClock, url: str, fence: int
) -> None:
    await tell(store, clock)
    ask(url, "UPDATE runs SET fence = ?", fence)
    with pytest.raises(CorruptJournal, match="fence"):
        await store.journal.read(RUN)


@pytest.mark.parametrize("stored", [9_000_000_000_000_000_000, -9_000_000_000_000_000_000])
async def test_an_instant_that_can_not_be_one_reads_as_the_end_of_time(
    store: SqlStore, clock: ManualClock, url: str, stored: int
) -> None:
    await tell(store, clock)
    await store.journal.intend(
        RUN, stamps(clock, replied("c"), requested("apr_1", "c")), expected_seq=3
    )
    ask(url, "UPDATE approvals SET requested_at = ?", stored)
    (row,) = await store.lists.approvals(limit=9)
    assert row.requested_at == END_OF_TIME
