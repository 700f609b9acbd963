"""What was kept long enough is removed, in pieces, and the chain goes on to hold."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Select

from agent.errors import PayloadsRemoved, Purged
from agent.housekeeping import AT_A_TIME, Housekeeping, Swept
from agent.ports.purges import Removal
from agent.rules.anchors import anchor_of
from agent.rules.control import GrantGiven, GrantRevoked, RunsPurged, StampedControl
from agent.rules.events import RunFailed, RunFinished, RunReopened
from agent.rules.ids import ApprovalId, EventId, GrantId, OperationId, RunId, SessionId
from agent.rules.interventions import MessageReceived
from agent.rules.purges import LEVELS
from agent.rules.retention import STATUSES, Retention
from agent.verifying import verify
from store import SqlStore
from store.purge_claims import DUE, DUE_AGAIN
from store.purge_pieces import PIECE
from store.removing import Transaction
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_sqlite
from tests.store.database import ask
from tests.store.plans import steps_on_file
from tests.store.story import BOB, begin, decided, judged, replied, requested, returned, stamps

DAY = timedelta(days=1)


def keeping(**days: int) -> Retention:
    assert days.keys() <= set(LEVELS)
    return Retention(
        {name: dict.fromkeys(STATUSES, days[name] * DAY) for name in LEVELS if name in days}
    )


ALL = keeping(payloads=30, transcripts=90, audit=700)


async def end_run(
    store: SqlStore, clock: ManualClock, run_id: str = "run_1", *, session: str | None = None
) -> RunId:
    """A run of eight facts, in which a person decided something."""
    begun = await begin(store.journal, clock, run_id, session=session, place="C1:1.2", key=run_id)
    call, approval = f"call_{run_id}", f"apr_{run_id}"
    events = (
        replied(call, text="I will refund it"),
        judged(call),
        requested(approval, call),
        decided(approval),
        returned(call, "refunded 180"),
        replied(text="It is done.", asked_at=6),
        RunFinished(answer="It is done."),
    )
    await store.journal.intend(begun, stamps(clock, *events), expected_seq=1)
    return begun


async def sweep(store: SqlStore, retention: Retention = ALL) -> Swept:
    return await Housekeeping(store, lambda: retention).sweep()


def bodies(url: str, run_id: str = "run_1") -> str:
    rows = ask(url, "SELECT body FROM journal WHERE run_id = ? ORDER BY seq", run_id)
    return "\n".join(body for (body,) in rows)


async def test_each_kind_goes_at_its_age(store: SqlStore, clock: ManualClock, url: str) -> None:
    run_id = await end_run(store, clock)
    clock.move(29 * DAY)
    assert not (await sweep(store)).removed
    clock.move(DAY)
    assert dict((await sweep(store)).removed) == {"payloads": 1}
    assert "ORD-3300" not in bodies(url).replace("refund ORD-3300 180", "")
    assert "refunded 180" not in bodies(url)
    assert "It is done." in bodies(url)
    clock.move(60 * DAY)
    assert dict((await sweep(store)).removed) == {"transcripts": 1}
    assert "ORD-3300" not in bodies(url)
    assert "It is done." not in bodies(url)
    assert "UBOB" in bodies(url)
    clock.move(610 * DAY)
    assert dict((await sweep(store)).removed) == {"audit": 1}
    assert bodies(url) == ""
    assert await store.lists.runs(limit=9) == []
    with pytest.raises(Purged, match="was removed on"):
        await store.journal.read(run_id)
    assert not (await sweep(store)).removed


async def test_what_was_removed_verifies_also_against_an_anchor_of_before(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await end_run(store, clock)
    await end_run(store, clock, "run_2")
    clock.move(60 * DAY)
    await end_run(store, clock, "run_3")
    before = await verify(store.verifier)
    anchor = anchor_of(before.heads, clock.now())
    for days in (0, 60, 610):
        clock.move(days * DAY)
        await sweep(store)
        verified = await verify(store.verifier, anchor=anchor)
        assert verified.breaks == ()
        assert {(one.journal, one.hash) for one in verified.heads} >= {
            (one.journal, one.hash) for one in before.heads if one.journal != "control"
        }
    assert (verified.runs, verified.partly_removed, verified.purged) == (1, 1, 2)
    assert verified.removed_since == 3
    anchor = anchor_of(verified.heads, clock.now())
    assert (await verify(store.verifier, anchor=anchor)).removed_since == 0
    assert (await verify(store.verifier, RunId("run_1"))).purged == 1


async def test_nothing_is_appended_to_what_is_no_more_whole(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin(store.journal, clock)
    await store.journal.intend(run_id, stamps(clock, RunFailed(error="no")), expected_seq=1)
    reopened = stamps(clock, RunReopened(by=BOB))
    clock.move(90 * DAY)
    await sweep(store)
    with pytest.raises(PayloadsRemoved):
        await store.journal.intend(run_id, reopened, expected_seq=2)
    clock.move(700 * DAY)
    await sweep(store)
    with pytest.raises(Purged):
        await store.journal.intend(run_id, reopened, expected_seq=2)


async def test_of_what_is_gone_nothing_is_left_beside(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await end_run(store, clock)
    clock.move(800 * DAY)
    await sweep(store)
    for table in ("runs", "journal", "approvals", "awaited", "operations", "threads"):
        assert ask(url, f"SELECT count(*) FROM {table}") == [(0,)]
    assert await store.lists.approval(ApprovalId("apr_run_1")) is None
    assert await store.lists.run_of_operation(OperationId("op_call_run_1")) is None
    assert await store.lists.run_of_key("run_1") is None
    (fact,) = await store.control.read()
    assert isinstance(fact.event, RunsPurged)
    assert fact.event.parts[0].rule == "audit: 700 d after it was finished"


async def test_an_active_run_stays(store: SqlStore, clock: ManualClock) -> None:
    await begin(store.journal, clock)
    clock.move(9_000 * DAY)
    assert not (await sweep(store)).removed
    assert await store.journal.read(RunId("run_1"))


async def test_a_run_whose_effect_is_asked_about_stays(store: SqlStore, clock: ManualClock) -> None:
    run_id = await begin(store.journal, clock)
    events = (
        replied("call_1"),
        judged("call_1"),
        RunFinished(answer="gone"),
        requested("apr_1", "call_1", kind="review"),
    )
    await store.journal.intend(run_id, stamps(clock, *events), expected_seq=1)
    clock.move(9_000 * DAY)
    swept = await sweep(store)
    assert dict(swept.spared) == {"what became of an effect is still asked": 1}
    assert len(await store.journal.read(run_id)) == 5


async def test_a_run_whose_thread_is_behind_stays_until_it_is_drawn(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await end_run(store, clock)
    clock.move(2 * DAY)
    early = keeping(payloads=1)
    assert dict((await sweep(store, early)).spared) == {"its thread does not show its end yet": 1}
    drawn = await store.thread_leases.claim_one(run_id, "p", timedelta(minutes=1), seen_seq=8)
    assert drawn is not None
    assert await store.thread_leases.suspend(drawn, seen_seq=8, until=None)
    clock.move(DAY)
    assert dict((await sweep(store, early)).removed) == {"payloads": 1}


async def test_two_at_once_remove_each_once(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    for number in range(30):
        await end_run(store, clock, f"run_{number:02}")
    clock.move(30 * DAY)
    other = await open_another()
    mine, theirs = await asyncio.gather(sweep(store), sweep(other))
    assert mine.removed["payloads"] + theirs.removed["payloads"] == 30
    facts = [one.event for one in await store.control.read()]
    said = [part.run_id for one in facts if isinstance(one, RunsPurged) for part in one.parts]
    assert sorted(said) == sorted(f"run_{number:02}" for number in range(30))
    assert (await verify(store.verifier)).is_whole


async def test_a_run_for_which_a_grant_stands_keeps_its_skeleton(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await end_run(store, clock)
    given = GrantGiven(
        grant_id=GrantId("grt_1"),
        by=BOB,
        agent="refunds",
        tool="process_refund",
        where={},
        session=SessionId("s_run_1"),
    )
    await store.control.record([StampedControl(EventId("evt_1"), clock.now(), given)])
    clock.move(800 * DAY)
    assert dict((await sweep(store)).removed) == {"transcripts": 1}
    clock.move(2 * DAY)
    swept = await sweep(store)
    assert dict(swept.spared) == {"a consent that was given there stands": 1}
    assert len(await store.journal.read(run_id)) == 8
    revoked = GrantRevoked(grant_id=GrantId("grt_1"), by=BOB)
    await store.control.record([StampedControl(EventId("evt_2"), clock.now(), revoked)])
    assert not (await sweep(store)).removed, "it is looked at again a day later"
    clock.move(DAY)
    assert dict((await sweep(store)).removed) == {"audit": 1}


async def test_sizes_say_what_is_there_and_what_is_due(store: SqlStore, clock: ManualClock) -> None:
    began = clock.now()
    await end_run(store, clock)
    await begin(store.journal, clock, "run_2")
    clock.move(40 * DAY)
    await end_run(store, clock, "run_3")
    found = await store.purges.sizes(ALL)
    assert dict(found.runs) == {"finished": 2, "active": 1}
    assert (found.events, found.control_events, found.oldest) == (17, 0, began)
    assert found.bytes["events"] > 17 * 100
    assert found.bytes["database"] > found.bytes["events"]
    assert dict(found.due) == {"payloads": 1, "transcripts": 0, "audit": 0}
    await sweep(store)
    after = await store.purges.sizes(ALL)
    assert (after.removed["payloads"], after.due["payloads"], after.control_events) == (1, 0, 1)
    clock.move(700 * DAY)
    assert dict((await store.purges.sizes(ALL)).due)["audit"] == 2


async def test_a_run_whose_removal_was_begun_counts_once(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin(store.journal, clock)
    words = [MessageReceived(by=BOB, text=f"word {n}") for n in range(2 * PIECE)]
    events = stamps(clock, *words, RunFinished(answer="done"))
    await store.journal.intend(run_id, events, expected_seq=1)
    clock.move(700 * DAY)
    (one,) = await store.purges.claim(ALL, 1)
    whole = Removal(run_id, one.head_seq, "audit", "it was time")
    first = await store.purges._pieces([whole])
    begun = Transaction(first[:1], BOB, store.purges._clock, store.purges._keys)
    await store.purges._writer.run(begun)
    assert (await store.purges.sizes(ALL)).removed["audit"] == 1


async def test_a_row_that_says_what_no_build_writes_keeps_nobody_from_removing(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await end_run(store, clock)
    await end_run(store, clock, "run_2")
    ask(url, "UPDATE runs SET purged = 9, purged_to = 1 WHERE run_id = 'run_1'")
    clock.move(30 * DAY)
    assert dict((await sweep(store)).removed) == {"payloads": 1}
    assert len(await store.journal.read(RunId("run_1"))) == 8


@on_sqlite
@pytest.mark.parametrize(
    ("due", "spared"),
    [(DUE, "spared_until=? AND updated_at<?"), (DUE_AGAIN, "spared_until<?")],
    ids=["not looked at", "to be looked at again"],
)
async def test_what_is_due_is_found_by_an_index(
    store: SqlStore, url: str, due: Select[Any], spared: str
) -> None:
    """However many are left alone: they are not passed over one by one."""
    values = {"of_status": "finished", "of_level": 0, "age": 0, "now": None, "at_most": 9}
    plan = " ".join(steps_on_file(url, due, **values))
    assert f"runs_at_rest (status=? AND purged=? AND {spared})" in plan
    assert "B-TREE" not in plan, "nothing is sorted"


async def test_what_was_spared_is_looked_at_again_after_a_day(
    store: SqlStore, clock: ManualClock
) -> None:
    await end_run(store, clock, "run_1")
    await end_run(store, clock, "run_2")
    clock.move(30 * DAY)
    await store.purges.spare([RunId("run_1")])
    assert dict((await sweep(store)).removed) == {"payloads": 1}
    would = await Housekeeping(store, lambda: ALL).preview()
    assert dict(would.removed) == {"payloads": 1}, "who only looks sees it all the same"
    clock.move(0.9 * DAY)
    assert not (await sweep(store)).removed
    clock.move(0.1 * DAY)
    assert dict((await sweep(store)).removed) == {"payloads": 1}


async def test_a_bot_removes_a_few_at_a_time_and_tells_once(
    store: SqlStore, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(2 * AT_A_TIME + 1):
        await begin_and_end(store, clock, f"run_{number:02}")
    clock.move(30 * DAY)
    keeping_house = Housekeeping(store, lambda: ALL)
    with caplog.at_level("INFO", logger="agent.housekeeping"):
        assert [await keeping_house.some() for _ in range(5)] == [True, True, True, False, False]
    assert [one.getMessage() for one in caplog.records if one.name == "agent.housekeeping"] == [
        f"removed by retention: payloads of {2 * AT_A_TIME + 1} runs"
    ]


async def begin_and_end(store: SqlStore, clock: ManualClock, run_id: str) -> None:
    begun = await begin(store.journal, clock, run_id)
    await store.journal.intend(begun, stamps(clock, RunFinished(answer="")), expected_seq=1)
