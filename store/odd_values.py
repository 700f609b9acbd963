"""What stands in a file where no build would have written it: a column of a file takes anything.

Whoever reads page by page goes by ids and numbers, and would go in a circle, or not come past one that is none. So it
is looked for by itself, row by row, before anything is compared.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Column, Table, Text
from sqlalchemy.types import TypeDecorator

from store.failures import as_store_errors
from store.names import Name, why_no_name
from store.schema import metadata
from store.urls import parse_url, path_of

_TEXT, _NUMBER = "text", "integer"
_WORDS = {
    "blob": "bytes",
    "integer": "a whole number",
    "null": "nothing",
    "real": "a number with a fraction",
    "text": "text",
}
#: So many rows are named; what is wrong with more of them is nearly always the same.
_NAMED_AT_MOST = 100
#: In bytes.
_SHOWN_AT_MOST = 100


@dataclass(frozen=True, slots=True)
class OddValue:
    #: In words: where it stands, and what is wrong with it.
    words: str
    #: Are rows found by it, so that nothing can be compared for as long as it stands there?
    is_in_the_way: bool


async def odd_values(url: str) -> list[OddValue]:
    """Those of the file at ``url``, whose tables are up to date; a server lets nobody write any. Raises
    ``ConfigError``, ``StoreUnavailable``."""
    parsed = parse_url(url)
    if parsed.get_backend_name() != "sqlite":
        return []
    with as_store_errors():
        return await asyncio.to_thread(_look, path_of(parsed))


def _look(path: Path) -> list[OddValue]:
    with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
        connection.create_function("why_no_name", 1, _why_no_name, deterministic=True)
        return [one for table in metadata.sorted_tables for one in _in_table(connection, table)]


def _in_table(connection: sqlite3.Connection, table: Table) -> Iterator[OddValue]:
    # Whatever stands there is read as bytes: the driver would refuse text that is none.
    key = [f"CAST({_quoted(one.name)} AS BLOB)" for one in table.primary_key]
    for column in table.columns:
        name = _quoted(column.name)
        why = f"why_no_name(CAST({name} AS BLOB))" if isinstance(column.type, Name) else "NULL"
        wanted = ", ".join(f"'{one}'" for one in _kinds(column))
        found = connection.execute(
            f"SELECT typeof({name}), {why}, {', '.join(key)} FROM {_quoted(table.name)}"
            f" WHERE typeof({name}) NOT IN ({wanted}) OR {why} IS NOT NULL LIMIT {_NAMED_AT_MOST}"
        )
        for kind, why_none, *place in found:
            is_of_kind = kind in _kinds(column)
            what = f"a name that {why_none}" if is_of_kind else _WORDS[kind]
            yield OddValue(
                f"{table.name}, row {_row(place)}: its {column.name} is {what}",
                is_in_the_way=column.primary_key or isinstance(column.type, Name),
            )


def _kinds(column: Column[object]) -> tuple[str, ...]:
    """What SQLite may say of what stands in it."""
    kind = column.type
    impl = kind.impl_instance if isinstance(kind, TypeDecorator) else kind
    wanted = _TEXT if isinstance(impl, Text) else _NUMBER
    return (wanted, "null") if column.nullable else (wanted,)


def _why_no_name(value: bytes | None) -> str | None:
    if value is None:
        return None
    try:
        return why_no_name(value.decode())
    except UnicodeDecodeError:
        return "is no UTF-8"


def _row(key: list[bytes | None]) -> str:
    """Its key, as far as it can be shown."""
    return " ".join("NULL" if one is None else _shown(one) for one in key)


def _shown(value: bytes) -> str:
    text = value[:_SHOWN_AT_MOST].decode(errors="backslashreplace")
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def _quoted(name: str) -> str:
    return f'"{name}"'
