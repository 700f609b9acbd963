"""What was kept long enough is removed from a store with keys, while those change and while bodies are rewritten."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

import pytest
from sqlalchemy import Connection, Engine, event

from agent.housekeeping import Housekeeping
from agent.rules.anchors import Anchor, anchor_of
from agent.rules.control import RunsPurged
from agent.rules.ids import RunId
from agent.verifying import Verified, verify
from store import SqlStore
from store.chain import LACKS_KEY, is_keyed
from store.keys import new_key, parse_keys
from store.marks import UNMARKED
from store.purging import SqlPurges
from store.reader import Reader
from store.rewriting import Part
from store.rotating import SqlRotation
from store.verifying import SqlVerifier
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother
from tests.store.database import ask
from tests.store.outside import in_thread
from tests.store.tampering import rewrite, rewrite_control, setting
from tests.store.test_encryption import FIRST, ONE, TWO, facts_under, rotate
from tests.store.test_purging import ALL, DAY, end_run, sweep
from tests.store.test_purging_crashes import Died, end_runs, mortal

T = TypeVar("T")
AUDIT = new_key()
AUDITED, TURNED = parse_keys(ONE, AUDIT), parse_keys(f"{TWO},{ONE}", AUDIT)
RUN = RunId("run_1")


class ReaderWith(Reader):
    """Reads as the store does; once ``reads`` is what was found, something happens before anybody hears of it."""

    def __init__(
        self, inner: Reader, reads: Callable[[object], bool], then: Callable[[], Awaitable[object]]
    ) -> None:
        self._inner = inner
        self._reads = reads
        self._then: Callable[[], Awaitable[object]] | None = then

    async def run(self, work: Callable[[Connection], T]) -> T:
        found = await self._inner.run(work)
        if self._then is not None and self._reads(found):
            then, self._then = self._then, None
            await then()
        return found


def prefixes(url: str) -> set[str]:
    """How everything begins that is kept of the runs."""
    return {body[:12] for (body,) in ask(url, "SELECT body FROM journal")}


async def anchor_for(store: SqlStore, clock: ManualClock) -> Anchor:
    return anchor_of((await verify(store.verifier)).heads, clock.now())


async def whole(store: SqlStore, anchor: Anchor) -> Verified:
    verified = await verify(store.verifier, anchor=anchor)
    assert verified.breaks == ()
    return verified


async def test_removals_and_rotations_leave_each_others_work(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    store = await open_another(keys=AUDITED)
    await end_run(store, clock)
    await end_run(store, clock, "run_2")
    anchor = await anchor_for(store, clock)
    clock.move(30 * DAY)
    assert dict((await sweep(store)).removed) == {"payloads": 2}
    assert prefixes(url) == {"sealed:2025:"}
    left = await store.journal.read(RUN)
    assert (await whole(store, anchor)).partly_removed == 2
    await store.close()

    store = await open_another(keys=TURNED)
    await rotate(store)
    # 16 of the runs; two keys and the audit key came into use, one went out of it, and something was removed.
    assert await facts_under(store) == {None: 0, "2026": 21, "2025": 0}
    assert await store.journal.read(RUN) == left
    assert (await whole(store, anchor)).partly_removed == 2
    clock.move(60 * DAY)
    assert dict((await sweep(store)).removed) == {"transcripts": 2}
    assert prefixes(url) == {"sealed:2026:"}
    await whole(store, anchor)
    clock.move(610 * DAY)
    assert dict((await sweep(store)).removed) == {"audit": 2}
    assert await facts_under(store) == {None: 0, "2026": 7, "2025": 0}
    assert (await whole(store, anchor)).purged == 2
    assert await rotate(store) == 0
    assert all(is_keyed(one.hash) for one in await store.control.read())
    await store.close()

    store = await open_another(keys=parse_keys(TWO, AUDIT))
    assert (await whole(store, anchor)).purged == 2
    assert await store.purges.purged(RUN)


async def test_what_is_removed_while_it_is_brought_under_a_key_stays_removed(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    store = await open_another(keys=FIRST)
    await end_run(store, clock)
    anchor = await anchor_for(store, clock)
    await store.close()
    store = await open_another(keys=TURNED)
    clock.move(30 * DAY)
    rotation = store.rotation
    reader = ReaderWith(
        rotation._reader,
        lambda found: isinstance(found, Part) and "of_run" in {*(found.rewrites or [{}])[0]},
        lambda: sweep(store),
    )
    racing = SqlRotation(rotation._writer, reader, rotation._clock, rotation._keys, rotation._lives)
    await rotate(replace(store, rotation=racing))
    assert reader._then is None, "something was removed between a part's reading and its writing"
    await whole(store, anchor)
    assert (await store.purges.sizes(ALL)).removed["payloads"] == 1
    assert (await facts_under(store))["2025"] == 0
    assert "refunded 180" not in str(await store.journal.read(RUN))


async def test_what_is_brought_under_a_key_while_it_is_removed_is_removed(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    store = await open_another(keys=FIRST)
    await end_run(store, clock)
    anchor = await anchor_for(store, clock)
    await store.close()
    store = await open_another(keys=TURNED)
    clock.move(30 * DAY)
    purges = store.purges
    reader = ReaderWith(
        purges._reader, lambda found: isinstance(found, tuple), lambda: rotate(store)
    )
    racing = SqlPurges(purges._writer, reader, purges._clock, purges._keys)
    await sweep(replace(store, purges=racing))
    assert reader._then is None, "all was rotated between a removal's reading and its writing"
    await whole(store, anchor)
    assert prefixes(url) == {"sealed:2026:"}
    assert "refunded 180" not in str(await store.journal.read(RUN))


async def test_a_removal_that_was_begun_under_one_key_is_gone_on_with_under_another(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    store = await open_another(keys=FIRST)
    await end_runs(store, clock)
    anchor = await anchor_for(store, clock)
    clock.move(90 * DAY)
    # It dies behind the first piece of the longest.
    with suppress(Died):
        await Housekeeping(mortal(store, 2, "after"), lambda: ALL).sweep()
    await store.close()

    store = await open_another(keys=TURNED)
    assert ask(url, "SELECT run_id, purged_to FROM runs WHERE purged_to > 0") == [("run_long", 100)]
    await rotate(store)
    await whole(store, anchor)
    clock.move(timedelta(minutes=2))
    assert (await sweep(store)).removed["transcripts"] == 3
    assert (await whole(store, anchor)).partly_removed == 3
    assert prefixes(url) == {"sealed:2026:"}


async def test_what_is_removed_while_it_is_verified_is_no_break(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    store = await open_another(keys=AUDITED)
    await end_run(store, clock)
    await end_run(store, clock, "run_2")
    anchor = await anchor_for(store, clock)
    for days, removed in ((30, "payloads"), (60, "transcripts"), (610, "audit")):
        clock.move(days * DAY)
        if removed == "payloads":
            await sweep(store)
            continue
        # The page of the first run has been read, and what says that something of it is gone has not.
        reader = ReaderWith(store.verifier._reader, is_a_page_of("run_1"), lambda: sweep(store))
        verified = await verify(SqlVerifier(reader, keys=AUDITED), anchor=anchor)
        assert reader._then is None
        assert verified.breaks == ()
        assert verified.runs + verified.purged == 2


def is_a_page_of(run_id: str) -> Callable[[object], bool]:
    def tells(found: object) -> bool:
        if not isinstance(found, list) or not found:
            return False
        return getattr(found[0], "run_id", None) == run_id and hasattr(found[0], "head_seq")

    return tells


async def test_what_is_removed_while_it_is_read_is_no_break(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    store = await open_another(keys=AUDITED)
    await end_run(store, clock)
    clock.move(30 * DAY)
    await sweep(store)
    clock.move(60 * DAY)
    removed: list[bool] = []

    def remove(c: object, cursor: object, statement: str, *_: object) -> None:
        # Its facts have been read, and what is left of them is about to be held against the control journal.
        if "journal.seq <= " in statement and not removed:
            removed.append(True)
            in_thread(remove_now)

    async def remove_now() -> None:
        other = await open_another(keys=AUDITED)
        assert (await sweep(other)).removed
        await other.close()

    event.listen(Engine, "before_cursor_execute", remove)
    try:
        read = await store.journal.read(RUN)
    finally:
        event.remove(Engine, "before_cursor_execute", remove)
    assert removed
    assert "It is done." not in str(read)


async def test_what_is_removed_further_while_it_is_checked_is_no_break(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    store = await open_another(keys=FIRST)
    run_id = await end_run(store, clock)
    clock.move(30 * DAY)
    await sweep(store)
    clock.move(60 * DAY)
    reader = ReaderWith(
        store.verifier._reader, lambda found: isinstance(found, list), lambda: sweep(store)
    )
    checked = await SqlVerifier(reader, keys=FIRST).check(run_id)
    assert reader._then is None, "it was removed between a page and what bears it out"
    assert checked.broken is None
    assert checked.is_partly_removed


class TestOfRunsThatEndedBeforeTheAuditKey:
    async def begun(self, open_another: OpenAnother, clock: ManualClock) -> SqlStore:
        store = await open_another()
        await end_run(store, clock)
        await end_run(store, clock, "run_2")
        await store.close()
        clock.move(30 * DAY)
        return await open_another(keys=parse_keys(None, AUDIT))

    async def test_what_is_marked_is_removed_and_vouched_for(
        self, open_another: OpenAnother, clock: ManualClock, url: str
    ) -> None:
        store = await self.begun(open_another, clock)
        anchor = await anchor_for(store, clock)
        assert dict((await sweep(store)).removed) == {"payloads": 2}
        await rotate(store)
        await whole(store, anchor)
        clock.move(700 * DAY)
        assert dict((await sweep(store)).removed) == {"audit": 2}
        assert (await whole(store, anchor)).purged == 2
        said = [one for one in await store.control.read() if isinstance(one.event, RunsPurged)]
        assert said
        assert all(is_keyed(one.hash) for one in said)
        # Who has the database alone can't say that more was removed, or what.
        rewrite_control(url, said[-1].seq, setting(parts=[]))
        breaks = [one.journal for one in (await verify(store.verifier)).breaks]
        assert {"control", "run_1", "run_2"} >= {*breaks} >= {"control"}

    async def test_what_was_written_anew_since_stays_as_evidence(
        self,
        open_another: OpenAnother,
        clock: ManualClock,
        url: str,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        store = await self.begun(open_another, clock)
        await rotate(store)
        rewrite(url, 8, setting(answer="forged"))
        clock.move(700 * DAY)
        swept = await sweep(store)
        assert dict(swept.removed) == {"audit": 1}
        assert dict(swept.spared) == {"it can't be read": 1}
        assert UNMARKED in caplog.text
        [broken] = (await verify(store.verifier)).breaks
        assert (broken.journal, broken.why) == ("run_1", UNMARKED)

    async def test_what_is_left_of_a_fact_hides_no_hash_without_the_key(
        self, open_another: OpenAnother, clock: ManualClock, url: str
    ) -> None:
        store = await self.begun(open_another, clock)
        await end_run(store, clock, "run_3")
        clock.move(60 * DAY)
        await sweep(store)
        ask(url, "UPDATE journal SET hash = ? WHERE run_id = 'run_3' AND seq = 7", "0" * 64)
        assert (await store.verifier.check(RunId("run_3"))).broken is not None
        [broken] = (await verify(store.verifier)).breaks
        assert (broken.journal, broken.seq, broken.why) == ("run_3", 7, LACKS_KEY)
