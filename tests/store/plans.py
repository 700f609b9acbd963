"""How a database goes about a statement: as it is sent to it, and what it says it will do, or has read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import asyncpg
from sqlalchemy import Executable
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql import asyncpg as on_server
from sqlalchemy.engine import Dialect

from tests.store.database import ask

Values = Mapping[str, object]


def steps_on_file(url: str, statement: Executable, **values: object) -> list[str]:
    """What SQLite would do, step by step."""
    sent, ordered = _sent(statement, values, sqlite.dialect())
    return [row[-1] for row in ask(url, f"EXPLAIN QUERY PLAN {sent}", *ordered)]


async def pages_read(connection: asyncpg.Connection, statement: Executable, values: Values) -> int:
    """How many pages a server reads for it, whatever it then has in its memory. Nothing of it is kept."""
    sent, ordered = _sent(statement, values, on_server.dialect())  # type: ignore[no-untyped-call]
    execute = "EXECUTE it" + (f" ({', '.join(map(_literal, ordered))})" if ordered else "")
    await connection.execute(f"PREPARE it AS {sent}")
    transaction = connection.transaction()
    await transaction.start()
    try:
        found = await connection.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {execute}")
    finally:
        await transaction.rollback()
        await connection.execute("DEALLOCATE it")
    plan = json.loads(found)[0]["Plan"]
    return int(plan["Shared Hit Blocks"]) + int(plan["Shared Read Blocks"])


def _sent(statement: Executable, values: Values, dialect: Dialect) -> tuple[str, list[Any]]:
    """With what is written into it, and the other values as they are in the database, in their order."""
    compiled: Any = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
    state = compiled.construct_expanded_state(dict(values), escape_names=False)
    return state.statement, list(state.positional_parameters)


def _literal(value: object) -> str:
    if isinstance(value, str):
        return f"'{value}'"
    return "NULL" if value is None else str(value)
