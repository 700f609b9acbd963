"""The rows of a scene's threads, from below: looked at again and again, and changed by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

import asyncpg

from tests.store.database import ask, is_file, numbered

T = TypeVar("T")


class Rows(Protocol):
    """A database, whichever it is."""

    def ask(self, statement: str, *values: object) -> list[Any]:
        """The rows of a statement, with ``?`` for each value; committed."""

    def close(self) -> None: ...


def rows_of(url: str) -> Rows:
    return _File(url) if is_file(url) else _Server(url)


class _File:
    def __init__(self, url: str) -> None:
        self._url = url

    def ask(self, statement: str, *values: object) -> list[Any]:
        return ask(self._url, statement, *values)

    def close(self) -> None:
        pass


class _Server:
    """Over one connection: to open one takes longer than most questions."""

    def __init__(self, url: str) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._loop = asyncio.new_event_loop()
        self._connection = self._run(asyncpg.connect(url))

    def ask(self, statement: str, *values: object) -> list[Any]:
        found = self._run(self._connection.fetch(numbered(statement), *values))
        return [tuple(row) for row in found]

    def close(self) -> None:
        self._run(self._connection.close())
        self._thread.shutdown()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._thread.submit(self._loop.run_until_complete, work).result()
