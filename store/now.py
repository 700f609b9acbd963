"""The store's time, as an expression: what is decided by time is decided in the statement."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, bindparam, type_coerce
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from store.instants import Instant

_SERVER_CLOCK = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"


class StoreNow(FunctionElement[datetime]):
    """Now: as the statement is told (``now``), or by the database's own clock where it is told None.

    A database that is a file has no clock of its own: there it is always told."""

    name = "store_now"
    type = Instant()
    inherit_cache = True

    def __init__(self) -> None:
        super().__init__(bindparam("now", type_=Instant))


@compiles(StoreNow)
def _as_told(element: StoreNow, compiler: SQLCompiler, **context: Any) -> str:
    return compiler.process(element.clauses, **context)


@compiles(StoreNow, "postgresql")
def _as_asked(element: StoreNow, compiler: SQLCompiler, **context: Any) -> str:
    """Of a query of its own, which is answered once: by a value that changes from row to row no index
    could be searched. Not ``now()``: that is when the transaction began, with all that it waited for."""
    told = compiler.process(element.clauses, **context)
    return f"(SELECT coalesce({told}, {_SERVER_CLOCK}))"


NOW = StoreNow()
#: So many microseconds from now.
IN_A_TERM = type_coerce(NOW, BigInteger) + bindparam("term", type_=BigInteger)
#: So many microseconds ago.
A_TERM_AGO = type_coerce(NOW, BigInteger) - bindparam("term", type_=BigInteger)


class DatabaseNow(FunctionElement[datetime]):
    """Now, by the database's own clock, whoever is asked to judge otherwise; a file's is its host's."""

    name = "database_now"
    type = Instant()
    inherit_cache = True


@compiles(DatabaseNow)
def _of_the_host(element: DatabaseNow, compiler: SQLCompiler, **context: Any) -> str:
    return "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"


@compiles(DatabaseNow, "postgresql")
def _of_the_server(element: DatabaseNow, compiler: SQLCompiler, **context: Any) -> str:
    return f"(SELECT {_SERVER_CLOCK})"


DATABASE_NOW = DatabaseNow()
