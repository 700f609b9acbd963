"""Rows of grants and switches that say anything else than the control journal give no consent, and are written anew."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from agent.errors import CorruptJournal, UnknownEvent
from store import SqlStore
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother
from tests.store.database import ask
from tests.store.tampering import rewrite_control, setting
from tests.store.test_standing import RUN, given, in_force, revoked, tell, turned

DAMAGE = {
    "grant grt_1: its row is missing": "DELETE FROM grants",
    "grant grt_1: its row is not what the journal says": "UPDATE grants SET agent = 'deploys'",
    "grant grt_1: its row is not": "UPDATE grants SET expires_at = NULL",
    "grant grt_1: its row": "UPDATE grants SET scope = 'agent'",
    "grant grt_2: no fact says": (
        "INSERT INTO grants (grant_id, agent, scope, given_seq)"
        " VALUES ('grt_2', 'refunds', 'agent', 1)"
    ),
    "switch kill: its row is missing": "DELETE FROM switches",
    "switch kill: its row is not": "UPDATE switches SET is_on = false",
    "fact 1: its row does not say what it names": "UPDATE control_journal SET gives = NULL",
    "fact 2: its row does not say what it names": "UPDATE control_journal SET turns = NULL",
}


@pytest.mark.parametrize("at_sight", [True, False])
@pytest.mark.parametrize("said", DAMAGE)
async def test_rows_that_say_something_else_are_found_and_built_anew(
    store: SqlStore, clock: ManualClock, url: str, said: str, at_sight: bool
) -> None:
    expires_at = clock.now() + timedelta(hours=1)
    await tell(
        store, clock, given("grt_1", run_id=RUN, expires_at=expires_at), turned("kill", True)
    )
    assert await store.control.differences() == []
    ask(url, DAMAGE[said])
    (found,) = await store.control.differences()
    assert found.startswith(said)
    assert await store.control.mend(at_sight=at_sight) == [found]
    assert await store.control.differences() == []
    assert await store.control.mend(at_sight=at_sight) == []
    assert await in_force(store) == ["grt_1"]
    assert [s.is_on for s in await store.control.switches()] == [True]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE grants SET agent = 'refunds'",
        "UPDATE grants SET expires_at = NULL",
        "UPDATE grants SET scope = 'agent'",
        "UPDATE grants SET given_seq = 2",
        "UPDATE control_journal SET body = '{' WHERE seq = 1",
        "UPDATE control_journal SET body = replace(body, 'ORD-3300', 'ORD-3301')",
        "UPDATE control_journal SET body = replace(body, 'process_refund', 'wire_money')",
        "UPDATE control_journal SET hash = 'x' WHERE seq = 1",
        "UPDATE control_journal SET gives = NULL",
        "UPDATE control_journal SET body = replace(body, '\"version\":1', '\"version\":9')",
    ],
)
async def test_a_row_that_was_changed_by_hand_gives_no_consent(
    store: SqlStore, clock: ManualClock, url: str, damage: str
) -> None:
    elsewhere = given("grt_1", agent="deploys", run_id=RUN, expires_at=clock.now() + timedelta(1))
    await tell(store, clock, elsewhere, turned("kill", True))
    ask(url, damage)
    assert await in_force(store) == []
    assert await in_force(store, "deploys") == [] or damage == "UPDATE grants SET agent = 'refunds'"


async def test_a_head_that_forgot_what_can_change_a_verdict_is_put_right(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await tell(store, clock, given("grt_1"), turned("kill", True), turned("kill", False))
    assert await store.control.verdict_seq() == 3
    ask(url, "UPDATE control_head SET verdict_seq = 1")
    (said,) = await store.control.differences()
    assert "can change a verdict" in said
    assert await store.control.mend(at_sight=True) == [said]
    assert await store.control.verdict_seq() == 3
    assert await store.control.differences() == []
    # What a build of before left ahead is no difference: whoever starts something is only asked once more.
    ask(url, "UPDATE control_head SET verdict_seq = 9")
    assert await store.control.differences() == []


async def test_a_grant_whose_revocation_was_taken_out_of_its_row_stands_no_more(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await tell(store, clock, given("grt_1"), revoked("grt_1"), given("grt_1", tool="wire_money"))
    ask(url, "UPDATE grants SET revoked_seq = NULL")
    assert await in_force(store) == []
    assert await store.control.grants() == []
    ask(url, "UPDATE grants SET given_seq = 3")
    assert await in_force(store) == []
    ask(url, "UPDATE control_journal SET revokes = NULL")
    assert await in_force(store) == [], "it is another than the one that was given first"
    assert len(await store.control.mend()) == 2
    assert await in_force(store) == []


async def test_a_fact_of_which_the_one_before_is_gone_gives_no_consent(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await tell(store, clock, turned("kill", True), given("grt_1"))
    ask(url, "DELETE FROM control_journal WHERE seq = 1")
    assert await in_force(store) == []


async def test_rows_are_compared_with_what_was_appended_meanwhile_too(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    """Neither a look nor a repair holds anything while it reads, and neither is ever wrong."""
    other = await open_another()

    async def go_on() -> None:
        for n in range(20):
            await tell(other, clock, given(f"grt_{n}"), turned("kill", n % 2 == 0))

    going = asyncio.create_task(go_on())
    while not going.done():
        assert await store.control.differences() == []
        ask(url, "UPDATE control_journal SET turns = NULL WHERE seq = 2")
        await store.control.mend()
    await going
    assert await store.control.differences() == []
    assert len(await store.control.grants()) == 20


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM switches",
        "UPDATE control_journal SET turns = NULL",
        "UPDATE control_journal SET turns = 'other'",
        "UPDATE control_journal SET body = replace(body, 'true', 'false')",
        "INSERT INTO switches (switch, is_on, turned_seq) VALUES ('other', true, 1)",
        "UPDATE switches SET is_on = false",
        "UPDATE switches SET switch = 'other'",
        "UPDATE switches SET turned_seq = 1",
    ],
)
async def test_a_switch_that_was_changed_by_hand_is_not_said_to_be_off(
    store: SqlStore, clock: ManualClock, url: str, damage: str
) -> None:
    await tell(store, clock, given("grt_1"), turned("kill", True))
    ask(url, damage)
    with pytest.raises(CorruptJournal):
        await store.control.switches()


async def test_what_a_newer_build_wrote_is_compared_by_that(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await tell(store, clock, given("grt_1"), turned("kill", True))
    rewrite_control(url, 2, setting(kind="switch_locked"))
    with pytest.raises(UnknownEvent):
        await store.control.differences()
    with pytest.raises(UnknownEvent):
        await store.control.mend()
    assert await in_force(store) == ["grt_1"], "nothing was undone"


async def test_a_journal_of_many_pages_is_built_from(
    store: SqlStore, clock: ManualClock, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.control.PAGE", 2)
    await tell(store, clock, *(given(f"grt_{n}") for n in range(5)))
    assert await store.control.differences() == []
    ask(url, "DELETE FROM control_journal WHERE seq = 3")
    with pytest.raises(CorruptJournal) as corrupt:
        await store.control.differences()
    assert corrupt.value.seq == 3
    ask(url, "DELETE FROM control_journal WHERE seq > 2")
    with pytest.raises(CorruptJournal) as corrupt:
        await store.control.mend()
    assert corrupt.value.seq == 3
    assert len(await store.control.grants()) == 2
