"""Who has the database alone can't write a chain anew."""

from __future__ import annotations

import pytest

from agent.errors import ConfigError, CorruptJournal, SchemaRefused, StoreError
from agent.ports import Process
from agent.rules.ids import RunId
from store import SqlStore
from store.chain import CHANGED, LACKS_KEY
from store.keys import NO_KEYS, Keys, new_key, parse_keys
from store.marks import UNMARKED
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_sqlite
from tests.store.database import ask
from tests.store.story import begin, replied, stamps
from tests.store.tampering import rewrite, rewrite_control, setting
from tests.store.test_standing import tell as record_control
from tests.store.test_standing import turned

AUDIT = parse_keys(None, new_key())


@pytest.fixture
async def audited(open_another: OpenAnother, clock: ManualClock) -> SqlStore:
    """A store that takes the key since its second run."""
    store = await open_another()
    await tell(store, clock, "run_before")
    await tell(store, clock, "run_on")
    await store.close()
    store = await open_another(keys=AUDIT)
    await store.journal.intend(RunId("run_on"), stamps(clock, replied()), expected_seq=2)
    await tell(store, clock, "run_since")
    while await store.rotation.go_on("me"):
        pass
    return store


async def tell(store: SqlStore, clock: ManualClock, run_id: str) -> None:
    await begin(store.journal, clock, run_id)
    await store.journal.intend(RunId(run_id), stamps(clock, replied()), expected_seq=1)


async def broken(store: SqlStore, run_id: str) -> str | None:
    found = (await store.verifier.check(RunId(run_id))).broken
    return None if found is None else found.why


async def test_what_was_written_before_and_since_is_whole(audited: SqlStore) -> None:
    for run_id in ("run_before", "run_on", "run_since"):
        assert await broken(audited, run_id) is None
        assert await audited.journal.read(RunId(run_id))
    assert (await audited.verifier.check_control()).broken is None
    assert (await audited.rotation.status()).is_marking is False


@pytest.mark.parametrize("run_id", ["run_before", "run_on", "run_since"])
async def test_a_chain_that_is_written_anew_without_it_is_named(
    audited: SqlStore, url: str, run_id: str
) -> None:
    """It is whole in itself, and without the key it would pass."""
    rewrite(url, 2, setting(text="forged"), run_id)
    assert await broken(audited, run_id) == UNMARKED


async def test_the_control_journal_written_anew_is_named(audited: SqlStore, url: str) -> None:
    rewrite_control(url, 1, setting(change="retired"))
    found = (await audited.verifier.check_control()).broken
    assert found is not None
    assert found.why == UNMARKED


@pytest.mark.parametrize("run_id", ["run_before", "run_on", "run_since"])
async def test_nothing_is_read_of_what_was_written_anew_and_nothing_vouches_for_it(
    audited: SqlStore, clock: ManualClock, url: str, run_id: str
) -> None:
    """Whoever goes on with it would carry out what somebody forged, and make it whole by a fact with the key."""
    rewrite(url, 2, setting(text="forged"), run_id)
    ((head, fence),) = ask(url, "SELECT head_seq, fence FROM runs WHERE run_id = ?", run_id)
    with pytest.raises(CorruptJournal, match=UNMARKED):
        await audited.journal.read(RunId(run_id))
    for wanted in (
        audited.journal.intend(RunId(run_id), stamps(clock, replied()), expected_seq=head),
        audited.journal.record(RunId(run_id), stamps(clock, replied()), fence=fence),
    ):
        with pytest.raises(CorruptJournal, match=UNMARKED):
            await wanted
    assert await broken(audited, run_id) == UNMARKED


async def test_nothing_starts_and_nothing_follows_behind_a_control_journal_that_was_written_anew(
    audited: SqlStore, clock: ManualClock, url: str
) -> None:
    await record_control(audited, clock, turned("refunds", True))
    rewrite_control(url, 2, setting(is_on=False))
    with pytest.raises(CorruptJournal, match=UNMARKED):
        await audited.control.switches_on()
    with pytest.raises(CorruptJournal, match=UNMARKED):
        await record_control(audited, clock, turned("refunds", True))
    found = (await audited.verifier.check_control()).broken
    assert found is not None
    assert found.why == UNMARKED


@pytest.mark.parametrize("deed", ["UPDATE journal SET body = ?", "UPDATE runs SET head_hash = ?"])
async def test_what_was_broken_before_the_key_came_gets_no_mark(
    open_another: OpenAnother,
    clock: ManualClock,
    url: str,
    caplog: pytest.LogCaptureFixture,
    deed: str,
) -> None:
    store = await open_another()
    for run_id in ("run_1", "run_2", "run_3"):
        await tell(store, clock, run_id)
    await store.close()
    ask(url, f"{deed} WHERE run_id = 'run_2'", "forged")
    store = await open_another()
    before = (await store.verifier.check(RunId("run_2"))).broken
    assert before is not None
    await store.close()

    store = await open_another(keys=AUDIT)
    while await store.rotation.go_on("me"):
        pass
    assert ask(url, "SELECT run_id FROM runs WHERE mark IS NOT NULL ORDER BY run_id") == [
        ("run_1",),
        ("run_3",),
    ]
    assert (await store.verifier.check(RunId("run_2"))).broken == before
    assert [await broken(store, one) for one in ("run_1", "run_3")] == [None, None]
    assert "given no mark of the audit key, as it is not what was written: 1 run." in caplog.text


