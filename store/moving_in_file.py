"""Plain appends in a file: a few statements each, straight to the driver, where going through SQLAlchemy costs
several times as much as the statement itself."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Connection, Update, bindparam
from sqlalchemy.dialects import sqlite

from agent.rules.ids import RunId
from store.falling_due import is_due
from store.moving import (
    FACT,
    GIVEN,
    OPERATION,
    given_once,
    is_for_others,
    move_run,
    move_thread,
    values_of,
)
from store.plain import Move, rows_of
from store.schema import runs, threads
from store.wakeups import stir


class _Driven:
    """A statement as the driver takes it."""

    def __init__(self, statement: Update) -> None:
        compiled = statement.compile(dialect=sqlite.dialect())
        self.text = str(compiled)
        self.in_order = itemgetter(*compiled.positiontup or ())


def _given(name: str) -> Any:
    return bindparam(f"of_{name}", type_=GIVEN[name])


_NAMES: Final = tuple(f"of_{name}" for name in GIVEN)
_MOVE_RUN = _Driven(move_run(_given).returning(is_due(runs), runs.c.holder))
_MOVE_THREAD = _Driven(
    move_thread(_given("run_id"), _given("new_seq")).returning(threads.c.holder, is_due(threads))
)
_INSERT_FACT, _INSERT_OPERATION = (
    f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    for table, columns in (("journal", FACT), ("operations", OPERATION))
)


def move_one_by_one(connection: Connection, moves: Sequence[Move], now: int) -> set[RunId]:
    """Those that are still as they were seen are moved, and named. ``now`` in microseconds."""
    driver = connection.connection.dbapi_connection
    assert driver is not None, "a connection that has begun is open"
    cursor = driver.cursor()
    moved: set[RunId] = set()
    facts: list[tuple[Any, ...]] = []
    opened: list[tuple[str, str]] = []
    once = given_once(moves, now)
    for one in moves:
        values = dict(zip(_NAMES, values_of(one), strict=True))
        values |= once
        cursor.execute(_MOVE_RUN.text, _MOVE_RUN.in_order(values))
        if not (found := cursor.fetchall()):
            continue
        cursor.execute(_MOVE_THREAD.text, _MOVE_THREAD.in_order(values))
        thread = cursor.fetchall() or [(None, None)]
        if is_for_others(one, *found[0], *thread[0]):
            stir(connection)
        moved.add(one.run_id)
        facts += rows_of(one)
        opened += [(operation, one.run_id) for operation in one.operations]
    cursor.executemany(_INSERT_FACT, facts)
    if opened:
        cursor.executemany(_INSERT_OPERATION, opened)
    cursor.close()
    return moved
