"""Plain appends on a server: all of them in one statement, which is a transaction by itself, so that it takes one
way there and back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import asyncpg
from sqlalchemy import Select, bindparam, column, func, insert, make_url, select, true
from sqlalchemy.dialects.postgresql import ARRAY

from agent.rules.ids import RunId
from store.falling_due import is_due
from store.instants import as_number
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
from store.schema import journal, operations, runs, threads


def _rows(name: str, types: dict[str, Any]) -> Any:
    """A table of what is given: an array for each column."""
    arrays = [bindparam(f"{name}_{one}", type_=ARRAY(type_)) for one, type_ in types.items()]
    columns = [column(one, type_) for one, type_ in types.items()]
    return func.unnest(*arrays).table_valued(*columns).render_derived(name=name)


def _free(table: Any) -> Any:
    """Of the given runs those whose row in this table nobody else has. No row is ever waited for."""
    given = bindparam("given_run_id", type_=ARRAY(GIVEN["run_id"]))
    free = (
        select(table.c.run_id)
        .where(table.c.run_id == func.any(given))
        .with_for_update(key_share=True, skip_locked=True)
        .cte(f"free_{table.name}")
        .prefix_with("MATERIALIZED")
    )
    return func.any(func.array(select(free.c.run_id).scalar_subquery()))


def _move_all() -> Select[Any]:
    """Each table's rows are found by their keys whatever the planner takes the table for: it keeps a plan while the
    table grows. So keys are compared with arrays, and what else is asked of a row is asked of that one alone."""
    given, facts, opened = _rows("given", GIVEN), _rows("facts", FACT), _rows("opened", OPERATION)
    has_no_thread_that_somebody_has = func.coalesce(
        select(threads.c.run_id == _free(threads))
        .where(threads.c.run_id == runs.c.run_id)
        .scalar_subquery(),
        true(),
    )
    moved = (
        move_run(lambda name: given.c[name], runs.c.status == bindparam("active"))
        .where(runs.c.run_id == _free(runs), has_no_thread_that_somebody_has)
        .returning(runs.c.run_id, runs.c.head_seq, is_due(runs), runs.c.holder)
        .cte("moved")
    )
    behind = (
        move_thread(moved.c.run_id, moved.c.head_seq)
        .returning(threads.c.run_id, threads.c.holder, is_due(threads))
        .cte("behind")
    )
    added = [
        insert(table)
        .from_select(
            tuple(types),
            select(*(rows.c[one] for one in types)).join(moved, moved.c.run_id == rows.c.run_id),
        )
        .returning(table.c.run_id)
        .cte(f"added_to_{table.name}")
        for table, rows, types in ((journal, facts, FACT), (operations, opened, OPERATION))
    ]
    return (
        select(
            moved.c.run_id,
            moved.c.is_due,
            moved.c.holder,
            behind.c.holder.label("thread_holder"),
            behind.c.is_due.label("thread_is_due"),
        )
        .select_from(moved.outerjoin(behind, behind.c.run_id == moved.c.run_id))
        .add_cte(*added)
    )


_DIALECT = make_url("postgresql+asyncpg://").get_dialect()
_COMPILED = _move_all().compile(dialect=_DIALECT())
STATEMENT, _IN_ORDER = str(_COMPILED), tuple(_COMPILED.positiontup or ())


async def move_together(
    connection: asyncpg.Connection, moves: Sequence[Move], now: datetime | None
) -> tuple[set[RunId], bool]:
    """Those that are still as they were seen, and whose rows nobody has, are moved; which ones, and whether
    others are to be told. Raises what the driver raises."""
    once = given_once(moves, None if now is None else as_number(now))
    values = {"active": "active", **once}
    values |= _columns("given", GIVEN, [values_of(one) for one in moves])
    values |= _columns("facts", FACT, [row for one in moves for row in rows_of(one)])
    opened = [(operation, one.run_id) for one in moves for operation in one.operations]
    values |= _columns("opened", OPERATION, opened)
    rows = await connection.fetch(STATEMENT, *(values[name] for name in _IN_ORDER))
    by_run = {one.run_id: one for one in moves}
    moved = {RunId(row["run_id"]) for row in rows}
    return moved, any(is_for_others(by_run[run_id], *found) for run_id, *found in rows)


def _columns(name: str, types: dict[str, Any], rows: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    return {f"{name}_{one}": [row[n] for row in rows] for n, one in enumerate(types)}
