"""The one spot where a database's errors become the store's."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    ProgrammingError,
    SQLAlchemyError,
    StatementError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout

from agent.errors import CommitInDoubt, StoreError, StoreUnavailable
from store.reasons import in_a_line, reason, sqlstate

#: Raised by a statement that is wrong whoever sends it, however often.
_OURS = (DataError, IntegrityError, ProgrammingError)
#: SQLSTATE's class for values that no column takes.
_DATA = "22"
#: Two transactions waited for each other in a circle, and this one was chosen to give way.
_GAVE_WAY = ("40001", "40P01")
_NOT_SYNCED = (sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC)
#: A row was waited for in vain: what came before in the transaction stands.
_IS_LOCKED = "55P03"


@contextmanager
def as_store_errors() -> Iterator[None]:
    """Locked, full, gone or damaged: ``StoreUnavailable``; any other refusal: ``StoreError``."""
    try:
        yield
    except DBAPIError as error:
        if _is_ours(error):
            raise StoreError(f"The database refused a statement: {error.orig}") from error
        raise StoreUnavailable(_now(error.orig)) from error
    except (sqlite3.Error, PoolTimeout) as error:
        raise StoreUnavailable(_now(error)) from error
    except OSError as error:
        raise StoreUnavailable(f"The database can't be opened: {_of_file(error)}.") from error
    except OverflowError as error:
        raise StoreError("The database refused a statement: a number is too large.") from error
    except StatementError as error:
        # A value that no database was asked to take. Its text would hold all of them.
        if isinstance(error.orig, StoreError):
            raise error.orig from None
        why = type(error.orig or error).__name__
        raise StoreError(f"The database could not be asked: {why}.") from None
    except SQLAlchemyError as error:
        raise StoreError(f"The database could not be asked: {error}") from error


def may_end_transaction(error: BaseException) -> bool:
    """After such an error nobody knows whether the transaction is still open (a full disk ends it)."""
    if isinstance(error, StoreUnavailable):
        return True
    if not isinstance(error, DBAPIError):
        return False
    return not _is_ours(error) and not is_locked(error)


def of_lost_commit(error: BaseException) -> BaseException:
    """What whoever waits is told of a commit that failed so: ``CommitInDoubt`` where it may have come about."""
    origin = error.orig if isinstance(error, DBAPIError) else error
    if not _may_have_committed(error, origin):
        return error
    doubt = in_doubt(origin)
    doubt.__cause__ = error
    return doubt


def in_doubt(origin: BaseException | None) -> CommitInDoubt:
    """What whoever waits is told where it may have come about, because of what a driver says."""
    return CommitInDoubt(f"It can't be told whether it was done. {_now(origin)}")


def _may_have_committed(error: BaseException, origin: BaseException | None) -> bool:
    if isinstance(origin, sqlite3.Error):
        # A file says what it has undone, but for what it could not bring to the disk.
        return getattr(origin, "sqlite_errorcode", 0) in _NOT_SYNCED
    return isinstance(origin, OSError) or may_end_transaction(error)


def is_locked(error: BaseException) -> bool:
    """Is it a row, or a table, that somebody else has? It was waited for in vain."""
    return isinstance(error, DBAPIError) and _sqlstate(error) == _IS_LOCKED


def is_busy(error: BaseException) -> bool:
    """Is it a file that somebody else writes? It was waited for in vain, before anything was done."""
    if not isinstance(error, sqlite3.OperationalError):
        return False
    return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def may_succeed_again(error: BaseException) -> bool:
    """Is it another process's commit that came in between, or a connection that was lost while nothing
    had been committed?"""
    if not isinstance(error, DBAPIError):
        return False
    has_lost = error.connection_invalidated or _sqlstate(error) in _GAVE_WAY
    return has_lost or isinstance(error, IntegrityError)


def _is_ours(error: DBAPIError) -> bool:
    return isinstance(error, _OURS) or _sqlstate(error).startswith(_DATA)


def _sqlstate(error: DBAPIError) -> str:
    return sqlstate(error.orig)


def _of_file(error: OSError) -> str:
    """The system's reason, and what it is about."""
    return in_a_line(error) + (f": {error.filename}" if error.filename else "")


def _now(error: BaseException | None) -> str:
    return f"The database can't be used now: {reason(error)}."
