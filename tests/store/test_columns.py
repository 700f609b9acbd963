"""A file's columns take values of any type: one that is none of ours ends no list and no check for the others."""

from __future__ import annotations

import pytest

from agent.errors import CorruptJournal
from agent.verifying import verify
from store import SqlStore
from store.checking import differences
from store.keys import new_key, parse_keys
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_sqlite
from tests.store.database import ask
from tests.store.story import begin_shown, judged, replied, requested, stamps
from tests.store.test_standing import given, tell, turned

NO_NAME = repr(b"\x00\xff")


@on_sqlite
@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("UPDATE threads SET shown_seq = 'far', wake_at = NULL WHERE run_id = 'run_1'", "thread"),
        ("UPDATE approvals SET stage = 'high' WHERE run_id = 'run_1'", "approval"),
        ("UPDATE approvals SET stage = x'00ff' WHERE run_id = 'run_1'", "approval"),
        ("UPDATE awaited SET name = x'00ff' WHERE approval_id = 'apr_1'", "approval"),
    ],
)
async def test_what_is_no_value_of_ours_is_one_difference_and_hides_no_other(
    store: SqlStore, clock: ManualClock, url: str, written: str, said: str
) -> None:
    for number in (1, 2):
        run_id = await begin_shown(store, clock, f"run_{number}")
        call = f"call_{number}"
        asked = stamps(clock, replied(call), judged(call), requested(f"apr_{number}", call))
        await store.journal.intend(run_id, asked, expected_seq=1)
    assert await differences(store) == []
    ask(url, written)
    ask(url, "DELETE FROM approvals WHERE run_id = 'run_2'")
    first, second = await differences(store)
    assert (first.startswith("run_1: "), said in first) == (True, True)
    assert second == "run_2: approval apr_2: missing"


@on_sqlite
async def test_a_group_that_is_no_name_hides_no_other(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    ask(url, "INSERT INTO awaited VALUES ('apr_1', 'group', x'00ff', 0, 1)")
    ask(url, "INSERT INTO awaited VALUES ('apr_2', 'group', 'S1', 0, 1)")
    assert await store.lists.groups_asked(limit=10) == ["S1"]


@on_sqlite
async def test_a_fact_of_what_is_no_name_is_one_break_and_keeps_no_other_in_the_clear(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    for number in (1, 2):
        await begin_shown(store, clock, f"run_{number}")
    await store.close()
    ask(
        url,
        "INSERT INTO journal (run_id, seq, event_id, at, hash, body)"
        " SELECT x'00ff', 1, 'another', at, hash, body FROM journal WHERE run_id = 'run_1'",
    )
    encrypted = await open_another(keys=parse_keys(f"k1:{new_key()}", None))
    (broken,) = (await verify(encrypted.verifier)).breaks
    assert (broken.journal, broken.seq) == (repr(b"\x00\xff"), 0)
    while await encrypted.rotation.go_on("p1"):
        pass
    assert (await encrypted.rotation.status()).clear == 1


@on_sqlite
@pytest.mark.parametrize("at_sight", [True, False])
@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            "UPDATE grants SET grant_id = x'00ff'",
            f"grant {NO_NAME}: no fact says that there is one",
        ),
        (
            "UPDATE switches SET switch = x'00ff'",
            f"switch {NO_NAME}: no fact says that there is one",
        ),
        ("UPDATE control_head SET verdict_seq = 'far'", "newest fact that can change a verdict"),
        ("UPDATE control_head SET verdict_seq = x'00ff'", "newest fact that can change a verdict"),
    ],
)
async def test_what_is_no_name_or_number_beside_the_control_journal_is_found_and_mended(
    store: SqlStore, clock: ManualClock, url: str, written: str, said: str, at_sight: bool
) -> None:
    await tell(store, clock, given("grt_1"), turned("all", True))
    seq = await store.control.verdict_seq()
    ask(url, written)
    assert any(said in one for one in await differences(store))
    assert any(said in one for one in await store.control.mend(at_sight=at_sight))
    assert await differences(store) == []
    assert await store.control.verdict_seq() >= seq
    assert len(await store.control.grants()) == 1


@on_sqlite
async def test_of_a_head_that_does_not_say_what_can_change_verdicts_nothing_is_taken(
    store: SqlStore, url: str
) -> None:
    ask(url, "UPDATE control_head SET verdict_seq = 'far'")
    with pytest.raises(CorruptJournal):
        await store.control.verdict_seq()
