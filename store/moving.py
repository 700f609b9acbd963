"""The statements of plain appends: what they change, and the guards under which they do."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    Executable,
    Integer,
    Select,
    Text,
    Update,
    and_,
    bindparam,
    case,
    column,
    exists,
    func,
    insert,
    literal_column,
    not_,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql import ARRAY

from agent.rules.ids import RunId
from store.falling_due import Behind, concerns_others, due_at_once, is_due
from store.now import NOW
from store.plain import Move, rows_of
from store.schema import approvals, journal, operations, reservations, runs, threads
from store.wakeups import stir

#: Of the journal, in the order of ``rows_of``.
_FACT_TYPES: Final[dict[str, Any]] = {
    "run_id": Text(),
    "seq": BigInteger(),
    "event_id": Text(),
    "at": BigInteger(),
    "hash": Text(),
    "body": Text(),
}
_FACT: Final = tuple(_FACT_TYPES)
_OPENED_TYPES: Final[dict[str, Any]] = {"operation_id": Text(), "run_id": Text()}
_IS_ACTIVE = text("runs.status = 'active'")


def _move(values: Any) -> Update:
    """Of a run's row; ``values`` gives each value by its name."""
    nobody_is_asked = not_(exists().where(approvals.c.run_id == runs.c.run_id))
    nothing_is_reserved = not_(exists().where(reservations.c.run_id == runs.c.run_id))
    return (
        update(runs)
        .where(
            runs.c.run_id == values("run_id"),
            runs.c.head_seq == values("seen_seq"),
            runs.c.head_hash == values("seen_hash"),
            runs.c.fence == values("fence"),
            _IS_ACTIVE,
            or_(not_(values("is_of_calls")), and_(nobody_is_asked, nothing_is_reserved)),
        )
        .values(
            head_seq=values("new_seq"),
            head_hash=values("new_hash"),
            updated_at=NOW,
            claims=literal_column("0"),
            format=case((runs.c.format < values("form"), values("form")), else_=runs.c.format),
            wake_at=due_at_once(runs),
        )
    )


def _want(run_id: ColumnElement[Any], seq: ColumnElement[Any]) -> Update:
    """Of its thread's."""
    return (
        update(threads)
        .where(threads.c.run_id == run_id)
        .values(wanted_seq=seq, wake_at=due_at_once(threads))
    )


_TYPES: Final[dict[str, Any]] = {
    "run_id": Text(),
    "seen_seq": BigInteger(),
    "seen_hash": Text(),
    "fence": BigInteger(),
    "is_of_calls": Boolean(),
    "new_seq": BigInteger(),
    "new_hash": Text(),
    "form": Integer(),
}


def _values(move: Move) -> tuple[Any, ...]:
    """In the order of ``_TYPES``."""
    new, seen = move.head, move.seen
    fence, of_calls = move.wanted.fence, move.is_of_calls
    return (move.run_id, seen.seq, seen.hash, fence, of_calls, new.seq, new.hash, move.form)


class _Driven:
    """A statement as SQLite's driver takes it, where going through SQLAlchemy costs several times as much
    as the statement itself."""

    def __init__(self, statement: Executable) -> None:
        compiled = statement.compile(dialect=sqlite.dialect())  # type: ignore[attr-defined]
        self.text = str(compiled)
        self._in_order = itemgetter(*compiled.positiontup)

    def of(self, values: dict[str, Any]) -> Any:
        return self._in_order(values)


def _given(name: str) -> Any:
    return bindparam(f"of_{name}", type_=_TYPES[name])


_NAMES: Final = tuple(f"of_{name}" for name in _TYPES)
_MOVE_ONE = _Driven(_move(_given).returning(is_due(runs), runs.c.holder))
_WANT_ONE = _Driven(
    _want(_given("run_id"), _given("new_seq")).returning(threads.c.holder, is_due(threads))
)
_INSERT_FACT = (
    "INSERT INTO journal (run_id, seq, event_id, at, hash, body) VALUES (?, ?, ?, ?, ?, ?)"
)
_INSERT_OPERATION = "INSERT INTO operations (operation_id, run_id) VALUES (?, ?)"


def move_one_by_one(connection: Connection, moves: Sequence[Move], now: int) -> set[RunId]:
    """In a file: those that are still as they were seen are moved, and named. ``now`` in microseconds."""
    driver = connection.connection.dbapi_connection
    assert driver is not None, "a connection that has begun is open"
    cursor = driver.cursor()
    moved: set[RunId] = set()
    facts: list[tuple[Any, ...]] = []
    opened: list[tuple[str, str]] = []
    for one in moves:
        values = dict(zip(_NAMES, _values(one), strict=True))
        values["now"] = now
        cursor.execute(_MOVE_ONE.text, _MOVE_ONE.of(values))
        if not (found := cursor.fetchall()):
            continue
        cursor.execute(_WANT_ONE.text, _WANT_ONE.of(values))
        _tell(connection, one, *found[0], *(cursor.fetchall() or ((None, None),))[0])
        moved.add(one.run_id)
        facts += rows_of(one)
        opened += [(operation, one.run_id) for operation in one.operations]
    cursor.executemany(_INSERT_FACT, facts)
    cursor.executemany(_INSERT_OPERATION, opened)
    cursor.close()
    return moved


