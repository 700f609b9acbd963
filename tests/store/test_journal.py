from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.errors import (
    LeaseLost,
    NotFound,
    SeqConflict,
    SessionBusy,
    StoreError,
    UnknownEvent,
)
from agent.ports import NewestRun
from agent.rules.events import RunFailed, RunFinished
from agent.rules.fold import fold
from agent.rules.ids import EventId, RunId
from agent.rules.recorded import Recorded, Stamped
from store import SqlStore
from store.bodies import Row, read_body, write_body
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother
from tests.store.story import begin, decided, replied, requested, returned, stamp, stamps, started
from tests.store.tampering import rewrite, setting

TERM = timedelta(seconds=30)


async def test_a_run_begins_with_its_first_fact(store: SqlStore, clock: ManualClock) -> None:
    first = stamp(clock, started())
    assert await store.journal.start(RunId("run_1"), first) == "run_1"
    (recorded,) = await store.journal.read(RunId("run_1"))
    assert (recorded.seq, recorded.id, recorded.at) == (1, first.id, first.at)
    assert recorded.event == first.event


async def test_a_start_with_the_same_key_finds_the_run_that_is_there(
    store: SqlStore, clock: ManualClock
) -> None:
    begun = await store.journal.start(RunId("run_1"), stamp(clock, started()), key="k")
    again = await store.journal.start(RunId("run_2"), stamp(clock, started()), key="k")
    assert (begun, again) == ("run_1", "run_1")
    assert len(await store.lists.runs(limit=10)) == 1


async def test_the_key_finds_its_run_also_after_its_end(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await store.journal.start(RunId("run_1"), stamp(clock, started()), key="k")
    await store.journal.intend(run_id, stamps(clock, RunFinished(answer="done")), expected_seq=1)
    assert await store.journal.start(RunId("run_2"), stamp(clock, started()), key="k") == "run_1"


async def test_twenty_equal_starts_at_once_begin_one_run(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    stores = [store, await open_another()]
    answers = await asyncio.gather(
        *(
            stores[n % 2].journal.start(RunId(f"run_{n}"), stamp(clock, started()), key="k")
            for n in range(20)
        )
    )
    assert len(set(answers)) == 1
    assert len(await store.lists.runs(limit=30)) == 1


async def test_a_start_whose_answer_was_lost_is_found_without_a_key(
    store: SqlStore, clock: ManualClock
) -> None:
    first = stamp(clock, started())
    assert await store.journal.start(RunId("run_1"), first) == "run_1"
    assert await store.journal.start(RunId("run_1"), first) == "run_1"
    assert len(await store.journal.read(RunId("run_1"))) == 1


async def test_a_session_has_one_active_run(store: SqlStore, clock: ManualClock) -> None:
    await store.journal.start(RunId("run_1"), stamp(clock, started("s")))
    with pytest.raises(SessionBusy) as busy:
        await store.journal.start(RunId("run_2"), stamp(clock, started("s")))
    assert busy.value.run_id == "run_1"


@pytest.mark.parametrize("end", [RunFinished(answer="done"), RunFailed(error="no")])
async def test_a_session_goes_on_after_its_run_has_ended(
    store: SqlStore, clock: ManualClock, end: RunFinished | RunFailed
) -> None:
    await store.journal.start(RunId("run_1"), stamp(clock, started("s")))
    await store.journal.intend(RunId("run_1"), stamps(clock, end), expected_seq=1)
    assert await store.journal.start(RunId("run_2"), stamp(clock, started("s"))) == "run_2"


async def test_what_was_appended_is_what_is_read(store: SqlStore, clock: ManualClock) -> None:
    run_id = await begin(store.journal, clock)
    appended = await store.journal.intend(
        run_id, stamps(clock, replied("call_1"), requested("apr_1", "call_1")), expected_seq=1
    )
    read = await store.journal.read(run_id)
    assert read[1:] == appended
    assert [one.seq for one in read] == [1, 2, 3]
    assert await store.journal.read(run_id, after=2) == read[2:]
    assert await store.journal.read(run_id, after=3) == []


async def test_nothing_is_known_of_a_run_that_never_began(
    store: SqlStore, clock: ManualClock
) -> None:
    with pytest.raises(NotFound):
        await store.journal.read(RunId("run_0"))
    with pytest.raises(NotFound):
        await store.journal.intend(RunId("run_0"), stamps(clock, replied()), expected_seq=1)


async def test_an_intention_fails_when_the_journal_has_moved(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin(store.journal, clock)
    await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=1)
    with pytest.raises(SeqConflict):
        await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=1)
    with pytest.raises(SeqConflict):
        await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=3)
    assert len(await store.journal.read(run_id)) == 2


