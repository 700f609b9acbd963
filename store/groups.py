"""A group of works is committed together; each of them stands alone.

Mostly nothing fails. When something does, the group is undone and done again, each work behind a
savepoint: what fails is taken back by it and told to its caller; the others don't notice. What failed only
because another process committed between two of its statements is done again, and sees it then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

from sqlalchemy import Connection

from store.failures import is_locked, may_end_transaction, may_succeed_again, of_lost_commit

T = TypeVar("T")
Work = Callable[[Connection], Any]

TRIES = 3
#: Of what waits, no more is committed together.
LARGEST_GROUP = 256
#: Where others wait along for a row that somebody has.
HARDLY = timedelta(milliseconds=5)


class CommitFailed(Exception):
    """Whether the work was committed nobody knows. What happened is the cause."""

    @property
    def told(self) -> BaseException:
        """What whoever waits for the work is told."""
        return of_lost_commit(self.__cause__ or self)


class Transactions(Protocol):
    """A database that is written. Used by one thread at a time."""

    @property
    def locks_rows(self) -> bool:
        """Do others write at the same time, each having the rows that it has written to itself?"""

    @property
    def turn(self) -> timedelta:
        """So long ``run`` waits for a row that somebody has."""

    @property
    def patience(self) -> timedelta:
        """So long it is worth while to run a work again that waited in vain."""

    def run(self, work: Callable[[Connection], T], waits: timedelta | None = None) -> T:
        """What ``work`` gives, once it is durable; what it raises, once it is undone. ``waits`` instead of
        ``turn`` for a row, where rows are locked. Raises ``CommitFailed``."""

    def give_up(self) -> None:
        """From another thread: what is being run, or waits for a lock, ends soon and is undone. Only
        ``dispose`` may follow."""

    def dispose(self) -> None:
        """Let go of the database."""


def in_whole(connection: Connection, work: Callable[[Connection], T]) -> T:
    """The work in a transaction of its own, committed. Raises ``CommitFailed``."""
    with connection.begin() as transaction:
        value = work(connection)
        try:
            transaction.commit()
        except BaseException as error:
            raise CommitFailed from error
    return value


class Outcome(NamedTuple):
    """What became of a work."""

    value: Any = None
    error: BaseException | None = None

    @property
    def is_locked(self) -> bool:
        """Was a row waited for in vain, and nothing done?"""
        return self.error is not None and is_locked(self.error)


class _GroupEnded(Exception):
    """The group can't be done in this way: it has been undone."""


def _no_locks(connection: Connection) -> None:
    pass


def commit(
    transactions: Transactions,
    works: Sequence[Work],
    places: Sequence[str | None] = (),
    lock: Callable[[Connection], None] = _no_locks,
) -> list[Outcome]:
    """Do them in their order, in as few transactions as can be. ``places`` says what each writes: behind one
    that finds its place locked, those of the same place are locked too. ``lock`` comes before several of them, and is
    not undone with any; one that is done alone sees to that itself. Never raises."""
    places = places or [None] * len(works)
    if len(works) > 1:
        for attempt, waits in ((_do, None), (_attempt, HARDLY)):
            with suppress(_GroupEnded):
                return _commit_together(transactions, works, places, attempt, waits, lock)
    return _in_order(works, places, lambda work: commit_alone(transactions, work))


def _in_order(
    works: Sequence[Work], places: Sequence[str | None], do: Callable[[Work], Outcome]
) -> list[Outcome]:
    locked: dict[str, Outcome] = {}
    outcomes = []
    for work, place in zip(works, places, strict=True):
        outcome = locked[place] if place in locked else do(work)
        if outcome.is_locked and place is not None:
            locked[place] = outcome
        outcomes.append(outcome)
    return outcomes


def _commit_together(
    transactions: Transactions,
    works: Sequence[Work],
    places: Sequence[str | None],
    attempt: Callable[[Connection, Work], Outcome],
    waits: timedelta | None,
    lock: Callable[[Connection], None],
) -> list[Outcome]:
    def together(connection: Connection) -> list[Outcome]:
        lock(connection)
        return _in_order(works, places, partial(attempt, connection))

    try:
        return transactions.run(together, waits)
    except _GroupEnded:
        raise
    except CommitFailed as failed:
        return [Outcome(error=failed.told) for _ in works]
    except BaseException as error:
        if may_succeed_again(error):
            raise _GroupEnded from error
        # No lock: everyone who waits is told.
        return [Outcome(error=error) for _ in works]


def commit_alone(transactions: Transactions, work: Work, waits: timedelta | None = None) -> Outcome:
    """Do it in a transaction of its own. Never raises."""
    for tries_left in reversed(range(TRIES)):
        try:
            return Outcome(transactions.run(work, waits))
        except CommitFailed as failed:
            # It may have been done: that is never done again.
            return Outcome(error=failed.told)
        except BaseException as error:  # whatever it is, it belongs to whoever waits for it
            if not (tries_left and may_succeed_again(error)):
                return Outcome(error=error)
    raise AssertionError("the last try has an outcome")


def _do(connection: Connection, work: Work) -> Outcome:
    """Run one of several, all of which are undone when one fails."""
    try:
        return Outcome(work(connection))
    except BaseException as error:
        raise _GroupEnded from error


def _attempt(connection: Connection, work: Work) -> Outcome:
    """Run one of several, so that its failure undoes nothing but itself."""
    connection.exec_driver_sql("SAVEPOINT item")
    for tries_left in reversed(range(TRIES)):
        try:
            outcome = Outcome(work(connection))
            break
        except BaseException as error:  # as above
            if may_end_transaction(error):
                raise _GroupEnded from error
            connection.exec_driver_sql("ROLLBACK TO item")
            outcome = Outcome(error=error)
            if not (tries_left and may_succeed_again(error)):
                break
    connection.exec_driver_sql("RELEASE item")
    return outcome
