"""What becomes of a row's time when its run moves, and whether others are told.

The rule: others are told of what is due at once, and of a move under a lease that one of them holds.
What a holder does to its own run or thread it knows by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Case, ColumnElement, Connection, Table, and_, case, or_

from store.now import NOW
from store.wakeups import stir


def due_at_once(table: Table) -> Case[datetime | None]:
    """The ``wake_at`` of a row that has moved. Whoever holds a living lease sees the move; nobody else
    would. What is due already keeps its place among those that wait: a run that people keep writing to
    would else never become the oldest."""
    rows = table.c
    is_held = and_(rows.holder.is_not(None), rows.lease_expires_at > NOW)
    is_seen_to = or_(is_held, rows.wake_at <= NOW)
    return case((is_seen_to, rows.wake_at), else_=NOW)


def is_due(table: Table) -> ColumnElement[bool]:
    """Of a row as it has just been written, to be returned by the statement that wrote it."""
    return (table.c.wake_at <= NOW).label("is_due")


def tell_if_due(connection: Connection, is_due: bool | None) -> None:
    """Others may take what is due at once; at other times they look by themselves."""
    if is_due:
        stir(connection)


@dataclass(frozen=True, slots=True)
class Behind:
    """A thread that does not show what its run has become."""

    #: Who had its lease last, if anybody.
    holder: str | None
    is_due: bool


def concerns_others(holder: str | None, behind: Behind | None, *, is_drawn_here: bool) -> bool:
    """The holder has moved its own run: is it another process that has to draw it?"""
    if behind is None:
        return False
    return not is_drawn_here if behind.is_due else behind.holder != holder
