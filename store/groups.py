"""A group of works is committed together; each of them stands alone.

Mostly nothing fails. When something does, the group is undone and done again, each work behind a
savepoint: what fails is taken back by it and told to its caller; the others don't notice. What failed only
because another process committed between two of its statements is done again, and sees it then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection

from store.failures import may_end_transaction, may_succeed_again

T = TypeVar("T")
Work = Callable[[Connection], Any]

TRIES = 3


class CommitFailed(Exception):
    """Whether the work was committed nobody knows. What happened is the cause."""


class Transactions(Protocol):
    """A database that is written. Used by one thread at a time."""

    @property
    def locks_rows(self) -> bool:
        """Do others write at the same time, each having the rows that it has written to itself?"""

    def run(self, work: Callable[[Connection], T]) -> T:
        """What ``work`` gives, once it is durable; what it raises, once it is undone. Raises
        ``CommitFailed``."""

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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a work."""

    value: Any = None
    error: BaseException | None = None


class _GroupEnded(Exception):
    """The group can't be done in this way: it has been undone."""


def commit(transactions: Transactions, works: Sequence[Work]) -> list[Outcome]:
    """Do them in their order, in as few transactions as can be. Never raises."""
    if len(works) > 1:
        for attempt in (_do, _attempt):
            with suppress(_GroupEnded):
                return _commit_together(transactions, works, attempt)
    return [_commit_alone(transactions, work) for work in works]


def _commit_together(
    transactions: Transactions,
    works: Sequence[Work],
    attempt: Callable[[Connection, Work], Outcome],
) -> list[Outcome]:
    try:
        return transactions.run(lambda connection: [attempt(connection, work) for work in works])
    except _GroupEnded:
        raise
    except CommitFailed as failed:
        return [Outcome(error=failed.__cause__) for _ in works]
    except BaseException as error:
        if may_succeed_again(error):
            raise _GroupEnded from error
        # No lock: everyone who waits is told.
        return [Outcome(error=error) for _ in works]


def _commit_alone(transactions: Transactions, work: Work) -> Outcome:
    for tries_left in reversed(range(TRIES)):
        try:
            return Outcome(transactions.run(work))
        except CommitFailed as failed:
            # It may have been done: that is never done again.
            return Outcome(error=failed.__cause__)
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
