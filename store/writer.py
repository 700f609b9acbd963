"""What waits is committed together.

One thread a process writes. It takes everything that waits, runs it inside one transaction and
commits once; the commit before forms the next group, so there is no timer and an idle store answers
at once.

A caller that is cancelled stops waiting. Whether its work was done nobody knows then, which is why
appends are found again by their event ids.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, cast

from sqlalchemy import Connection

from agent.errors import StoreUnavailable
from agent.rules.recorded import Recorded
from store.failures import as_store_errors
from store.groups import LARGEST_GROUP, Transactions, commit
from store.in_doubt import until_known
from store.lane_order import Lane, LaneOrder
from store.queued import Queued, answer
from store.together import Appending, Movers, PlainFirst
from store.turns import Turns

T = TypeVar("T")

_STARTS = "\U0010fffe"
_ALLOWANCES = "\U0010fffd"


def of_thread(run_id: str) -> str:
    """What names the thread of a run: it sorts behind the run, whose row an append writes first."""
    return f"{run_id} thread"


def of_allowance(key: str) -> str:
    """What names an allowance: it sorts behind all runs and their threads."""
    return f"{_ALLOWANCES}{key}"


def of_start(key: str) -> str:
    """What names a start, whose key and session others may use at the same time: it comes behind all runs,
    in a transaction of its own where rows are locked."""
    return f"{_STARTS}{key}"


class Writer:
    """Runs work inside transactions, on its own thread. Plain appends are done in one go by ``movers``, or else in a
    ``lane``; without either as all other works."""

    def __init__(
        self,
        transactions: Transactions,
        *,
        movers: Movers | None = None,
        lane: Lane | None = None,
    ) -> None:
        self._transactions = transactions
        self._plain_first = PlainFirst(movers) if movers is not None else None
        self._order = LaneOrder(lane, self._put) if lane is not None else None
        self._turns: Turns[Queued] = Turns(transactions)
        self._waiting: SimpleQueue[Queued | None] = SimpleQueue()
        self._is_closed = False
        self._has_stopped: Future[None] = Future()
        self._thread = threading.Thread(target=self._serve, name="store-writer", daemon=True)
        self._thread.start()

    async def run(
        self,
        work: Callable[[Connection], T],
        *,
        of: str = "",
        behind: Callable[[Connection], Any] | None = None,
    ) -> T:
        """What ``work`` gives, once it is durable; what it raises, once it is undone. It may be run
        more than once, each time as if for the first time.

        ``of`` names what it writes. Works of one name are done in the order in which they were asked for. Of a
        group the plain appends (``store.together``) come first, but none before an earlier append to its run, or an
        earlier work that is named by its run; nor is such a work done before an earlier append. The rest is done in the
        order in which it was asked for; where rows are locked in the order of these names, in every process, so that
        two groups don't each wait for a row that the other has.
        ``behind`` is what it locks first of all, where the others of its group have written nothing yet; twice is
        once. Raises ``StoreUnavailable``.
        """
        item = self._queued(work, of, behind)
        try:
            if self._order is not None:
                return cast(T, await self._order.run(item))
            self._put(item)
            return cast(T, await item.future)
        except Exception as error:
            # Entered only here: nearly all that is written needs none of it.
            with as_store_errors():
                raise error

    async def run_until_known(
        self,
        work: Callable[[Connection], T],
        *,
        of: str = "",
        behind: Callable[[Connection], Any] | None = None,
    ) -> T:
        """The same for a work that finds what it has done by ids: one whose commit's answer was lost is run again
        until that is known. Raises ``CommitInDoubt`` where it does not come to be known."""
        return await until_known(
            lambda: self.run(work, of=of, behind=behind), lambda: self._is_closed
        )

    async def append(
        self,
        work: Appending,
        *,
        of: str,
        behind: Callable[[Connection], Any] | None = None,
    ) -> list[Recorded]:
        """The same for an append."""
        return await until_known(lambda: self._append(work, of, behind), lambda: self._is_closed)

    async def _append(
        self, work: Appending, of: str, behind: Callable[[Connection], Any] | None
    ) -> list[Recorded]:
        if self._order is None:
            return await self.run(work, of=of, behind=behind)
        try:
            return await self._order.append(work, lambda: self._queued(work, of, behind))
        except Exception as error:
            with as_store_errors():
                raise error

    def _queued(
        self,
        work: Callable[[Connection], Any],
        of: str,
        behind: Callable[[Connection], Any] | None,
    ) -> Queued:
        if self._is_closed:
            raise _closed()
        loop = asyncio.get_running_loop()
        return Queued(work, of, behind, loop.create_future(), loop)

    def _put(self, item: Queued) -> None:
        if not self._is_closed:
            self._waiting.put(item)
        elif item.is_wanted:
            item.future.set_exception(_closed())

    async def close(self) -> None:
        """Finish what waits, then let go of the database."""
        try:
            if self._order is not None:
                # First: what the lane leaves to the thread is still done there.
                await self._order.close()
        finally:
            if not self._is_closed:
                self._is_closed = True
                self._waiting.put(None)
        await asyncio.shield(asyncio.wrap_future(self._has_stopped))

    def _serve(self) -> None:
        try:
            for items in self._groups():
                items = self._do_plain(self._turns.take_in_line(items))
                for group in self._without_circles(items):
                    begun_at = time.monotonic()
                    works = [item.work for item in group]
                    places, lock = [item.place for item in group], self._locks_of(group)
                    outcomes = commit(self._transactions, works, places, lock)
                    if self._plain_first is not None:
                        self._plain_first.heads.learn(works, outcomes)
                    answer(self._turns.take_locked(group, outcomes, begun_at))
                answer(self._turns.go_round())
        finally:
            self._transactions.dispose()
            self._has_stopped.set_result(None)

    def _do_plain(self, items: list[Queued]) -> list[Queued]:
        """Do what can be done in one go; the others."""
        if self._plain_first is None:
            return items
        works, names = [item.work for item in items], [item.of for item in items]
        outcomes = self._plain_first.do(works, names)
        pairs = list(zip(items, outcomes, strict=True))
        answer([(item, outcome) for item, outcome in pairs if outcome is not None])
        return [item for item, outcome in pairs if outcome is None]

    def _locks_of(self, group: list[Queued]) -> Callable[[Connection], None]:
        """What is locked before any of its works writes."""
        firsts = {item.behind for item in group if item.behind is not None}

        def lock(connection: Connection) -> None:
            for first in firsts:
                first(connection)

        return lock

    def _groups(self) -> Iterator[list[Queued]]:
        """Of what waits; empty ones while there is only what waits for somebody's rows."""
        is_last = False
        while not is_last or self._turns:
            group: list[Queued] = []
            with suppress(Empty):
                while not is_last and len(group) < LARGEST_GROUP:
                    item = self._waiting.get(block=not (group or self._turns))
                    is_last = item is None
                    if item is not None and item.is_wanted:
                        group.append(item)
            yield group

    def _without_circles(self, items: list[Queued]) -> Iterator[list[Queued]]:
        """In groups that can wait for those of other processes, but not both for each other."""
        if not self._transactions.locks_rows:
            if items:
                yield items
            return
        if together := [one for one in items if one.of < _STARTS]:
            yield sorted(together, key=lambda one: one.of)
        # A start has two places for itself, its key and its session: no order is right for both.
        yield from ([one] for one in sorted(items, key=lambda one: one.of) if one.of >= _STARTS)


def _closed() -> StoreUnavailable:
    return StoreUnavailable("The store is closed.")