async def test_of_eight_intentions_at_once_one_is_carried_out(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    run_id = await begin(store.journal, clock)
    stores = [store, await open_another()]
    outcomes = await asyncio.gather(
        *(
            stores[n % 2].journal.intend(run_id, stamps(clock, replied()), expected_seq=1)
            for n in range(8)
        ),
        return_exceptions=True,
    )
    assert sum(isinstance(one, SeqConflict) for one in outcomes) == 7
    assert len(await store.journal.read(run_id)) == 2


async def test_a_record_goes_behind_whatever_is_there(store: SqlStore, clock: ManualClock) -> None:
    run_id = await begin(store.journal, clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    await store.journal.intend(run_id, stamps(clock, replied("call_1")), expected_seq=1)
    (recorded,) = await store.journal.record(
        run_id, stamps(clock, returned("call_1")), fence=lease.fence
    )
    assert recorded.seq == 3


async def test_many_records_at_once_leave_no_gap(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    run_id = await begin(store.journal, clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    stores = [store, await open_another()]
    await asyncio.gather(
        *(
            stores[n % 2].journal.record(
                run_id, stamps(clock, returned(f"call_{n}")), fence=lease.fence
            )
            for n in range(40)
        )
    )
    assert [one.seq for one in await store.journal.read(run_id)] == list(range(1, 42))
    assert (await store.verifier.check(run_id)).broken is None


async def test_a_stale_holder_can_not_append(store: SqlStore, clock: ManualClock) -> None:
    run_id = await begin(store.journal, clock)
    (stale,) = await store.run_leases.claim("p1", TERM, 1)
    clock.move(TERM)
    (current,) = await store.run_leases.claim("p2", TERM, 1)
    with pytest.raises(LeaseLost):
        await store.journal.record(run_id, stamps(clock, returned("c")), fence=stale.fence)
    with pytest.raises(LeaseLost):
        await store.journal.intend(
            run_id, stamps(clock, replied()), expected_seq=1, fence=stale.fence
        )
    await store.journal.record(run_id, stamps(clock, returned("c")), fence=current.fence)


async def test_a_late_holder_whom_nobody_has_replaced_may_go_on(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin(store.journal, clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    clock.move(TERM * 10)
    await store.journal.record(run_id, stamps(clock, returned("c")), fence=lease.fence)
    assert len(await store.journal.read(run_id)) == 2


async def test_an_append_whose_answer_was_lost_is_found_by_its_event_ids(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin(store.journal, clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    intended = stamps(clock, replied("call_1"), requested("apr_1", "call_1"))
    first = await store.journal.intend(run_id, intended, expected_seq=1, fence=lease.fence)
    recorded = stamps(clock, returned("call_1"))
    second = await store.journal.record(run_id, recorded, fence=lease.fence)
    clock.move(TERM)
    await store.run_leases.claim("p2", TERM, 1)
    again = await store.journal.intend(run_id, intended, expected_seq=1, fence=lease.fence)
    assert again == first
    assert await store.journal.record(run_id, recorded, fence=lease.fence) == second
    assert len(await store.journal.read(run_id)) == 4


async def test_a_record_appends_only_what_is_not_there_yet(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin(store.journal, clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    one, two = stamps(clock, returned("c_1"), returned("c_2"))
    await store.journal.record(run_id, [one], fence=lease.fence)
    both = await store.journal.record(run_id, [two, one], fence=lease.fence)
    assert [(r.id, r.seq) for r in both] == [(two.id, 3), (one.id, 2)]


async def test_an_event_id_of_another_run_is_refused(store: SqlStore, clock: ManualClock) -> None:
    await begin(store.journal, clock, "run_1")
    await begin(store.journal, clock, "run_2")
    events = stamps(clock, replied())
    await store.journal.intend(RunId("run_1"), events, expected_seq=1)
    with pytest.raises(StoreError):
        await store.journal.intend(RunId("run_2"), events, expected_seq=1)
    assert len(await store.journal.read(RunId("run_2"))) == 1


async def test_nothing_is_appended_to_an_ended_run_but_receipts_and_settlements(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin(store.journal, clock)
    review = requested("apr_1", "call_1", kind="review")
    end = stamps(clock, replied("call_1"), review, RunFailed(error="no"))
    await store.journal.intend(run_id, end, expected_seq=1)
    for event in (replied(), requested("apr_2", "call_1"), RunFinished(answer="done")):
        with pytest.raises(SeqConflict):
            await store.journal.intend(run_id, stamps(clock, event), expected_seq=4)
    settle = decided("apr_1", "settle", outcome="happened")
    await store.journal.intend(run_id, stamps(clock, settle), expected_seq=4)
    await store.journal.intend(run_id, stamps(clock, returned("call_1")), expected_seq=5)
    row = await store.lists.run(run_id)
    assert row is not None
    assert (row.status, row.head_seq) == ("failed", 6)


async def test_an_append_of_several_facts_is_all_or_nothing(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin(store.journal, clock)
    events = stamps(clock, replied("call_1"), decided("apr_0"))
    with pytest.raises(SeqConflict):
        await store.journal.intend(run_id, events, expected_seq=1)
    assert len(await store.journal.read(run_id)) == 1
    row = await store.lists.run(run_id)
    assert row is not None
    assert row.head_seq == 1


async def test_times_come_back_in_utc_to_the_microsecond(
    store: SqlStore, clock: ManualClock
) -> None:
    at = datetime(2026, 11, 29, 14, 0, 0, 1, tzinfo=timezone(timedelta(hours=2)))
    run_id = await store.journal.start(RunId("run_1"), Stamped(EventId("e"), at, started()))
    (recorded,) = await store.journal.read(run_id)
    assert recorded.at == at
    assert recorded.at.tzinfo is UTC


async def test_a_time_without_a_zone_is_refused(store: SqlStore) -> None:
    naive = datetime(2026, 11, 29)  # noqa: DTZ001
    with pytest.raises(ValueError, match="no time zone"):
        await store.journal.start(RunId("run_1"), Stamped(EventId("e"), naive, started()))


async def test_what_a_newer_build_wrote_is_left_for_it(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    run_id = await begin(store.journal, clock)
    rewrite(url, 1, setting(version=99))
    with pytest.raises(UnknownEvent):
        await store.journal.read(run_id)


async def test_the_fold_of_what_is_read_ends_at_the_head(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin(store.journal, clock)
    await store.journal.intend(run_id, stamps(clock, replied("call_1")), expected_seq=1)
    state = fold(await store.journal.read(run_id))
    row = await store.lists.run(run_id)
    assert row is not None
    assert state.seq == row.head_seq


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(), st.datetimes(timezones=st.just(UTC)))
def test_any_text_and_time_survives_the_body(text: str, at: datetime) -> None:
    stamped = Stamped(EventId("e"), at, returned("call_1", text))
    fact = write_body(stamped)
    row = Row(1, fact.id, fact.at, "h", fact.body)
    assert read_body(RunId("r"), row) == Recorded(
        RunId("r"), 1, stamped.id, stamped.at, "h", stamped.event
    )
    assert fact.body.encode().decode() == fact.body


class TestAStartBehindTheNewestRun:
    async def test_begins_while_that_is_the_newest_and_has_not_moved(
        self, store: SqlStore, clock: ManualClock
    ) -> None:
        first, second, third = (RunId(f"run_{n}") for n in (1, 2, 3))
        await store.journal.start(first, stamp(clock, started()), newest=NewestRun())
        await store.journal.intend(first, stamps(clock, RunFinished(answer="x")), expected_seq=1)
        clock.move(timedelta(seconds=1))
        next_one = stamp(clock, started())
        for seen in (NewestRun(), NewestRun(first, 1), NewestRun(third, 2)):
            with pytest.raises(SeqConflict):
                await store.journal.start(second, next_one, newest=seen)
        assert await store.lists.run(second) is None
        assert await store.journal.start(second, next_one, newest=NewestRun(first, 2)) == second

    async def test_finds_its_run_again_whatever_is_the_newest_by_now(
        self, store: SqlStore, clock: ManualClock
    ) -> None:
        first = stamp(clock, started())
        run_id = await store.journal.start(RunId("run_1"), first, key="k", newest=NewestRun())
        again = await store.journal.start(RunId("run_2"), first, key="k", newest=NewestRun())
        assert again == run_id

    async def test_is_refused_as_busy_while_that_has_not_ended(
        self, store: SqlStore, clock: ManualClock
    ) -> None:
        await store.journal.start(RunId("run_1"), stamp(clock, started()))
        with pytest.raises(SessionBusy):
            await store.journal.start(
                RunId("run_2"), stamp(clock, started()), newest=NewestRun(RunId("run_1"), 1)
            )
