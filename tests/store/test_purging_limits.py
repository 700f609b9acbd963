"""What a run used of limits goes with it once their windows are over, and the sums stay right."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from agent.ports.purges import Removal
from agent.rules.events import CallJudged, RunFinished
from agent.rules.ids import RunId
from agent.rules.parts import LimitUse
from agent.rules.retention import IN_ITS_CONVERSATION, STATUSES, Retention
from store import SqlStore
from tests.store.clock import ManualClock
from tests.store.database import ask
from tests.store.limits import DAY as THE_LIMIT
from tests.store.limits import Worked, of_limit, used
from tests.store.story import BOB, begin, judged, returned, stamps
from tests.store.test_purging import sweep

DAY = timedelta(days=1)
AUDIT = Retention({"audit": dict.fromkeys(STATUSES, 30 * DAY)})


def under(amount: str, **use: object) -> LimitUse:
    said = {"key": THE_LIMIT, "used": "0", "amount": amount, "max": "500", **use}
    return LimitUse.model_validate(said)


def judged_under(call: str, use: LimitUse) -> CallJudged:
    event = judged(call)
    return event.model_copy(
        update={"verdict": event.verdict.model_copy(update={"limit": use, "action": "allow"})}
    )


async def run_that_used(
    store: SqlStore, clock: ManualClock, name: str, use: LimitUse, *, session: str | None = None
) -> RunId:
    run = await Worked.of(store, clock, name, f"c_{name}", session=session)
    await run.tell(judged_under(f"c_{name}", use))
    await run.start(f"c_{name}", of_limit(str(use.amount), limit=use.key))
    await run.tell(returned(f"c_{name}"), RunFinished(answer="Done."))
    return run.run_id


def ends_in(clock: ManualClock, days: float) -> datetime:
    return clock.now() + days * DAY


async def test_it_goes_with_its_run_and_the_rest_stays(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    until = ends_in(clock, 31)
    await run_that_used(store, clock, "run_1", under("180", until=until))
    clock.move(10 * DAY)
    await run_that_used(store, clock, "run_2", under("20.50", until=until))
    clock.move(21.5 * DAY)
    swept = await sweep(store, AUDIT)
    assert dict(swept.spared) == {"what it used of a limit counts": 1}
    assert await used(store) == 200.5
    clock.move(DAY)
    assert dict((await sweep(store, AUDIT)).removed) == {"audit": 1}
    assert str(await used(store)) == "20.50"
    assert await store.limits.differences() == []
    clock.move(20 * DAY)
    assert dict((await sweep(store, AUDIT)).removed) == {"audit": 1}
    assert ask(url, "SELECT * FROM limits") == []
    assert ask(url, "SELECT * FROM reservations") == []
    assert await store.limits.differences() == []


async def test_what_counts_for_good_stays(store: SqlStore, clock: ManualClock) -> None:
    await run_that_used(store, clock, "run_1", under("180"))
    # Of what was judged under another key than was reserved nobody knows when it is over.
    await run_that_used(store, clock, "run_2", under("20", key="b", until=clock.now()))
    ended = await Worked.of(store, clock, "run_3", "c3")
    await ended.tell(judged_under("c3", under("7", key="b", until=clock.now())))
    await ended.start("c3", of_limit("7"))
    await ended.tell(returned("c3"), RunFinished(answer="Done."))
    clock.move(9_000 * DAY)
    assert dict((await sweep(store, AUDIT)).removed) == {"audit": 1}
    assert await used(store) == 187
    assert await used(store, "b") == 0
    assert await store.limits.differences() == []


async def test_of_a_conversation_it_counts_until_that_is_over(
    store: SqlStore, clock: ManualClock
) -> None:
    use = under("180", per=("session",))
    first = await run_that_used(store, clock, "run_1", use)
    (session,) = [one.session for one in await store.lists.runs(limit=9)]
    clock.move(DAY)
    second = await begin(store.journal, clock, "run_2", session=session)
    clock.move(40 * DAY)
    swept = await sweep(store, AUDIT)
    assert dict(swept.spared) == {"what it used of a limit counts in its conversation": 1}
    await store.journal.intend(second, stamps(clock, RunFinished(answer="Done.")), expected_seq=1)
    clock.move(30 * DAY)
    clock.move(DAY)
    assert dict((await sweep(store, AUDIT)).removed) == {"audit": 2}
    assert await store.lists.runs(limit=9) == []
    assert await used(store) == 0
    assert (await store.purges.purged(first)) is not None


async def test_of_a_conversation_of_which_all_runs_used_it_they_all_go_once_it_is_over(
    store: SqlStore, clock: ManualClock
) -> None:
    use = under("180", per=("session",))
    await run_that_used(store, clock, "run_1", use)
    (session,) = [one.session for one in await store.lists.runs(limit=9)]
    clock.move(20 * DAY)
    await run_that_used(store, clock, "run_2", use, session=session)
    clock.move(20 * DAY)
    # Of the second it is not the time yet, and till then the first counts.
    assert dict((await sweep(store, AUDIT)).spared) == {IN_ITS_CONVERSATION: 1}
    assert await used(store) == 360
    clock.move(11 * DAY)
    assert dict((await sweep(store, AUDIT)).removed) == {"audit": 2}
    assert await used(store) == 0
    assert await store.limits.differences() == []


async def test_who_dates_a_row_back_ends_no_conversation(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    use = under("180", per=("session",))
    await run_that_used(store, clock, "run_1", use)
    (session,) = [one.session for one in await store.lists.runs(limit=9)]
    clock.move(40 * DAY)
    await run_that_used(store, clock, "run_2", use, session=session)
    ask(url, "UPDATE runs SET updated_at = 0 WHERE run_id = 'run_2'")
    assert not (await sweep(store, AUDIT)).removed
    assert await used(store) == 360


async def test_a_conversation_that_goes_on_after_it_was_looked_at_is_not_over(
    store: SqlStore, clock: ManualClock
) -> None:
    use = under("180", per=("session",))
    first = await run_that_used(store, clock, "run_1", use)
    (session,) = [one.session for one in await store.lists.runs(limit=9)]
    second = await run_that_used(store, clock, "run_2", use, session=session)
    clock.move(DAY)
    seen = frozenset(await store.purges.beside(first))
    assert seen == {(second, 6)}
    removal = Removal(first, 6, "audit", "by hand", beside=seen)
    third = await begin(store.journal, clock, "run_3", session=session)
    assert await store.purges.remove([removal], BOB) == []
    await store.journal.intend(third, stamps(clock, RunFinished(answer="Done.")), expected_seq=1)
    removal = replace(removal, beside=frozenset(await store.purges.beside(first)))
    assert await store.purges.remove([removal], BOB) == [first]
    assert await used(store) == 180


@pytest.mark.parametrize("written", ["'much'", "'1E+300'"])
async def test_a_sum_that_nobody_can_read_is_left_for_the_check(
    store: SqlStore, clock: ManualClock, url: str, written: str
) -> None:
    await run_that_used(store, clock, "run_1", under("180", until=ends_in(clock, 1)))
    ask(url, f"UPDATE limits SET used = {written}")
    clock.move(40 * DAY)
    assert dict((await sweep(store, AUDIT)).removed) == {"audit": 1}
    assert len(await store.limits.differences()) == 1
    assert len(await store.limits.mend()) == 1
    assert await store.limits.differences() == []
