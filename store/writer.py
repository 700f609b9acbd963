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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar, cast

from sqlalchemy import Connection

from agent.errors import StoreUnavailable
from agent.rules.recorded import Recorded
from store.failures import as_store_errors
from store.groups import LARGEST_GROUP, Outcome, Transactions, commit
from store.in_doubt import until_known
from store.together import Appending, Movers, PlainFirst
from store.turns import Turns

T = TypeVar("T")

#: Of one run. In the lane each is a transaction by itself; in the thread those that are behind are done in one.
MOST_IN_LANE = 8
#: Behind the works of every run, and in a transaction of its own where rows are locked: for what takes
#: rows of many runs, and may wait for them only while it has no others.
LAST = "\U0010ffff"
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


@dataclass(slots=True, eq=False)
class _Item:
    """A piece of work, and where its result goes."""

    work: Callable[[Connection], Any]
    of: str
    behind: Callable[[Connection], Any] | None
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop

    @property
    def place(self) -> str | None:
        return None if self.of in ("", LAST) else self.of

    @property
    def is_wanted(self) -> bool:
        return not self.future.cancelled()


class Lane(Protocol):
    """A way of its own for plain appends, beside the writer's thread."""

    def takes(self, work: Appending) -> bool:
        """May it be done there, as far as is known without waiting?"""

    async def append(self, work: Appending) -> list[Recorded] | None:
        """What was appended, once it is durable; None where that is left to the writer, as all of its run that is
        behind it. Raises ``CommitInDoubt``."""

    def learn(self, work: Appending, recorded: list[Recorded]) -> None:
        """From what the writer did."""

    async def close(self) -> None:
        """Finish what waits, then let go of the database."""


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
        self._lane = lane
        #: How many works of each name, or each run, are waited for in the thread; how many appends to each run in
        #: the lane, and what was asked for behind those.
        self._in_thread: Counter[str] = Counter()
        self._in_lane: Counter[str] = Counter()
        self._behind_lane: dict[str, list[_Item]] = {}
        self._turns: Turns[_Item] = Turns(transactions)
        self._waiting: SimpleQueue[_Item | None] = SimpleQueue()
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
        item = self._item(work, of, behind)
        self._put_behind_lane(item, of)
        return cast(T, await self._answer_to(item, of))

    def _item(
        self,
        work: Callable[[Connection], Any],
        of: str,
        behind: Callable[[Connection], Any] | None,
    ) -> _Item:
        if self._is_closed:
            raise _closed()
        loop = asyncio.get_running_loop()
        return _Item(work, of, behind, loop.create_future(), loop)

    async def _answer_to(self, item: _Item, name: str) -> Any:
        """``name``: of whom none is done in the lane before that."""
        try:
            with _counted(self._in_thread, name):
                return await item.future
        except Exception as error:
            # Entered only here: nearly all that is written needs none of it.
            with as_store_errors():
                raise error

    def _put_behind_lane(self, item: _Item, name: str) -> None:
        if name in self._in_lane:
            self._behind_lane.setdefault(name, []).append(item)
        else:
            self._waiting.put(item)

    @contextmanager
    def _has_in_lane(self, run_id: str) -> Iterator[None]:
        try:
            with _counted(self._in_lane, run_id):
                yield
        finally:
            if run_id not in self._in_lane:
                for item in self._behind_lane.pop(run_id, ()):
                    self._put_late(item)

    def _put_late(self, item: _Item) -> None:
        if not self._is_closed:
            self._waiting.put(item)
        elif item.is_wanted:
            item.future.set_exception(_closed())

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
        lane, run_id = self._lane, work.run_id
        if lane is None:
            return await self.run(work, of=of, behind=behind)
        is_crowded = self._in_thread[run_id] or self._in_lane[run_id] >= MOST_IN_LANE
        if not is_crowded and lane.takes(work):
            with self._has_in_lane(run_id):
                if (appended := await lane.append(work)) is not None:
                    return appended
                # In its place: ahead of what was asked for behind it.
                item = self._item(work, of, behind)
                self._waiting.put(item)
        else:
            item = self._item(work, of, behind)
            self._put_behind_lane(item, run_id)
        # Its name may be another: an append that takes rows of other runs as well.
        recorded: list[Recorded] = await self._answer_to(item, run_id)
        lane.learn(work, recorded)
        return recorded

    async def close(self) -> None:
        """Finish what waits, then let go of the database."""
        try:
            if self._lane is not None:
                # First: what it leaves to the thread is still done there.
                await self._lane.close()
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
                    _answer(self._turns.take_locked(group, outcomes, begun_at))
                _answer(self._turns.go_round())
        finally:
            self._transactions.dispose()
            self._has_stopped.set_result(None)

    def _do_plain(self, items: list[_Item]) -> list[_Item]:
        """Do what can be done in one go; the others."""
        if self._plain_first is None:
            return items
        works, names = [item.work for item in items], [item.of for item in items]
        outcomes = self._plain_first.do(works, names)
        pairs = list(zip(items, outcomes, strict=True))
        _answer([(item, outcome) for item, outcome in pairs if outcome is not None])
        return [item for item, outcome in pairs if outcome is None]

    def _locks_of(self, group: list[_Item]) -> Callable[[Connection], None]:
        """What is locked before any of its works writes."""
        firsts = {item.behind for item in group if item.behind is not None}

        def lock(connection: Connection) -> None:
            for first in firsts:
                first(connection)

        return lock

    def _groups(self) -> Iterator[list[_Item]]:
        """Of what waits; empty ones while there is only what waits for somebody's rows."""
        is_last = False
        while not is_last or self._turns:
            group: list[_Item] = []
            with suppress(Empty):
                while not is_last and len(group) < LARGEST_GROUP:
                    item = self._waiting.get(block=not (group or self._turns))
                    is_last = item is None
                    if item is not None and item.is_wanted:
                        group.append(item)
            yield group

    def _without_circles(self, items: list[_Item]) -> Iterator[list[_Item]]:
        """In groups that can wait for those of other processes, but not both for each other."""
        if not self._transactions.locks_rows:
            yield items
            return
        if together := [one for one in items if one.of < _STARTS]:
            yield sorted(together, key=lambda one: one.of)
        # A start has two places for itself, its key and its session: no order is right for both.
        yield from ([one] for one in sorted(items, key=lambda one: one.of) if one.of >= _STARTS)


@contextmanager
def _counted(names: Counter[str], name: str) -> Iterator[None]:
    names[name] += 1
    try:
        yield
    finally:
        names[name] -= 1
        if not names[name]:
            del names[name]


def _closed() -> StoreUnavailable:
    return StoreUnavailable("The store is closed.")


def _answer(outcomes: Iterable[tuple[_Item, Outcome]]) -> None:
    """Hand the outcomes over, each loop's in one go."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[_Item, Outcome]]] = {}
    for item, outcome in outcomes:
        by_loop.setdefault(item.loop, []).append((item, outcome))
    for loop, answered in by_loop.items():
        with suppress(RuntimeError):  # the loop has ended, and with it whoever waited
            loop.call_soon_threadsafe(_resolve, answered)


def _resolve(answered: list[tuple[_Item, Outcome]]) -> None:
    for item, outcome in answered:
        if item.future.done():
            continue
        if outcome.error is not None:
            item.future.set_exception(outcome.error)
        else:
            item.future.set_result(outcome.value)
