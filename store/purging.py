"""What has been kept long enough: it is found, looked at, and removed, a few facts at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Row as SqlRow
from sqlalchemy import Select

from agent.errors import Unstorable
from agent.ports.purges import Candidate, PastRemoval, Removal, Sizes
from agent.rules.ids import ApprovalId, Principal, RunId
from agent.rules.retention import LOOK_AGAIN, Resting, Retention
from store.clock import StoreClock
from store.instants import microseconds
from store.keys import Keys
from store.purge_claims import (
    ALL_BEGUN,
    DUE_BEHIND,
    FIRST,
    candidate,
    claim,
    leave_alone,
    place_of,
)
from store.purge_pieces import Piece, batches, pieces_of, what_stands
from store.purge_rows import PurgeRows
from store.purged import what_was_purged, where_it_was_asked
from store.queued import LAST
from store.reader import Reader
from store.removing import Transaction
from store.resting import beside, look_at
from store.sizes import measure
from store.writer import Writer

#: So many rows are in memory, for whoever only looks.
PAGE = 500


class SqlPurges:
    """The ``Purges`` port."""

    def __init__(self, writer: Writer, reader: Reader, clock: StoreClock, keys: Keys) -> None:
        self._writer = writer
        self._reader = reader
        self._clock = clock
        self._keys = keys
        self._in_rows = PurgeRows(writer, reader, keys)

    async def claim(self, retention: Retention, limit: int) -> list[Candidate]:
        now = self._clock.told()
        return await self._writer.run(lambda c: claim(c, retention, limit, now), of=LAST)

    async def due(self, retention: Retention) -> AsyncIterator[Candidate]:
        now = self._clock.told()
        for row in await self._rows(ALL_BEGUN, {}):
            yield candidate(row)
        for status, level, age in retention.steps():
            values = {"of_status": status, "of_level": level, "age": microseconds(age), "now": now}
            for page in DUE_BEHIND:
                place = FIRST
                while rows := await self._rows(page, {**values, **place, "at_most": PAGE}):
                    for row in rows:
                        yield candidate(row)
                    place = place_of(rows[-1])

    async def _rows(self, page: Select[Any], values: Mapping[str, object]) -> Sequence[SqlRow[Any]]:
        return await self._reader.run(lambda c: c.execute(page, dict(values)).all())

    async def resting(self, run_id: RunId) -> Resting | None:
        now = self._clock.told()
        return await self._reader.run(lambda c: look_at(c, run_id, now, self._keys))

    async def beside(self, run_id: RunId) -> Sequence[tuple[RunId, int]]:
        return await self._reader.run(lambda c: beside(c, run_id))

    async def spare(self, run_ids: Sequence[RunId]) -> None:
        now = self._clock.told()
        if run_ids:
            await self._writer.run(lambda c: leave_alone(c, run_ids, LOOK_AGAIN, now), of=LAST)

    async def remove(self, removals: Sequence[Removal], by: Principal) -> list[RunId]:
        done: list[RunId] = []
        for batch in batches(await self._pieces(removals)):
            transaction = Transaction(batch, by, self._clock, self._keys)
            gone = await self._writer.run_until_known(transaction, of=LAST)
            done += (one.removal.run_id for one in gone if one.is_last)
        return done

    async def purged(self, run_id: RunId) -> PastRemoval | None:
        return await self._reader.run(lambda c: what_was_purged(c, run_id, self._keys))

    async def of_approval(self, approval_id: ApprovalId) -> PastRemoval | None:
        try:
            return await self._reader.run(lambda c: where_it_was_asked(c, approval_id, self._keys))
        except Unstorable:
            return None

    async def differences(self) -> list[str]:
        """Of which runs the row does not say how much was removed, in words. Raises ``CorruptJournal``,
        ``UnknownEvent``."""
        return await self._in_rows.differences()

    async def mend(self, *, at_sight: bool = False) -> list[str]:
        if at_sight and not await self._in_rows.keep_anybody_from_work():
            return []
        return await self._in_rows.mend()

    async def sizes(self, retention: Retention) -> Sizes:
        now = self._clock.told()
        return await self._reader.run(lambda c: measure(c, retention, now))

    async def _pieces(self, removals: Sequence[Removal]) -> list[Piece]:
        pieces: list[Piece] = []
        for removal in removals:
            done, rows = await self._reader.run(
                partial(what_stands, removal=removal, keys=self._keys)
            )
            # Thousands of events are not to keep the loop from whoever waits for an answer.
            pieces += await asyncio.to_thread(list, pieces_of(removal, done, rows))
        return pieces
