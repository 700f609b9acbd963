from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from agent.errors import LeaseLost, NotFound, SeqConflict
from agent.ports import ANNOUNCED, KnownThread, Lease, ThreadMessage
from agent.rules.events import RunFinished
from agent.rules.ids import RunId
from store import SqlStore
from tests.store.clock import ManualClock
from tests.store.story import begin, stamps

TERM = timedelta(seconds=30)


@pytest.fixture
def posting(clock: ManualClock) -> ThreadMessage:
    return ThreadMessage("status", "posting", None, "d1", clock.now())


async def claim_shown(store: SqlStore, clock: ManualClock, run_id: str = "run_1") -> Lease:
    await begin(store.journal, clock, run_id, place="C1:1.2")
    (lease,) = await store.thread_leases.claim("p1", TERM, 1)
    return lease


async def test_a_message_is_meant_and_then_posted(
    store: SqlStore, clock: ManualClock, posting: ThreadMessage
) -> None:
    lease = await claim_shown(store, clock)
    await store.threads.save(lease, posting)
    assert (await store.threads.known(lease.run_id)).messages == {"status": posting}
    posted = replace(posting, status="posted", address="C1:1.3", digest="d2")
    other = replace(posting, key="approval:apr_1:C1")
    await store.threads.save(lease, posted)
    await store.threads.save(lease, other)
    assert (await store.threads.known(lease.run_id)).messages == {
        "status": posted,
        "approval:apr_1:C1": other,
    }


async def test_a_forgotten_message_is_gone(
    store: SqlStore, clock: ManualClock, posting: ThreadMessage
) -> None:
    lease = await claim_shown(store, clock)
    await store.threads.save(lease, posting)
    await store.threads.forget(lease, "status")
    await store.threads.forget(lease, "status")
    assert (await store.threads.known(lease.run_id)).messages == {}


async def test_a_replaced_holder_can_not_write(
    store: SqlStore, clock: ManualClock, posting: ThreadMessage
) -> None:
    stale = await claim_shown(store, clock)
    clock.move(TERM)
    (current,) = await store.thread_leases.claim("p2", TERM, 1)
    await store.threads.save(current, posting)
    with pytest.raises(LeaseLost):
        await store.threads.save(stale, replace(posting, status="posted"))
    with pytest.raises(LeaseLost):
        await store.threads.forget(stale, "status")
    assert (await store.threads.known(current.run_id)).messages == {"status": posting}


async def test_a_run_without_a_thread_has_no_lease_to_write_under(
    store: SqlStore, clock: ManualClock, posting: ThreadMessage
) -> None:
    run_id = await begin(store.journal, clock)
    with pytest.raises(LeaseLost):
        await store.threads.save(Lease(run_id, "p1", 1, clock.now()), posting)
    assert (await store.threads.known(run_id)).messages == {}


async def test_an_address_leads_to_the_newest_run_there(
    store: SqlStore, clock: ManualClock, posting: ThreadMessage
) -> None:
    at = replace(posting, status="posted", address="C1:1.2")
    for name in ("run_2", "run_1"):
        lease = await claim_shown(store, clock, name)
        await store.threads.save(lease, at)
        await store.journal.intend(
            RunId(name), stamps(clock, RunFinished(answer="done")), expected_seq=1
        )
        clock.move(timedelta(seconds=1))
    assert await store.threads.run_at("C1:1.2") == "run_1"
    assert await store.threads.run_at("C1:9.9") is None


async def test_a_doubted_message_makes_its_thread_due_again(
    store: SqlStore, clock: ManualClock, posting: ThreadMessage
) -> None:
    lease = await claim_shown(store, clock)
    await store.threads.save(lease, replace(posting, status="posted", address="C1:1.3"))
    assert await store.thread_leases.suspend(lease, seen_seq=1, until=None)
    assert await store.thread_leases.claim("p1", TERM, 1) == []
    await store.threads.doubt(lease.run_id, "status")
    (again,) = await store.thread_leases.claim("p1", TERM, 1)
    (message,) = (await store.threads.known(lease.run_id)).messages.values()
    assert (message.digest, message.address) == ("", "C1:1.3")
    await store.threads.save(again, replace(message, digest="d2"))
    assert await store.thread_leases.suspend(again, seen_seq=1, until=None)
    assert await store.thread_leases.claim("p1", TERM, 1) == []