async def test_a_control_journal_that_was_broken_before_the_key_came_stays_so(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    store = await open_another()
    await record_control(store, clock, turned("refunds", True))
    await store.close()
    ask(url, "UPDATE control_journal SET body = replace(body, 'true', 'false')")
    store = await open_another(keys=AUDIT)
    while await store.rotation.go_on("me"):
        pass
    found = (await store.verifier.check_control()).broken
    assert found is not None
    assert (found.seq, found.why) == (1, CHANGED)


@pytest.mark.parametrize(
    "deed", ["UPDATE rewriting SET is_done = false", "DELETE FROM rewriting", "DELETE FROM keys"]
)
async def test_who_says_that_more_is_to_be_marked_gets_no_forgery_marked(
    audited: SqlStore, open_another: OpenAnother, url: str, deed: str
) -> None:
    rewrite(url, 2, setting(text="forged"), "run_since")
    ask(url, deed)
    for store in (audited, await open_another(keys=AUDIT)):
        while await store.rotation.go_on("me"):
            pass
        assert await broken(store, "run_since") == UNMARKED


async def test_a_mark_of_another_run_is_none(
    audited: SqlStore, clock: ManualClock, url: str
) -> None:
    rewrite(url, 2, setting(text="forged"), "run_since")
    ask(url, "UPDATE runs SET mark = (SELECT mark FROM runs WHERE run_id = 'run_before')")
    assert await broken(audited, "run_since") == UNMARKED


async def test_a_fact_without_it_behind_one_with_it_is_named(audited: SqlStore, url: str) -> None:
    hash = "0" * 64
    ask(url, "UPDATE journal SET hash = ? WHERE run_id = 'run_since' AND seq = 2", hash)
    assert await broken(audited, "run_since") == LACKS_KEY


async def test_who_deletes_what_the_tables_know_of_it_gets_no_forgery_marked(
    audited: SqlStore, open_another: OpenAnother, url: str
) -> None:
    rewrite(url, 2, setting(text="forged"), "run_since")
    ask(url, "DELETE FROM keys")
    ask(url, "DELETE FROM rewriting")
    store = await open_another(keys=AUDIT)
    while await store.rotation.go_on("me"):
        pass
    assert await broken(store, "run_since") == UNMARKED


@pytest.mark.parametrize(
    ("held", "why"),
    [
        (NO_KEYS, "PILOTHOUSE_AUDIT_KEY is not set"),
        (parse_keys(None, new_key()), "PILOTHOUSE_AUDIT_KEY is another key"),
    ],
)
async def test_without_it_nothing_is_opened(
    audited: SqlStore, open_another: OpenAnother, held: Keys, why: str
) -> None:
    with pytest.raises(ConfigError, match=why):
        await open_another(keys=held)


async def test_without_it_nothing_is_opened_either_where_its_row_was_deleted(
    audited: SqlStore, clock: ManualClock, open_another: OpenAnother, url: str
) -> None:
    await record_control(audited, clock, turned("refunds", True))
    ask(url, "DELETE FROM keys")
    with pytest.raises(ConfigError, match="PILOTHOUSE_AUDIT_KEY is not set"):
        await open_another(keys=NO_KEYS)


@pytest.mark.parametrize("proof", ["", "x", "\u00e9", 7, b"\xff"])
@on_sqlite
async def test_a_proof_that_is_none_is_another_key(
    audited: SqlStore, open_another: OpenAnother, url: str, proof: object
) -> None:
    """A file's columns take anything."""
    ask(url, "UPDATE keys SET proof = ?", proof)
    with pytest.raises(ConfigError, match="PILOTHOUSE_AUDIT_KEY is another key"):
        await open_another(keys=AUDIT)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "x",
        "[]",
        '{"audit": true}',
        '{"audit": "yes", "encryption": []}',
        '{"audit": true, "encryption": 7}',
        7,
        b"\xff",
    ],
)
@on_sqlite
async def test_what_a_process_says_of_its_keys_and_nobody_can_read_says_that_it_has_none(
    open_another: OpenAnother, url: str, said: object
) -> None:
    store = await open_another()
    await store.processes.join(Process("proc_old", "test", (), True, True))
    ask(url, "UPDATE processes SET held_keys = ?", said)
    with pytest.raises(SchemaRefused, match=r"The audit key was not taken into use.*proc_old"):
        await open_another(keys=AUDIT)


async def test_it_waits_until_no_process_lives_without_it(open_another: OpenAnother) -> None:
    store = await open_another()
    await store.processes.join(Process("proc_old", "test", (), True, True))
    with pytest.raises(SchemaRefused, match=r"The audit key was not taken into use.*proc_old"):
        await open_another(keys=AUDIT)


async def test_who_was_there_before_appends_nothing_behind_it(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    """A command that has been running since, say."""
    before = await open_another()
    await begin(before.journal, clock)
    store = await open_another(keys=AUDIT)
    await store.journal.intend(RunId("run_1"), stamps(clock, replied()), expected_seq=1)
    with pytest.raises(StoreError, match="without PILOTHOUSE_AUDIT_KEY"):
        await before.journal.intend(RunId("run_1"), stamps(clock, replied()), expected_seq=2)
    assert await broken(store, "run_1") is None


async def test_who_was_there_before_writes_nothing_that_looks_like_a_forgery(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    """What ended has its mark by then: a fact without the key behind it could be anybody's."""
    before = await open_another()
    await begin(before.journal, clock)
    store = await open_another(keys=AUDIT)
    while await store.rotation.go_on("me"):
        pass
    for write in (
        before.journal.intend(RunId("run_1"), stamps(clock, replied()), expected_seq=1),
        begin(before.journal, clock, "run_2"),
        record_control(before, clock, turned("refunds", True)),
    ):
        with pytest.raises(StoreError, match="without PILOTHOUSE_AUDIT_KEY"):
            await write
    assert await broken(store, "run_1") is None
    assert ask(url, "SELECT count(*) FROM runs") == [(1,)]
