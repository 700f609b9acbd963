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


class Transactions(Protocol):
    """A database that is written. Used by one thread at a time."""

    def run(self, work: Callable[[Connection], T]) -> T:
        """What ``work`` gives, once it is durable; what it raises, once it is undone."""

    def give_up(self) -> None:
        """From another thread: what is being run, or waits for a lock, ends soon and is undone. Only
        ``dispose`` may follow."""

    def dispose(self) -> None:
        """Let go of the database."""


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
    except BaseException as error:  # no lock, no commit: everyone who waits is told
        return [Outcome(error=error) for _ in works]


def _commit_alone(transactions: Transactions, work: Work) -> Outcome:
    failures: list[BaseException] = []

    def noting(connection: Connection) -> Any:
        try:
            return work(connection)
        except BaseException as error:
            failures.append(error)
            raise

    while True:
        try:
            return Outcome(transactions.run(noting))
        except BaseException as error:  # whatever it is, it belongs to whoever waits for it
            # Of a commit that failed nobody knows whether it was done: that is never done again.
            was_undone = bool(failures) and failures[-1] is error
            if not (was_undone and may_succeed_again(error) and len(failures) < TRIES):
                return Outcome(error=error)


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