async def test_a_doubt_that_comes_while_the_message_is_drawn_outlives_what_is_saved(
    store: SqlStore, clock: ManualClock, posting: ThreadMessage
) -> None:
    lease = await claim_shown(store, clock)
    await store.threads.save(lease, posting)
    (read,) = (await store.threads.known(lease.run_id)).messages.values()
    await store.threads.doubt(lease.run_id, "status")
    await store.threads.save(lease, replace(read, status="posted", address="C1:1.3", digest="d2"))
    (message,) = (await store.threads.known(lease.run_id)).messages.values()
    assert (message.status, message.digest) == ("posted", "")
    assert await store.thread_leases.suspend(lease, seen_seq=1, until=None)
    assert len(await store.thread_leases.claim("p2", TERM, 1)) == 1


async def test_a_doubt_about_a_message_that_is_not_there_changes_nothing(
    store: SqlStore, clock: ManualClock
) -> None:
    lease = await claim_shown(store, clock)
    assert await store.thread_leases.suspend(lease, seen_seq=1, until=None)
    await store.threads.doubt(lease.run_id, "approval:apr_none")
    assert await store.thread_leases.claim("p1", TERM, 1) == []


async def test_whoever_is_put_off_comes_back_at_once_for_what_moved_meanwhile(
    store: SqlStore, clock: ManualClock
) -> None:
    lease = await claim_shown(store, clock)
    later = clock.now() + timedelta(hours=1)
    await store.thread_leases.defer(lease, until=later, seen_seq=1)
    assert await store.thread_leases.claim("p1", TERM, 1) == []
    clock.move(timedelta(hours=1))
    (lease,) = await store.thread_leases.claim("p1", TERM, 1)
    await store.journal.intend(lease.run_id, stamps(clock, RunFinished(answer="x")), expected_seq=1)
    await store.thread_leases.defer(lease, until=clock.now() + timedelta(hours=1), seen_seq=1)
    assert len(await store.thread_leases.claim("p1", TERM, 1)) == 1


@pytest.mark.parametrize("is_doubt", [True, False], ids=["doubted", "asked for"])
async def test_whoever_is_put_off_comes_back_at_once_once_for_what_somebody_called_for_meanwhile(
    store: SqlStore, clock: ManualClock, posting: ThreadMessage, is_doubt: bool
) -> None:
    lease = await claim_shown(store, clock)
    await store.threads.save(lease, replace(posting, status="posted", address="C1:1.3"))
    if is_doubt:
        await store.threads.doubt(lease.run_id, "status")
    else:
        await store.threads.try_now(lease.run_id)
    await store.thread_leases.defer(lease, until=clock.now() + TERM, seen_seq=1)
    (again,) = await store.thread_leases.claim("p2", TERM, 1)
    await store.thread_leases.defer(again, until=clock.now() + TERM, seen_seq=1)
    assert await store.thread_leases.claim("p3", TERM, 1) == []


async def test_why_nobody_can_be_asked_is_kept_until_somebody_can(
    store: SqlStore, clock: ManualClock, posting: ThreadMessage
) -> None:
    lease = await claim_shown(store, clock)
    assert await store.threads.known(lease.run_id) == KnownThread({})
    await store.threads.set_trouble(lease, "not_in_channel")
    await store.threads.save(lease, posting)
    known = await store.threads.known(lease.run_id)
    assert known == KnownThread({"status": posting}, 0, "not_in_channel")
    await store.threads.set_trouble(lease, None)
    assert (await store.threads.known(lease.run_id)).trouble is None


async def test_what_is_known_is_read_together_with_the_journal(
    store: SqlStore, clock: ManualClock, posting: ThreadMessage
) -> None:
    lease = await claim_shown(store, clock)
    await store.threads.save(lease, posting)
    known, events = await store.threads.with_journal(lease.run_id)
    assert known == await store.threads.known(lease.run_id) != KnownThread({})
    assert events == await store.journal.read(lease.run_id) != []
    with pytest.raises(NotFound):
        await store.threads.with_journal(RunId("run_9"))


async def test_of_a_run_that_is_not_shown_nothing_is_known(store: SqlStore) -> None:
    assert await store.threads.known(RunId("run_9")) == KnownThread({})


async def test_whoever_was_replaced_says_nothing_of_it(store: SqlStore, clock: ManualClock) -> None:
    stale = await claim_shown(store, clock)
    clock.move(TERM)
    await store.thread_leases.claim("p2", TERM, 1)
    with pytest.raises(LeaseLost):
        await store.threads.set_trouble(stale, "is_archived")
    assert (await store.threads.known(stale.run_id)).trouble is None


AT = "C1:1.3"


async def posted_at(
    store: SqlStore, clock: ManualClock, posting: ThreadMessage
) -> tuple[Lease, ThreadMessage]:
    """A message that stands there, and the lease of its thread."""
    lease = await claim_shown(store, clock)
    posted = replace(posting, status="posted", address=AT)
    await store.threads.save(lease, posted)
    return lease, posted


