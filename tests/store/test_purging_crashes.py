"""Whoever removes may die between any two commits: what is there is whole then, and another goes on with it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal, TypeVar

import pytest
from sqlalchemy import Connection

from agent.errors import Purged
from agent.housekeeping import Housekeeping
from agent.rules.anchors import Anchor, anchor_of
from agent.rules.control import RunsPurged
from agent.rules.events import RunFinished
from agent.rules.ids import Principal, RunId
from agent.rules.interventions import MessageReceived
from agent.rules.purges import LEVELS, Removed
from agent.rules.retention import STATUSES, Retention
from agent.verifying import verify
from store import SqlStore
from store.purging import SqlPurges
from store.writer import Writer
from tests.store.clock import ManualClock
from tests.store.story import ALICE, begin, stamps

T = TypeVar("T")
DAY = timedelta(days=1)
#: Of the longest run: it takes three pieces.
FACTS = 230


class Died(BaseException):
    """Nothing catches it."""


class MortalWriter(Writer):
    """Writes as the store does, and dies at the n-th commit, before or after it."""

    def __init__(self, inner: Writer, at: int, when: Literal["before", "after"]) -> None:
        self._inner = inner
        self._left = at
        self._when = when

    async def run(
        self,
        work: Callable[[Connection], T],
        *,
        of: str = "",
        behind: Callable[[Connection], Any] | None = None,
    ) -> T:
        self._left -= 1
        if self._left == 0 and self._when == "before":
            raise Died
        done = await self._inner.run(work, of=of, behind=behind)
        if self._left == 0:
            raise Died
        return done


def mortal(store: SqlStore, at: int, when: Literal["before", "after"]) -> SqlStore:
    purges = store.purges
    writer = MortalWriter(purges._writer, at, when)
    return replace(store, purges=SqlPurges(writer, purges._reader, purges._clock, purges._keys))


async def end_runs(store: SqlStore, clock: ManualClock) -> None:
    for name, facts in (("run_long", FACTS), ("run_short", 3), ("run_other", 3)):
        run_id = await begin(store.journal, clock, name, place="C1:1.2")
        words = [MessageReceived(by=Principal(ALICE), text=f"word {n}") for n in range(facts - 2)]
        events = stamps(clock, *words, RunFinished(answer="done"))
        await store.journal.intend(run_id, events, expected_seq=1)


async def check(store: SqlStore, anchor: Anchor) -> None:
    verified = await verify(store.verifier, anchor=anchor)
    assert verified.breaks == ()
    for name in ("run_long", "run_short", "run_other"):
        with suppress(Purged):
            assert await store.journal.read(RunId(name))


@pytest.mark.parametrize("removed", ["transcripts", "audit"])
async def test_a_death_at_any_commit_leaves_it_whole_and_another_goes_on(
    store: SqlStore, clock: ManualClock, removed: Removed
) -> None:
    await end_runs(store, clock)
    anchor = anchor_of((await verify(store.verifier)).heads, clock.now())
    retention = Retention({removed: dict.fromkeys(STATUSES, 30 * DAY)})
    clock.move(30 * DAY)
    deaths = 0
    for when in ("before", "after", "before", "after"):
        for at in range(1, 4):
            doomed = mortal(store, at, when)
            with pytest.raises(Died):
                await Housekeeping(doomed, lambda: retention).sweep()
            deaths += 1
            await check(store, anchor)
            # What the dead had claimed is left to others.
            clock.move(timedelta(minutes=2))
            if await is_done(store, removed):
                break
    await Housekeeping(store, lambda: retention).sweep()
    await check(store, anchor)
    assert await is_done(store, removed)
    assert deaths > 3
    facts = [one.event for one in await store.control.read()]
    parts = [part for one in facts if isinstance(one, RunsPurged) for part in one.parts]
    said = [(part.run_id, part.from_seq) for part in parts]
    assert len(said) == len(set(said)), "each piece is removed, and said, once"


async def is_done(store: SqlStore, removed: Removed) -> bool:
    rows = await store.lists.runs(limit=9)
    if removed == "audit":
        return not rows
    left = Retention({name: dict.fromkeys(STATUSES, DAY) for name in LEVELS[:2]})
    return not [one async for one in store.purges.due(left)]
