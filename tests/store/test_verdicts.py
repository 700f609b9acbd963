"""A call starts before anything that can change its verdict is committed, or is judged after it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import count

import asyncpg
import pytest
from sqlalchemy import make_url

from agent.errors import SeqConflict, VerdictsMoved
from agent.rules.control import ControlEvent, StampedControl
from agent.rules.events import CallStarted
from agent.rules.ids import CallId, EventId, RunId
from store import SqlStore
from store.verdicts import VERDICTS_LOCK
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_postgres
from tests.store.database import ask
from tests.store.story import begin, replied, stamp, stamps
from tests.store.test_circles import circles
from tests.store.test_control import loaded, refused
from tests.store.test_standing import given, revoked, turned
from tests.store.waiting import until

_NUMBERS = count(1)


def control(clock: ManualClock, event: ControlEvent) -> StampedControl:
    return StampedControl(EventId(f"evt_v{next(_NUMBERS)}"), clock.now(), event)


def start(clock: ManualClock, n: int = 1) -> CallStarted:
    return CallStarted(
        call_id=CallId(f"call_{n}"), attempt=1, deadline=clock.now() + timedelta(minutes=1)
    )


async def begin_one(
    store: SqlStore, clock: ManualClock, name: str = "run_1", calls: int = 1
) -> RunId:
    run_id = await begin(store.journal, clock, name)
    proposed = replied(*(f"call_{n}" for n in range(1, calls + 1)))
    proposed = proposed.model_copy(
        update={
            "calls": tuple(
                c.model_copy(update={"operation_id": f"{name}_{c.call_id}"}) for c in proposed.calls
            )
        }
    )
    await store.journal.intend(run_id, stamps(clock, proposed), expected_seq=1)
    return run_id


async def test_what_can_change_a_verdict_is_known_by_its_seq(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    assert await store.control.verdict_seq() == 0
    other = await open_another()
    facts: list[ControlEvent] = [
        turned("all", True),
        refused(),
        given("grt_1"),
        refused("expired"),
        revoked("grt_1"),
    ]
    seen = []
    for fact in [*facts, loaded("v2")]:
        await store.control.record([control(clock, fact)])
        seen.append(await other.control.verdict_seq())
    assert seen == [1, 1, 3, 3, 5, 6]


async def test_a_start_is_refused_once_that_has_moved(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    run_id = await begin_one(store, clock)
    seq = await store.control.verdict_seq()
    other = await open_another()
    await other.control.record([control(clock, turned("all", True))])
    wanted = [stamp(clock, start(clock))]
    with pytest.raises(VerdictsMoved):
        await store.journal.intend(run_id, wanted, expected_seq=2, verdict_seq=seq)
    assert len(await store.journal.read(run_id)) == 2
    seq = await store.control.verdict_seq()
    await store.journal.intend(run_id, wanted, expected_seq=2, verdict_seq=seq)
    # Its answer was lost, and meanwhile the switch was turned: what began has begun.
    await other.control.record([control(clock, turned("all", False))])
    found = await store.journal.intend(run_id, wanted, expected_seq=2, verdict_seq=seq)
    assert [one.seq for one in found] == [3]


@pytest.mark.parametrize("is_on", [True, False])
async def test_a_switch_that_an_older_build_turned_is_missed_by_nobody(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock, url: str, is_on: bool
) -> None:
    """Builds before step 0009, which may run beside this one, know nothing of what the head says of verdicts."""
    other = await open_another()
    await other.control.record([control(clock, turned("all", not is_on))])
    run_id = await begin_one(store, clock)
    seq, switches = await store.control.switches_on()
    assert len(switches) == (not is_on)
    await other.control.record([control(clock, refused()), control(clock, turned("all", is_on))])
    ask(url, "UPDATE control_head SET verdict_seq = 1")
    with pytest.raises(VerdictsMoved):
        await store.journal.intend(
            run_id, [stamp(clock, start(clock))], expected_seq=2, verdict_seq=seq
        )
    now, switches = await store.control.switches_on()
    assert (now, [one.name for one in switches]) == (3, ["all"] * is_on)
    await store.journal.intend(
        run_id, [stamp(clock, start(clock))], expected_seq=2, verdict_seq=now
    )


async def test_a_refused_click_keeps_nothing_from_starting(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin_one(store, clock)
    seq = await store.control.verdict_seq()
    await store.control.record([control(clock, refused())])
    await store.journal.intend(
        run_id, [stamp(clock, start(clock))], expected_seq=2, verdict_seq=seq
    )


async def test_what_begins_nothing_is_appended_all_the_same(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin_one(store, clock)
    await store.control.record([control(clock, turned("all", True))])
    await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=2, verdict_seq=0)


async def test_of_a_switch_and_the_starts_beside_it_each_start_is_before_it_or_fails(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock
) -> None:
    """By what others have seen committed when the switch is known to be turned."""
    other = await open_another()
    for n in range(12):
        run_id = await begin_one(store, clock, f"run_{n}", calls=4)
        seq = await store.control.verdict_seq()
        began: list[int] = []

        async def start_all(
            run_id: RunId = run_id, seq: int = seq, began: list[int] = began
        ) -> int:
            for call in range(1, 5):
                try:
                    await store.journal.intend(
                        run_id,
                        [stamp(clock, start(clock, call))],
                        expected_seq=1 + call,
                        verdict_seq=seq,
                    )
                except VerdictsMoved:
                    break
                began.append(call)
            return len(began)

        async def turn(run_id: RunId = run_id) -> int:
            await other.control.record([control(clock, turned("all", True))])
            return len(await other.journal.read(run_id)) - 2

        done, committed_at_turn = await asyncio.gather(start_all(), turn())
        assert done == committed_at_turn


@on_postgres
@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
async def test_a_start_that_waited_for_a_switch_knows_of_it_whatever_the_database_isolates(
    open_another: OpenAnother, clock: ManualClock, url: str, level: str
) -> None:
    """What it saw when it began to wait is not what it goes by."""
    ask(
        url,
        f"ALTER DATABASE {make_url(url).database} SET default_transaction_isolation = '{level}'",
    )
    store = await open_another(listens=False)
    run_id = await begin_one(store, clock)
    switching = await asyncpg.connect(url)
    try:
        await switching.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        await switching.execute(f"SELECT pg_advisory_xact_lock({VERDICTS_LOCK})")
        await switching.execute("UPDATE control_head SET verdict_seq = 1")
        wanted = [stamp(clock, start(clock))]
        starting = asyncio.create_task(
            store.journal.intend(run_id, wanted, expected_seq=2, verdict_seq=0)
        )
        await until(lambda: switching.fetchval(_WAITS))
        await switching.execute("COMMIT")
    finally:
        await switching.close()
    with pytest.raises(VerdictsMoved):
        await starting


_WAITS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


@on_postgres
async def test_decisions_with_grants_and_starts_do_not_wait_for_each_other_in_a_circle(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    database = make_url(url).database
    ask(url, f"ALTER DATABASE {database} SET deadlock_timeout = '10ms'")
    handles = [await open_another(listens=False) for _ in range(4)]
    runs = [await begin(handles[0].journal, clock, f"run_{n:02}") for n in range(10)]

    async def write(store: SqlStore, run_id: RunId, n: int) -> None:
        row = await store.lists.run(run_id)
        assert row is not None
        at = row.head_seq
        try:
            if n % 3 == 0:
                beside = [control(clock, turned("all", n % 2 == 0))]
                facts = stamps(clock, replied())
                await store.journal.intend(run_id, facts, expected_seq=at, control=beside)
            elif n % 3 == 1:
                seq = await store.control.verdict_seq()
                facts = stamps(clock, start(clock, n))
                await store.journal.intend(run_id, facts, expected_seq=at, verdict_seq=seq)
            else:
                await store.journal.intend(run_id, stamps(clock, replied()), expected_seq=at)
        except SeqConflict:
            pass

    async def work(store: SqlStore, of: int) -> None:
        for turn in range(5):
            await asyncio.gather(
                *(write(store, run_id, n * 7 + turn + of) for n, run_id in enumerate(runs))
            )

    async with asyncio.TaskGroup() as tasks:
        for of, store in enumerate(handles):
            tasks.create_task(work(store, of))
    assert await circles(url, handles) == 0
