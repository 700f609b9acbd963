"""What is read of a database while a test looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, event

#: What drawing reads; what it writes names them in other statements.
_TABLES = ("journal", "thread_messages")


@contextmanager
def reads_of_threads() -> Iterator[list[str]]:
    """The first statement of each read of journals or of threads that any store of this process makes."""
    first: list[str] = []
    fresh: set[int] = set()

    def connected(connection: Connection) -> None:
        fresh.add(id(connection))

    def executed(connection: Connection, _cursor: Any, statement: str, *_rest: Any) -> None:
        is_read = statement.startswith("SELECT") and any(one in statement for one in _TABLES)
        if is_read and id(connection) in fresh:
            fresh.discard(id(connection))
            first.append(statement)

    listeners: dict[str, Callable[..., None]] = {
        "engine_connect": connected,
        "before_cursor_execute": executed,
    }
    for name, listener in listeners.items():
        event.listen(Engine, name, listener)
    try:
        yield first
    finally:
        for name, listener in listeners.items():
            event.remove(Engine, name, listener)
