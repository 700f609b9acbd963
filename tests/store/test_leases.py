"""One mechanism over runs and over threads: each test is told of both."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from agent.errors import LeaseLost
from agent.ports import Lease, Renewal
from agent.rules.events import RunFinished
from store import SqlStore
from store.leases import SqlLeases
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother
from tests.store.database import ask
from tests.store.story import begin, begin_shown, replied, returned, stamps

TERM = timedelta(seconds=30)
MOMENT = timedelta(microseconds=1)


async def test_a_new_run_is_due_at_once(
    store: SqlStore, leases: SqlLeases, clock: ManualClock
) -> None:
    run_id = await begin_shown(store, clock)
    assert await leases.claim("p1", TERM, 1) == [Lease(run_id, "p1", 1, clock.now() + TERM)]


async def test_what_is_held_is_not_claimed(
    store: SqlStore, leases: SqlLeases, clock: ManualClock
) -> None:
    await begin_shown(store, clock)
    await leases.claim("p1", TERM, 1)
    assert await leases.claim("p2", TERM, 1) == []
    assert await leases.claim("p1", TERM, 1) == []


async def test_a_lease_lives_until_just_before_its_end(
    store: SqlStore, leases: SqlLeases, clock: ManualClock
) -> None:
    await begin_shown(store, clock)
    await leases.claim("p1", TERM, 1)
    clock.move(TERM - MOMENT)
    assert await leases.claim("p2", TERM, 1) == []
    clock.move(MOMENT)
    (lease,) = await leases.claim("p2", TERM, 1)
    assert (lease.holder, lease.fence) == ("p2", 2)


async def test_a_lease_can_be_taken_after_its_end(
    store: SqlStore, leases: SqlLeases, clock: ManualClock
) -> None:
    await begin_shown(store, clock)
    await leases.claim("p1", TERM, 1)
    clock.move(TERM + MOMENT)
    assert len(await leases.claim("p2", TERM, 1)) == 1


async def test_the_oldest_due_is_claimed_first(
    store: SqlStore, leases: SqlLeases, clock: ManualClock
) -> None:
    for name in ("run_c", "run_a", "run_b"):
        await begin_shown(store, clock, name)
        clock.move(MOMENT)
    claimed = [(await leases.claim("p1", TERM, 1))[0].run_id for _ in range(3)]
    assert claimed == ["run_c", "run_a", "run_b"]


async def test_a_claim_takes_no_more_than_its_limit(
    store: SqlStore, leases: SqlLeases, clock: ManualClock
) -> None:
    for n in range(5):
        await begin_shown(store, clock, f"run_{n}")
    assert len(await leases.claim("p1", TERM, 3)) == 3
    assert len(await leases.claim("p1", TERM, 3)) == 2
    assert await leases.claim("p1", TERM, 0) == []


async def test_a_claim_takes_runs_of_its_agents_alone(
    store: SqlStore, leases: SqlLeases, clock: ManualClock
) -> None:
    await begin(store.journal, clock, "run_1", agent="refunds", place="C1:1")
    await begin(store.journal, clock, "run_2", agent="deploys", place="C1:2")
    assert await leases.claim("p1", TERM, 9, agents=[]) == []
    assert [one.run_id for one in await leases.claim("p1", TERM, 9, ["deploys"])] == ["run_2"]
    assert [one.run_id for one in await leases.claim("p1", TERM, 9, ["deploys", "refunds"])] == [
        "run_1"
    ]


async def test_a_run_of_a_newer_form_is_left_for_a_newer_build(
    store: SqlStore, leases: SqlLeases, clock: ManualClock, url: str
) -> None:
    await begin_shown(store, clock)
    ask(url, "UPDATE runs SET format = 99")
    assert await leases.claim("p1", TERM, 1) == []


async def test_of_many_claims_at_once_each_run_goes_to_one(
    store: SqlStore, leases: SqlLeases, open_another: OpenAnother, clock: ManualClock
) -> None:
    for n in range(12):
        await begin_shown(store, clock, f"run_{n}")
    other = await open_another()
    rivals = other.run_leases if leases is store.run_leases else other.thread_leases
    claims = await asyncio.gather(
        *((leases, rivals)[n % 2].claim(f"p{n}", TERM, 2) for n in range(12))
    )
    claimed = [lease.run_id for claim in claims for lease in claim]
    assert sorted(claimed) == sorted({f"run_{n}" for n in range(12)})


async def test_a_renewal_moves_the_end(
    store: SqlStore, leases: SqlLeases, clock: ManualClock
) -> None:
    for n in range(3):
        await begin_shown(store, clock, f"run_{n}")
    held = await leases.claim("p1", TERM, 3)
    clock.move(TERM / 2)
    renewed = (await leases.renew("p1", held, TERM)).extended
    assert sorted(one.run_id for one in renewed) == ["run_0", "run_1", "run_2"]
    assert {one.expires_at for one in renewed} == {clock.now() + TERM}
    clock.move(TERM - MOMENT)
    assert await leases.claim("p2", TERM, 3) == []
    clock.move(MOMENT)
    assert len(await leases.claim("p2", TERM, 3)) == 3


async def test_a_renewal_answers_without_what_is_lost(
    store: SqlStore, leases: SqlLeases, clock: ManualClock
) -> None:
    await begin_shown(store, clock, "run_1")
    await begin_shown(store, clock, "run_2")
    held = await leases.claim("p1", TERM, 2)
    clock.move(TERM)
    (taken,) = await leases.claim("p2", TERM, 1)
    renewed = (await leases.renew("p1", held, TERM)).extended
    assert {one.run_id for one in renewed} == {"run_1", "run_2"} - {taken.run_id}
    assert await leases.renew("p1", [], TERM) == Renewal()


async def test_a_late_renewal_is_good_while_nobody_has_taken_over(
    store: SqlStore, leases: SqlLeases, clock: ManualClock
) -> None:
    await begin_shown(store, clock)
    held = await leases.claim("p1", TERM, 1)
    clock.move(TERM * 3)
    assert len((await leases.renew("p1", held, TERM)).extended) == 1
    assert await leases.claim("p2", TERM, 1) == []


async def test_what_is_given_back_is_due_but_for_what_is_worked(
    store: SqlStore, leases: SqlLeases, clock: ManualClock
) -> None:
    for n in range(3):
        await begin_shown(store, clock, f"run_{n}")
    first, second = await leases.claim("p1", TERM, 2)
    (others,) = await leases.claim("p2", TERM, 1)
    await leases.give_back("p1", but_not=[first.run_id])
    (again,) = await leases.claim("p1", TERM, 9)
    assert (again.run_id, again.fence, again.claims) == (second.run_id, second.fence + 1, 1)
    for held, holder in ((first, "p1"), (others, "p2")):
        assert (await leases.renew(holder, [held], TERM)).extended


async def test_what_is_suspended_sleeps_until_its_time(
    store: SqlStore, leases: SqlLeases, clock: ManualClock
) -> None:
    await begin_shown(store, clock)
    (lease,) = await leases.claim("p1", TERM, 1)
    until = clock.now() + TERM * 10
    assert await leases.suspend(lease, seen_seq=1, until=until)
    clock.move(TERM * 10 - MOMENT)
    assert await leases.claim("p2", TERM, 1) == []
    clock.move(MOMENT)
    assert len(await leases.claim("p2", TERM, 1)) == 1


async def test_what_is_suspended_without_a_time_sleeps_until_an_event(
    store: SqlStore, leases: SqlLeases, clock: ManualClock
) -> None:
    run_id = await begin_shown(store, clock)
    (lease,) = await leases.claim("p1", TERM, 1)
    assert await leases.suspend(lease, seen_seq=1, until=None)
    clock.move(TERM * 1000)
    assert await leases.claim("p2", TERM, 1) == []
    await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=1)
    assert len(await leases.claim("p2", TERM, 1)) == 1


async def test_a_suspension_is_refused_when_the_journal_has_moved(
    store: SqlStore, leases: SqlLeases, clock: ManualClock
) -> None:
    """Else the event that came in between would be slept over."""
    run_id = await begin_shown(store, clock)
    (lease,) = await leases.claim("p1", TERM, 1)
    await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=1)
    assert not await leases.suspend(lease, seen_seq=1, until=None)
    assert await leases.claim("p2", TERM, 1) == []
    assert await leases.suspend(lease, seen_seq=2, until=None)


async def test_a_replaced_holder_can_not_suspend(
    store: SqlStore, leases: SqlLeases, clock: ManualClock
) -> None:
    await begin_shown(store, clock)
    (stale,) = await leases.claim("p1", TERM, 1)
    clock.move(TERM)
    await leases.claim("p2", TERM, 1)
    with pytest.raises(LeaseLost):
        await leases.suspend(stale, seen_seq=1, until=None)


async def test_a_suspension_whose_answer_was_lost_can_be_made_again(
    store: SqlStore, leases: SqlLeases, clock: ManualClock
) -> None:
    await begin_shown(store, clock)
    (lease,) = await leases.claim("p1", TERM, 1)
    assert await leases.suspend(lease, seen_seq=1, until=None)
    assert await leases.suspend(lease, seen_seq=1, until=None)


async def test_what_is_deferred_comes_back_whatever_happened_meanwhile(
    store: SqlStore, leases: SqlLeases, clock: ManualClock
) -> None:
    run_id = await begin_shown(store, clock)
    (lease,) = await leases.claim("p1", TERM, 1)
    await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=1)
    await leases.defer(lease, until=clock.now() + TERM)
    assert await leases.claim("p2", TERM, 1) == []
    clock.move(TERM)
    assert len(await leases.claim("p2", TERM, 1)) == 1


async def test_deferring_a_lost_lease_is_no_error_and_changes_nothing(
    store: SqlStore, leases: SqlLeases, clock: ManualClock
) -> None:
    await begin_shown(store, clock)
    (stale,) = await leases.claim("p1", TERM, 1)
    clock.move(TERM)
    current = await leases.claim("p2", TERM, 1)
    await leases.defer(stale, until=clock.now())
    assert len((await leases.renew("p2", current, TERM)).extended) == 1


async def test_an_event_from_outside_does_not_take_a_living_lease(
    store: SqlStore, leases: SqlLeases, clock: ManualClock
) -> None:
    run_id = await begin_shown(store, clock)
    await leases.claim("p1", TERM, 1)
    await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=1)
    assert await leases.claim("p2", TERM, 1) == []
    clock.move(TERM)
    assert len(await leases.claim("p2", TERM, 1)) == 1


async def test_what_a_late_holder_records_after_letting_go_wakes_the_run(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin_shown(store, clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    await store.run_leases.suspend(lease, seen_seq=1, until=None)
    await store.journal.record(run_id, stamps(clock, returned("c")), fence=lease.fence)
    assert len(await store.run_leases.claim("p2", TERM, 1)) == 1


async def test_an_ended_run_is_not_claimed_once_it_is_let_go(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin_shown(store, clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    end = stamps(clock, RunFinished(answer="done"))
    await store.journal.intend(run_id, end, expected_seq=1, fence=lease.fence)
    assert await store.run_leases.suspend(lease, seen_seq=2, until=None)
    clock.move(TERM * 1000)
    assert await store.run_leases.claim("p2", TERM, 1) == []


async def test_a_run_without_a_place_has_no_thread_to_draw(
    store: SqlStore, clock: ManualClock
) -> None:
    await begin(store.journal, clock, place=None)
    assert await store.thread_leases.claim("p1", TERM, 1) == []


async def test_a_suspended_thread_has_been_drawn_up_to_what_was_seen(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    run_id = await begin_shown(store, clock)
    await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=1)
    (lease,) = await store.thread_leases.claim("p1", TERM, 1)
    assert ask(url, "SELECT wanted_seq, shown_seq FROM threads") == [(2, 0)]
    assert await store.thread_leases.suspend(lease, seen_seq=2, until=None)
    assert ask(url, "SELECT wanted_seq, shown_seq FROM threads") == [(2, 2)]


async def test_the_lease_on_a_run_says_nothing_of_its_thread(
    store: SqlStore, clock: ManualClock
) -> None:
    await begin_shown(store, clock)
    assert len(await store.run_leases.claim("p1", TERM, 1)) == 1
    assert len(await store.thread_leases.claim("p2", TERM, 1)) == 1
