"""What has been kept long enough goes, a few runs at a time: claimed, looked at, decided (pure), removed.

Any number of processes may do this at once; what is claimed by one is left alone by the others, and what one that
died had begun is gone on with by another.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from agent.chores import REST_SECONDS
from agent.errors import CorruptJournal, NotFound, StoreError, StoreUnavailable, UnknownEvent
from agent.ports import Store
from agent.ports.purges import Candidate, Removal
from agent.rules.counted import counted
from agent.rules.fold import fold
from agent.rules.ids import Principal, RunId
from agent.rules.purges import Removed
from agent.rules.retention import (
    IN_ITS_CONVERSATION,
    NOT_BEGUN,
    NOT_ENDED,
    Retention,
    Spared,
    is_over,
    may_go,
)

log = logging.getLogger(__name__)

#: So many are claimed at a time.
AT_A_TIME = 20
#: Between two looks, once nothing more is to go.
LOOK_SECONDS = 600.0

#: Why a damaged run stays.
UNREAD = "it can't be read"

BY_RETENTION = Principal("code:retention")


@dataclass(slots=True)
class Swept:
    """What became of runs that were looked at."""

    removed: Counter[Removed] = field(default_factory=Counter)
    #: Why runs that are old enough stay, and how many.
    spared: Counter[str] = field(default_factory=Counter)

    def add(self, other: Swept) -> None:
        self.removed += other.removed
        self.spared += other.spared


@dataclass(frozen=True, slots=True)
class Housekeeping:
    """Removes by the retention that is ``in_force`` what ``store`` has kept long enough."""

    store: Store
    in_force: Callable[[], Retention]
    by: Principal = BY_RETENTION
    #: What ``some`` has removed since the log last told.
    _untold: Swept = field(default_factory=Swept, init=False)

    async def some(self) -> bool:
        """A few runs; is there more? Once there is not, the log tells what was removed. Raises ``StoreError``."""
        swept = await self._next()
        if swept is not None:
            self._untold.add(swept)
        elif self._untold.removed:
            log.info("removed by retention: %s", in_words(self._untold.removed))
            self._untold.removed.clear()
        return swept is not None

    async def sweep(self) -> Swept:
        """Until nothing more is to go. Raises ``StoreError``."""
        all_of_it = Swept()
        while (swept := await self._next()) is not None:
            all_of_it.add(swept)
            await asyncio.sleep(REST_SECONDS)
        return all_of_it

    async def _next(self) -> Swept | None:
        """None: nothing more is to go."""
        retention = self.in_force()
        batch = await self.store.purges.claim(retention, AT_A_TIME)
        return await self._take(batch, retention) if batch else None

    async def preview(self) -> Swept:
        """What ``sweep`` would do now; nothing is claimed or changed. Raises ``StoreError``."""
        would, retention = Swept(), self.in_force()
        async for candidate in self.store.purges.due(retention):
            decided = await self._decide_if_it_can_be(candidate, retention)
            if isinstance(decided, Removal):
                would.removed[decided.removed] += 1
            else:
                would.spared[decided.why] += 1
        return would

    async def _take(self, batch: list[Candidate], retention: Retention) -> Swept:
        swept = Swept()
        removals: dict[RunId, Removal] = {}
        spared: list[RunId] = []
        for one in batch:
            decided = await self._decide_if_it_can_be(one, retention)
            if isinstance(decided, Removal):
                removals[one.run_id] = decided
            else:
                swept.spared[decided.why] += 1
                spared.append(one.run_id)
        await self.store.purges.spare(spared)
        for run_id in await self.store.purges.remove(list(removals.values()), self.by):
            swept.removed[removals[run_id].removed] += 1
        return swept

    async def _decide_if_it_can_be(
        self, candidate: Candidate, retention: Retention
    ) -> Removal | Spared:
        """One that is damaged keeps none of the others."""
        try:
            return await self._decide(candidate, retention)
        except StoreUnavailable:
            raise
        except (StoreError, NotFound) as error:
            log.warning("%s is not removed, for it can't be read: %s", candidate.run_id, error)
            return Spared(UNREAD)

    async def _decide(self, candidate: Candidate, retention: Retention) -> Removal | Spared:
        run_id, purges = candidate.run_id, self.store.purges
        resting = await purges.resting(run_id)
        if resting is None:
            return Spared("it is gone")
        status, begun = resting.ended, None
        if status is None:
            return Spared(NOT_ENDED)
        if candidate.begun is not None:
            if resting.is_begun_by_nobody:
                log.warning("%s is not removed: %s", run_id, NOT_BEGUN)
                return Spared(NOT_BEGUN)
            rule = retention.in_words(candidate.begun, status)
            begun = Removal(run_id, candidate.head_seq, candidate.begun, rule)
            if candidate.begun == "audit":
                # It has its tombstone, and is not read any more.
                return begun
        state = fold(await self.store.journal.read(run_id))
        if begun is not None:
            return begun
        decided = may_go(resting, state, retention, self.store.clock.now())
        beside = frozenset[tuple[RunId, int]]() if resting.is_alone else None
        if decided == Spared(IN_ITS_CONVERSATION):
            beside = await self._over_beside(run_id, retention)
            if beside is not None:
                resting = replace(resting, is_alone=True)
                decided = may_go(resting, state, retention, self.store.clock.now())
        if isinstance(decided, Spared):
            return decided
        rule = retention.in_words(decided, status)
        return Removal(run_id, state.seq, decided, rule, beside=beside)

    async def _over_beside(
        self, run_id: RunId, retention: Retention
    ) -> frozenset[tuple[RunId, int]] | None:
        """The other runs of its conversation, if that is over: else each of two would stay because of the other."""
        beside = await self.store.purges.beside(run_id)
        for other, _ in beside:  # of one that goes on, the newest tells at once
            resting = await self.store.purges.resting(other)
            if resting is None:
                continue
            try:
                state = fold(await self.store.journal.read(other))
            except NotFound:
                continue
            except (CorruptJournal, UnknownEvent):
                return None
            if not is_over(resting, state, retention, self.store.clock.now()):
                return None
        return frozenset(beside)


_IN_WORDS: Mapping[Removed, str] = {
    "payloads": "payloads",
    "transcripts": "transcripts",
    "audit": "everything",
}


def in_words(removed: Mapping[Removed, int]) -> str:
    """``payloads of 3 runs, everything of 1 run``."""
    counts = ((_IN_WORDS[name], count) for name, count in removed.items() if count)
    return ", ".join(f"{name} of {counted(count, 'run')}" for name, count in counts)
