"""The database from below: what no port lets one do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any


def path_of(url: str) -> str:
    return url.removeprefix("sqlite:///")


@contextmanager
def connected(url: str) -> Iterator[sqlite3.Connection]:
    """A connection without a transaction of its own."""
    with closing(sqlite3.connect(path_of(url), timeout=5, isolation_level=None)) as connection:
        yield connection


def ask(url: str, statement: str, *values: object) -> list[Any]:
    with connected(url) as connection:
        return connection.execute(statement, values).fetchall()
