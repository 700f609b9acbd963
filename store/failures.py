"""The one spot where a database's errors become the store's."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError, ProgrammingError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from agent.errors import StoreError, StoreUnavailable

#: Raised by a statement that is wrong whoever sends it, however often.
_OURS = (IntegrityError, ProgrammingError)


@contextmanager
def as_store_errors() -> Iterator[None]:
    """Locked, full, gone or damaged: ``StoreUnavailable``; any other refusal: ``StoreError``."""
    try:
        yield
    except _OURS as error:
        raise StoreError(f"The database refused a statement: {error.orig}") from error
    except DBAPIError as error:
        raise StoreUnavailable(f"The database can't be used now: {error.orig}") from error
    except (sqlite3.Error, PoolTimeout) as error:
        raise StoreUnavailable(f"The database can't be used now: {error}") from error
    except OSError as error:
        raise StoreUnavailable(f"The database can't be opened: {error}") from error
    except SQLAlchemyError as error:
        raise StoreError(f"The database could not be asked: {error}") from error


def may_end_transaction(error: BaseException) -> bool:
    """After such an error nobody knows whether the transaction is still open (a full disk ends it)."""
    return isinstance(error, DBAPIError) and not isinstance(error, _OURS)
