"""Of what waits, the plain appends are done first, all in one go; the rest, and what of them could not be done
so, is left to ``store.groups``.

Nothing is lost by trying: an append that was done here in spite of an error is found again by its event ids.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import OrderedDict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from sqlalchemy.exc import SQLAlchemyError

from agent.errors import StoreError
from agent.rules.ids import RunId
from store.groups import CommitFailed, Outcome, Work
from store.plain import Head, Move, Plain, move_from

#: Of so many runs the head is kept in mind: more than any process works at once.
KEPT = 1_000
#: The database's: the general way meets it again, and tells whoever waits.
_OF_DATABASE = (CommitFailed, SQLAlchemyError, sqlite3.Error, StoreError, OSError)


class PlainWork(Protocol):
    """An append that is done in the general way when it is called, and may be done with others."""

    @property
    def plain(self) -> Plain | None:
        """None: it has to be done in the general way."""


class Movers(Protocol):
    """A database's own way to do many plain appends."""

    def move(self, moves: Sequence[Move], now: datetime | None) -> Collection[RunId]:
        """Each of another run. Those whose runs are as they were seen are durable then, and named; nothing of the
        others is done. Raises what the database raises; then nobody knows."""


class Heads:
    """The last facts of the runs that were appended to here lately. What others append is not known here: a
    head may be an old one, and whoever follows it is told so by the guard."""

    def __init__(self) -> None:
        self._heads: OrderedDict[RunId, Head] = OrderedDict()

    def get(self, run_id: RunId) -> Head | None:
        return self._heads.get(run_id)

    def keep(self, run_id: RunId, head: Head) -> None:
        self._heads[run_id] = head
        self._heads.move_to_end(run_id)
        if len(self._heads) > KEPT:
            self._heads.popitem(last=False)

    def forget(self, run_id: RunId) -> None:
        self._heads.pop(run_id, None)


def commit_plain(
    movers: Movers, heads: Heads, works: Sequence[Work | PlainWork]
) -> list[Outcome | None]:
    """Of each work what became of it, or None where that is left to the general way. Never raises.

    Of two appends to the same run the first is done here: the other one would have to follow it."""
    moves: dict[RunId, Move] = {}
    of_run: dict[RunId, int] = {}
    outcomes: list[Outcome | None] = [None] * len(works)
    for n, work in enumerate(works):
        plain: Plain | None = getattr(work, "plain", None)
        if plain is None or plain.run_id in moves:
            continue
        head = heads.get(plain.run_id)
        move = None if head is None else move_from(head, plain)
        if move is not None:
            moves[plain.run_id], of_run[plain.run_id] = move, n
    if not moves:
        return outcomes
    try:
        now = next(iter(moves.values())).wanted.told()
        moved: Collection[RunId] = movers.move(list(moves.values()), now)
    except (*_OF_DATABASE, asyncio.CancelledError):
        moved = ()
    except BaseException as error:  # whatever it is, it belongs to whoever waits for it
        for n in of_run.values():
            outcomes[n] = Outcome(error=error)
        return outcomes
    for run_id, move in moves.items():
        if run_id in moved:
            heads.keep(run_id, move.head)
            outcomes[of_run[run_id]] = Outcome(move.recorded)
        else:
            heads.forget(run_id)
    return outcomes
