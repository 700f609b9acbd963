"""What plain appends change, and the guards under which they do: the same in a file and on a server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Integer,
    Text,
    Update,
    and_,
    case,
    literal_column,
    not_,
    or_,
    text,
    update,
)

from store.falling_due import Behind, concerns_others, due_at_once
from store.late_keys import IS_LEFT_BEHIND, WRITTEN_WITH, written_with
from store.plain import Move
from store.schema import approvals, reservations, runs, threads

#: What is given of each run, in the order of ``values_of``; of each fact, in that of ``rows_of``; of each
#: operation.
GIVEN: Final[dict[str, Any]] = {
    "run_id": Text(),
    "seen_seq": BigInteger(),
    "seen_hash": Text(),
    "fence": BigInteger(),
    "is_of_calls": Boolean(),
    "new_seq": BigInteger(),
    "new_hash": Text(),
    "form": Integer(),
}
#: What is given once for all of them.
GIVEN_ONCE: Final = ("now", *WRITTEN_WITH)
FACT: Final[dict[str, Any]] = {
    "run_id": Text(),
    "seq": BigInteger(),
    "event_id": Text(),
    "at": BigInteger(),
    "hash": Text(),
    "body": Text(),
}
OPERATION: Final[dict[str, Any]] = {"operation_id": Text(), "run_id": Text()}

# As written: driven without SQLAlchemy a statement takes nothing but what is given.
_IS_ACTIVE = text("runs.status = 'active'")
_IS_WHOLE = text("runs.purged = 0")
# Of one run at a time, and by its key: of an EXISTS a server may think that it is better to read all of the table.
_NOBODY_IS_ASKED, _NOTHING_IS_RESERVED = (
    text(f"(SELECT 0 FROM {one.name} WHERE {one.name}.run_id = runs.run_id LIMIT 1) IS NULL")
    for one in (approvals, reservations)
)
_NONE: ColumnElement[int] = literal_column("0")


def values_of(move: Move) -> tuple[Any, ...]:
    new, seen = move.head, move.seen
    fence, of_calls = move.wanted.fence, move.is_of_calls
    return (move.run_id, seen.seq, seen.hash, fence, of_calls, new.seq, new.hash, move.form)


def given_once(moves: Sequence[Move], now: int | None) -> dict[str, Any]:
    """What is the same for all of them, in the order of ``GIVEN_ONCE``: the time, in microseconds, and the keys
    that they are written with."""
    return {"now": now, **written_with(moves[0].wanted.facts[0].keys)}


def move_run(given: Callable[[str], Any], is_active: Any = _IS_ACTIVE) -> Update:
    """Its row; ``given`` has each value by its name. ``is_active``: how it is asked whether the run is.

    Nothing changes that an index is of, unless the run falls due: a server writes all of a row's indexes else."""
    return (
        update(runs)
        .where(
            runs.c.run_id == given("run_id"),
            runs.c.head_seq == given("seen_seq"),
            runs.c.head_hash == given("seen_hash"),
            runs.c.fence == given("fence"),
            is_active,
            _IS_WHOLE,
            or_(not_(given("is_of_calls")), and_(_NOBODY_IS_ASKED, _NOTHING_IS_RESERVED)),
            not_(IS_LEFT_BEHIND),
        )
        .values(
            head_seq=given("new_seq"),
            head_hash=given("new_hash"),
            claims=_NONE,
            format=case((runs.c.format < given("form"), given("form")), else_=runs.c.format),
            wake_at=due_at_once(runs),
        )
    )


def move_thread(run_id: Any, seq: Any) -> Update:
    """Its thread's row, if it has one."""
    return (
        update(threads)
        .where(threads.c.run_id == run_id)
        .values(wanted_seq=seq, wake_at=due_at_once(threads))
    )


def is_for_others(
    move: Move,
    is_due: bool | None,
    holder: str | None,
    thread_holder: str | None,
    thread_is_due: bool | None,
) -> bool:
    """Is there anything for another process to do? ``thread_is_due``: None without a thread."""
    behind = None if thread_is_due is None else Behind(thread_holder, bool(thread_is_due))
    is_drawn_here = move.wanted.is_drawn_here
    return bool(is_due) or concerns_others(holder, behind, is_drawn_here=is_drawn_here)
