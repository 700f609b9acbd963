"""What waits is committed together.

One thread a process writes. It takes everything that waits, runs it inside one transaction and
commits once; the commit before forms the next group, so there is no timer and an idle store answers
at once. Each piece of work is a function of a connection and stands alone: what fails is taken back
by its savepoint and told to its caller; the others don't notice.

A caller that is cancelled stops waiting. Whether its work was done nobody knows then, which is why
appends are found again by their event ids.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine

from agent.errors import StoreUnavailable
from store.failures import as_store_errors, may_end_transaction

T = TypeVar("T")

LARGEST_GROUP = 256


@dataclass(frozen=True, slots=True, eq=False)
class _Item:
    """A piece of work, and where its result goes."""

    work: Callable[[Connection], Any]
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What became of an item."""

    value: Any = None
    error: BaseException | None = None


class _GroupEnded(Exception):
    """An item's error may have ended the transaction that the group shares."""


class Writer:
    """Runs work inside transactions, on its own thread, in the order in which it was asked."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: SimpleQueue[_Item | None] = SimpleQueue()
        self._is_closed = False
        self._has_stopped: Future[None] = Future()
        self._thread = threading.Thread(target=self._serve, name="store-writer", daemon=True)
        self._thread.start()

    async def run(self, work: Callable[[Connection], T]) -> T:
        """What ``work`` gives, once it is durable; what it raises, once it is undone.

        Raises ``StoreUnavailable``.
        """
        if self._is_closed:
            raise StoreUnavailable("The store is closed.")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._waiting.put(_Item(work, future, loop))
        with as_store_errors():
            return await future

    async def close(self) -> None:
        """Finish what waits, then let go of the database."""
        if not self._is_closed:
            self._is_closed = True
            self._waiting.put(None)
        await asyncio.shield(asyncio.wrap_future(self._has_stopped))

    def _serve(self) -> None:
        try:
            for group in self._groups():
                _answer(zip(group, self._commit(group), strict=True))
        finally:
            self._engine.dispose()
            self._has_stopped.set_result(None)

    def _groups(self) -> Iterator[list[_Item]]:
        while item := self._waiting.get():
            group = [item]
            with suppress(Empty):
                while len(group) < LARGEST_GROUP and (item := self._waiting.get_nowait()):
                    group.append(item)
            if wanted := [one for one in group if not one.future.cancelled()]:
                yield wanted
            if item is None:
                return

    def _commit(self, group: list[_Item]) -> list[_Outcome]:
        if len(group) == 1:
            return [self._commit_alone(group[0])]
        try:
            with self._engine.begin() as connection:
                return [_attempt(connection, item) for item in group]
        except _GroupEnded:
            return [self._commit_alone(item) for item in group]
        except BaseException as error:  # no lock, no commit: everyone who waits is told
            return [_Outcome(error=error) for _ in group]

    def _commit_alone(self, item: _Item) -> _Outcome:
        try:
            with self._engine.begin() as connection:
                return _Outcome(item.work(connection))
        except BaseException as error:  # whatever it is, it belongs to whoever waits for it
            return _Outcome(error=error)


def _attempt(connection: Connection, item: _Item) -> _Outcome:
    """Run one item of several, so that its failure undoes nothing but itself."""
    connection.exec_driver_sql("SAVEPOINT item")
    try:
        outcome = _Outcome(item.work(connection))
    except BaseException as error:  # as above
        if may_end_transaction(error):
            raise _GroupEnded from error
        connection.exec_driver_sql("ROLLBACK TO item")
        outcome = _Outcome(error=error)
    connection.exec_driver_sql("RELEASE item")
    return outcome


def _answer(outcomes: Iterator[tuple[_Item, _Outcome]]) -> None:
    """Hand the outcomes over, each loop's in one go."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[_Item, _Outcome]]] = {}
    for item, outcome in outcomes:
        by_loop.setdefault(item.loop, []).append((item, outcome))
    for loop, answered in by_loop.items():
        with suppress(RuntimeError):  # the loop has ended, and with it whoever waited
            loop.call_soon_threadsafe(_resolve, answered)


def _resolve(answered: list[tuple[_Item, _Outcome]]) -> None:
    for item, outcome in answered:
        if item.future.done():
            continue
        if outcome.error is not None:
            item.future.set_exception(outcome.error)
        else:
            item.future.set_result(outcome.value)