def _tell(
    connection: Connection,
    move: Move,
    is_due: bool | None,
    holder: str | None,
    thread_holder: str | None,
    thread_is_due: bool | None,
) -> None:
    """Others, of what there is for them to do. ``thread_is_due``: None where it is not, or there is no thread."""
    behind = None
    if thread_holder is not None or thread_is_due is not None:
        behind = Behind(thread_holder, bool(thread_is_due))
    if is_due or concerns_others(holder, behind, is_drawn_here=move.wanted.is_drawn_here):
        stir(connection)


def _rows(name: str, types: dict[str, Any]) -> Any:
    """A table of what is given: an array for each column."""
    arrays = [bindparam(f"{name}_{one}", type_=ARRAY(type_)) for one, type_ in types.items()]
    columns = [column(one, type_) for one, type_ in types.items()]
    return func.unnest(*arrays).table_valued(*columns).render_derived(name=name)


def _move_together() -> Select[Any]:
    """All of them, in one statement, which is a transaction by itself.

    It never waits for a row that somebody has: such a run, and one whose thread somebody has, is left out."""
    given = _rows("given", _TYPES)
    facts = _rows("facts", _FACT_TYPES)
    opens = _rows("opens", _OPENED_TYPES)
    are_wanted = bindparam("given_run_id", type_=ARRAY(Text()))
    free_runs, free_threads = (
        select(table.c.run_id)
        .where(table.c.run_id == func.any(are_wanted))
        .with_for_update(key_share=True, skip_locked=True)
        .cte(f"free_{table.name}")
        .prefix_with("MATERIALIZED")
        for table in (runs, threads)
    )
    its_thread_is_taken = exists().where(
        threads.c.run_id == runs.c.run_id,
        not_(exists().where(free_threads.c.run_id == threads.c.run_id)),
    )
    moved = (
        _move(lambda name: given.c[name])
        .where(runs.c.run_id == free_runs.c.run_id, not_(its_thread_is_taken))
        .returning(runs.c.run_id, runs.c.head_seq, is_due(runs), runs.c.holder)
        .cte("moved")
    )
    wanted = (
        _want(moved.c.run_id, moved.c.head_seq)
        .returning(threads.c.run_id, threads.c.holder, is_due(threads))
        .cte("wanted")
    )
    of_moved = select(*(facts.c[one] for one in _FACT)).join(
        moved, moved.c.run_id == facts.c.run_id
    )
    added = insert(journal).from_select(_FACT, of_moved).returning(journal.c.seq).cte("added")
    of_theirs = select(*(opens.c[one] for one in _OPENED_TYPES)).join(
        moved, moved.c.run_id == opens.c.run_id
    )
    opened = (
        insert(operations)
        .from_select(tuple(_OPENED_TYPES), of_theirs)
        .returning(operations.c.run_id)
        .cte("opened")
    )
    return (
        select(
            moved.c.run_id,
            moved.c.is_due,
            moved.c.holder,
            wanted.c.holder.label("thread_holder"),
            wanted.c.is_due.label("thread_is_due"),
        )
        .select_from(moved.outerjoin(wanted, wanted.c.run_id == moved.c.run_id))
        .add_cte(added, opened)
    )


_MOVE_TOGETHER = _move_together()


def move_together(connection: Connection, moves: Sequence[Move], now: object) -> set[RunId]:
    """On a server: the same of those whose rows nobody has."""
    values: dict[str, object] = {"now": now}
    values |= _columns("given", _TYPES, [_values(one) for one in moves])
    values |= _columns("facts", _FACT_TYPES, [row for one in moves for row in rows_of(one)])
    opened = [(operation, one.run_id) for one in moves for operation in one.operations]
    values |= _columns("opens", _OPENED_TYPES, opened)
    rows = connection.execute(_MOVE_TOGETHER, values).all()
    by_run = {one.run_id: one for one in moves}
    for run_id, *found in rows:
        _tell(connection, by_run[run_id], *found)
    return {RunId(run_id) for run_id, *_ in rows}


def _columns(
    name: str, types: dict[str, Any], rows: Sequence[tuple[Any, ...]]
) -> dict[str, object]:
    return {f"{name}_{one}": [row[n] for row in rows] for n, one in enumerate(types)}
