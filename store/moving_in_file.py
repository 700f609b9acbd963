"""Plain appends in a file: a few statements for all of them, straight to the driver, where going through
SQLAlchemy costs as much as the statements themselves."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import Any, Final, TypeVar

from sqlalchemy import ColumnElement, Update, bindparam, column, values
from sqlalchemy.dialects import sqlite

from agent.rules.ids import RunId
from store.falling_due import is_due
from store.moving import FACT, GIVEN, OPERATION, is_for_others, move_run, move_thread, values_of
from store.plain import Move, rows_of
from store.schema import runs, threads

T = TypeVar("T")

#: Of so many rows at most is a statement, and of a power of two: so there are only a few to be prepared.
_LARGEST = 64
_BEHIND: Final[dict[str, Any]] = {name: GIVEN[name] for name in ("run_id", "new_seq")}
_NOTHING_BEHIND = (None, None)
_INSERT_FACT, _INSERT_OPERATION = (
    f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    for table, columns in (("journal", FACT), ("operations", OPERATION))
)


class _Given:
    """So many rows of values, as a statement takes them."""

    def __init__(self, types: dict[str, Any], rows: int) -> None:
        self._types = types
        self._rows = [
            {name: bindparam(f"of_{n}_{name}", type_=type_) for name, type_ in types.items()}
            for n in range(rows)
        ]
        #: In the order of what is given: row by row, then the time.
        self.names = [one.key for row in self._rows for one in row.values()] + ["now"]
        if rows > 1:
            columns = [column(name, type_) for name, type_ in types.items()]
            table = values(*columns, name="given").data([(*row.values(),) for row in self._rows])
            self._table = table.cte("given")

    def __call__(self, name: str) -> ColumnElement[Any]:
        # A table of one row costs more than it saves.
        return self._table.c[name] if len(self._rows) > 1 else self._rows[0][name]


class _Driven:
    """A statement as the driver takes it."""

    def __init__(self, statement: Update, given: _Given) -> None:
        compiled = statement.compile(dialect=sqlite.dialect())
        self._text = str(compiled)
        self._in_order = itemgetter(*map(given.names.index, compiled.positiontup or ()))

    def run(
        self, cursor: sqlite3.Cursor, rows: Sequence[tuple[Any, ...]], now: int
    ) -> list[tuple[Any, ...]]:
        """What it returns of each row that it changed."""
        cursor.execute(self._text, self._in_order((*chain.from_iterable(rows), now)))
        return cursor.fetchall()


@cache
def _moving_runs(count: int) -> _Driven:
    given = _Given(GIVEN, count)
    return _Driven(move_run(given).returning(runs.c.run_id, is_due(runs), runs.c.holder), given)


@cache
def _moving_threads(count: int) -> _Driven:
    given = _Given(_BEHIND, count)
    moved = move_thread(given("run_id"), given("new_seq"))
    return _Driven(moved.returning(threads.c.run_id, threads.c.holder, is_due(threads)), given)


def move_together(
    driver: sqlite3.Connection, moves: Sequence[Move], now: int
) -> tuple[set[RunId], bool]:
    """Those that are still as they were seen are moved; which ones, and whether others are to be told. ``now`` in
    microseconds."""
    cursor = driver.cursor()
    found: dict[RunId, tuple[Any, ...]] = {}
    for portion in _portions([values_of(one) for one in moves]):
        for run_id, *told in _moving_runs(len(portion)).run(cursor, portion, now):
            found[run_id] = (*told,)
    moved = [one for one in moves if one.run_id in found]
    behind: dict[RunId, tuple[Any, ...]] = {}
    for drawn in _portions([(one.run_id, one.head.seq) for one in moved]):
        for run_id, *told in _moving_threads(len(drawn)).run(cursor, drawn, now):
            behind[run_id] = (*told,)
    cursor.executemany(_INSERT_FACT, [row for one in moved for row in rows_of(one)])
    if opened := [(operation, one.run_id) for one in moved for operation in one.operations]:
        cursor.executemany(_INSERT_OPERATION, opened)
    cursor.close()
    concerns_others = any(
        is_for_others(one, *found[one.run_id], *behind.get(one.run_id, _NOTHING_BEHIND))
        for one in moved
    )
    return set(found), concerns_others


def _portions(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    begin = 0
    while left := len(rows) - begin:
        count = min(_LARGEST, 1 << left.bit_length() - 1)
        yield rows[begin : begin + count]
        begin += count