async def only_message(store: SqlStore) -> ThreadMessage:
    (known,) = (await store.threads.known(RunId("run_1"))).messages.values()
    return known


async def test_what_stands_nowhere_yet_is_not_announced(
    store: SqlStore, clock: ManualClock, posting: ThreadMessage
) -> None:
    lease = await claim_shown(store, clock)
    assert await store.threads.announce(lease.run_id, AT) is None
    await store.threads.save(lease, replace(posting, address=AT))
    assert await store.threads.announce(lease.run_id, AT) is None
    assert await only_message(store) == replace(posting, address=AT)


async def test_what_was_announced_and_has_landed_is_what_the_message_shows(
    store: SqlStore, clock: ManualClock, posting: ThreadMessage
) -> None:
    lease, posted = await posted_at(store, clock, posting)
    clock.move(timedelta(seconds=1))
    announced_at = await store.threads.announce(lease.run_id, AT)
    assert announced_at == clock.now()
    known = await only_message(store)
    assert (known.status, known.digest, known.attempted_at) == ("editing", ANNOUNCED, announced_at)
    await store.threads.landed(lease.run_id, AT, announced_at, "d2")
    known = await only_message(store)
    assert (known.status, known.digest) == ("posted", "d2")
    await store.threads.save(lease, posted)
    assert (await only_message(store)).digest == "", "it was read before: which one stands?"


async def test_a_decision_announces_in_its_own_commit_that_its_message_is_redrawn(
    store: SqlStore, clock: ManualClock, posting: ThreadMessage
) -> None:
    lease, posted = await posted_at(store, clock, posting)
    clock.move(timedelta(seconds=1))
    (said,) = stamps(clock, RunFinished(answer="Done."))
    with pytest.raises(SeqConflict):
        await store.journal.intend(lease.run_id, [said], expected_seq=9, redraws=AT)
    assert await only_message(store) == posted
    await store.journal.intend(lease.run_id, [said], expected_seq=1, redraws=AT)
    known = await only_message(store)
    assert (known.status, known.digest, known.attempted_at) == ("editing", ANNOUNCED, said.at)
    await store.threads.landed(lease.run_id, AT, said.at, "d2")
    assert (await only_message(store)).digest == "d2"


async def test_what_is_saved_meanwhile_is_not_believed_and_neither_is_what_lands_then(
    store: SqlStore, clock: ManualClock, posting: ThreadMessage
) -> None:
    """Two of them were on their way at the same time."""
    lease, posted = await posted_at(store, clock, posting)
    announced_at = await store.threads.announce(lease.run_id, AT)
    assert announced_at is not None
    await store.threads.save(lease, posted)
    known = await only_message(store)
    assert (known.status, known.digest, known.attempted_at) == ("editing", "", announced_at)
    await store.threads.landed(lease.run_id, AT, announced_at, "d2")
    known = await only_message(store)
    assert (known.status, known.digest) == ("editing", "")


async def test_an_edit_that_may_still_land_is_not_forgotten_for_one_that_is_announced(
    store: SqlStore, clock: ManualClock, posting: ThreadMessage
) -> None:
    lease, posted = await posted_at(store, clock, posting)
    await store.threads.save(lease, replace(posted, status="editing", digest=""))
    clock.move(timedelta(seconds=1))
    announced_at = await store.threads.announce(lease.run_id, AT)
    assert announced_at is not None
    await store.threads.landed(lease.run_id, AT, announced_at, "d2")
    known = await only_message(store)
    assert (known.status, known.digest) == ("editing", "")
    assert known.attempted_at == clock.now()


async def test_what_has_landed_ends_the_doubt_about_no_later_edit(
    store: SqlStore, clock: ManualClock, posting: ThreadMessage
) -> None:
    lease, _ = await posted_at(store, clock, posting)
    announced_at = await store.threads.announce(lease.run_id, AT)
    assert announced_at is not None
    later = announced_at + timedelta(seconds=1)
    known = replace(await only_message(store), status="editing", digest="", attempted_at=later)
    await store.threads.save(lease, known)
    await store.threads.landed(lease.run_id, AT, announced_at, "d2")
    known = await only_message(store)
    assert (known.status, known.digest, known.attempted_at) == ("editing", "", later)


async def test_what_is_given_up_may_land_from_then_on(
    store: SqlStore, clock: ManualClock, posting: ThreadMessage
) -> None:
    lease, _ = await posted_at(store, clock, posting)
    await store.threads.announce(lease.run_id, AT)
    clock.move(timedelta(seconds=15))
    await store.threads.lost(lease.run_id, AT)
    known = await only_message(store)
    assert (known.status, known.digest, known.attempted_at) == ("editing", "", clock.now())
