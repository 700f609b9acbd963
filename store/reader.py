"""Reads, beside the writer: each sees what was committed when it began."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from agent.errors import StoreUnavailable
from agent.left_running import result_of
from store.failures import as_store_errors

T = TypeVar("T")


class Reader:
    """Runs reads on a few connections of its own."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._running: set[asyncio.Task[object]] = set()
        self._is_closed = False

    async def run(self, work: Callable[[Connection], T]) -> T:
        """What ``work`` gives. Each of its statements sees what was committed when that one began.
        Raises ``StoreUnavailable``.

        A caller that is cancelled stops waiting; its read still ends in order and gives its
        connection back: one that is left in the middle of a statement has to be thrown away.
        """
        if self._is_closed:
            raise StoreUnavailable("The store is closed.")
        task = asyncio.create_task(self._read(work))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await result_of(task)

    async def _read(self, work: Callable[[Connection], T]) -> T:
        with as_store_errors():
            try:
                return await self._read_once(work)
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise
            # It had been lost while nobody used it; another one may be had.
            return await self._read_once(work)

    async def _read_once(self, work: Callable[[Connection], T]) -> T:
        async with self._engine.connect() as connection:
            return await connection.run_sync(work)

    async def close(self) -> None:
        """Let what is being read end, then let go of the database."""
        self._is_closed = True
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._engine.dispose()
