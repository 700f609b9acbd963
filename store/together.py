"""Of what waits, the plain appends are done first, all in one go; the rest, and what of them could not be done
so, is left to ``store.groups``.

Nothing is lost by trying: an append that was done here in spite of an error is found again by its event ids.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from agent.errors import StoreError
from agent.rules.ids import RunId
from agent.rules.recorded import Recorded
from store.failures import is_busy
from store.groups import CommitFailed, Outcome, Work
from store.plain import Head, Move, Plain, is_plain, move_from

if TYPE_CHECKING:
    from store.appends import Append

log = logging.getLogger(__name__)

#: Of so many runs the head is kept in mind: more than any process works at once.
KEPT = 1_000
#: The database's: the general way meets it again, and tells whoever waits.
_OF_DATABASE = (CommitFailed, SQLAlchemyError, sqlite3.Error, StoreError, OSError)


@dataclass(slots=True)
class Appending:
    """A work that appends to a run: done in the general way when it is called."""

    run_id: RunId
    generally: Callable[[Connection], list[Recorded]]
    #: None: it can't be done otherwise.
    plain: Plain | None = None

    def __call__(self, connection: Connection) -> list[Recorded]:
        return self.generally(connection)


def plainly(wanted: Append, told: Callable[[], datetime | None]) -> Plain | None:
    """The same append as one that is plain; None where it is not: it comes from outside, moves a card, or starts what
    was judged. That waits for its turn behind whoever changes what it was judged by (``store.verdicts``), and a single
    statement would look before it has waited."""
    if wanted.fence is None or wanted.redraws is not None or wanted.verdict_seq is not None:
        return None
    if not is_plain(wanted.facts):
        return None
    at = (wanted.run_id, wanted.facts, wanted.expected_seq, wanted.fence)
    return Plain(*at, wanted.is_drawn_here, told)


class Movers(Protocol):
    """A database's own way to do many plain appends."""

    def move(self, moves: Sequence[Move], now: datetime | None) -> Collection[RunId]:
        """Each of another run. Those whose runs are as they were seen are durable then, and named; nothing of
        the others is done. Raises what the database raises; then nobody knows."""


class Heads:
    """The last facts of the runs that were appended to here lately. What others append is not known here: a
    head may be an old one, and the guard tells. Used by one thread alone."""

    def __init__(self) -> None:
        self._heads: OrderedDict[RunId, Head] = OrderedDict()

    def get(self, run_id: RunId) -> Head | None:
        return self._heads.get(run_id)

    def keep(self, run_id: RunId, head: Head) -> None:
        known = self._heads.get(run_id)
        if known is None or known.seq < head.seq:
            self._heads[run_id] = head
        self._heads.move_to_end(run_id)
        if len(self._heads) > KEPT:
            self._heads.popitem(last=False)

    def forget(self, run_id: RunId) -> None:
        self._heads.pop(run_id, None)

    def follow(self, move: Move, has_moved: bool) -> None:
        """From what became of a move."""
        if has_moved:
            self.keep(move.run_id, move.head)
        else:
            self.forget(move.run_id)

    def learn(self, works: Sequence[Work], outcomes: Sequence[Outcome]) -> None:
        """From what was done in the general way."""
        for work, outcome in zip(works, outcomes, strict=True):
            if isinstance(work, Appending) and outcome.value:
                last: Recorded = outcome.value[-1]
                self.keep(work.run_id, Head(last.seq, last.hash))


class PlainFirst:
    """Does the plain appends of a group before the rest of it, on the writer's thread."""

    def __init__(self, movers: Movers) -> None:
        self._movers = movers
        self.heads = Heads()

    def do(self, works: Sequence[Work], names: Sequence[str]) -> list[Outcome | None]:
        """Of each work what became of it, or None where that is left to the general way. Never raises.

        ``names`` says of each what it writes. None is done here before an earlier one that writes the same: so of two
        appends to a run only the first, and that only behind nothing that is left to the general way."""
        moves: dict[RunId, Move] = {}
        places: dict[RunId, int] = {}
        taken: set[str] = set()
        for n, (work, name) in enumerate(zip(works, names, strict=True)):
            if isinstance(work, Appending):
                run_id = work.run_id
                if run_id not in taken and (move := move_of(work, self.heads)):
                    moves[run_id], places[run_id] = move, n
                # Its name may be another: an append that takes rows of other runs as well.
                taken.add(run_id)
            taken.add(name)
        outcomes: list[Outcome | None] = [None] * len(works)
        if not moves:
            return outcomes
        try:
            now = next(iter(moves.values())).wanted.told()
            moved = self._movers.move(list(moves.values()), now)
        except (*_OF_DATABASE, asyncio.CancelledError) as error:
            if is_busy(error):
                # All of them have waited for it, and nothing was begun: it is not waited for as long again.
                return [Outcome(error=error) for _ in works]
            return outcomes
        except Exception as error:
            # Of one of them, and nobody knows of which: each is told by itself.
            why = type(error).__name__
            log.warning("%d appends could not be done in one go: %s", len(moves), why)
            return outcomes
        except BaseException as error:  # whatever it is, it belongs to whoever waits for it
            for n in places.values():
                outcomes[n] = Outcome(error=error)
            return outcomes
        for run_id, move in moves.items():
            self.heads.follow(move, run_id in moved)
            if run_id in moved:
                outcomes[places[run_id]] = Outcome(move.recorded)
        return outcomes


def move_of(work: Appending, heads: Heads) -> Move | None:
    """None for what is left to the general way, also because something is wrong with it: that tells its caller."""
    head = heads.get(work.run_id)
    if work.plain is None or head is None:
        return None
    try:
        return move_from(head, work.plain)
    except (
        Exception
    ):  # whatever it is, it belongs to whoever waits for this one, and keeps none of the others
        return None
