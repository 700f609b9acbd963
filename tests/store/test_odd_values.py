"""A file's column takes anything: each value that no build writes is named by its row, and ends no check."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta

import pytest
from sqlalchemy import Column, Table, Text
from sqlalchemy.types import TypeDecorator

from agent.errors import SchemaRefused
from store import SqlStore, open_store
from store.checking import IN_THE_WAY, differences_at
from store.names import Name
from store.odd_values import odd_values
from store.schema import keys, metadata, schema_floor
from store.upgrading import read_tables
from tests.store.clock import ManualClock
from tests.store.conftest import on_sqlite
from tests.store.database import ask, path_of
from tests.store.limits import Worked, of_limit
from tests.store.story import begin, judged, replied, requested, stamps
from tests.store.test_purging import end_run, keeping, sweep
from tests.store.test_standing import given, tell, turned

DAY = timedelta(days=1)
BYTES = "x'ff0061'"
NO_UTF_8 = f"CAST({BYTES} AS TEXT)"


def is_text(column: Column[object]) -> bool:
    kind = column.type
    return isinstance(kind.impl_instance if isinstance(kind, TypeDecorator) else kind, Text)


def odd_ones(column: Column[object]) -> list[str]:
    if column.table.name == "control_head" and column.primary_key:
        return []  # what SQLite itself numbers rows by
    if not is_text(column):
        return [BYTES, "'x'", "1.5"]
    return [BYTES, NO_UTF_8, "'a' || char(0)"] if isinstance(column.type, Name) else [BYTES]


async def fill(store: SqlStore, clock: ManualClock, url: str) -> None:
    """A row in every table but that of keys, without which none could be read."""
    await end_run(store, clock, "run_gone")
    clock.move(700 * DAY)
    await sweep(store, keeping(audit=700))
    await end_run(store, clock, "run_bare")
    clock.move(40 * DAY)
    await sweep(store, keeping(payloads=30))
    await tell(store, clock, given("grt_1"), turned("kill", True))
    worked = await Worked.of(store, clock, "run_limited", "c_1")
    await worked.start("c_1", of_limit("180"))
    run_id = await begin(store.journal, clock, "run_asking", place="C1:2.3")
    asked = (replied("c_2"), judged("c_2"), requested("apr_1", "c_2"))
    await store.journal.intend(run_id, stamps(clock, *asked), expected_seq=1)
    for table in metadata.sorted_tables:
        if table is not keys and not ask(url, f"SELECT 1 FROM {table.name}"):
            values = ", ".join(f"'{c.name}'" if is_text(c) else "1" for c in table.columns)
            names = ", ".join(column.name for column in table.columns)
            change(url, f"INSERT INTO {table.name} ({names}) VALUES ({values})")


def change(url: str, statement: str) -> None:
    with closing(sqlite3.connect(path_of(url))) as connection, connection:
        connection.execute(statement)


@on_sqlite
@pytest.mark.parametrize(
    "table",
    [one for one in metadata.sorted_tables if one not in (keys, schema_floor)],
    ids=lambda one: one.name,
)
async def test_each_is_named_whichever_column_it_stands_in(
    store: SqlStore, clock: ManualClock, url: str, table: Table
) -> None:
    await fill(store, clock, url)
    await store.close()
    assert await odd_values(url) == []
    ((row,),) = ask(url, f"SELECT max(rowid) FROM {table.name}")
    for column in table.columns:
        of_row = f"FROM {table.name} WHERE rowid = {row}"
        for odd in odd_ones(column):
            with closing(sqlite3.connect(path_of(url))) as connection:
                before = connection.execute(f"SELECT {column.name} {of_row}").fetchone()
                with connection:
                    connection.execute(
                        f"UPDATE {table.name} SET {column.name} = {odd} WHERE rowid = {row}"
                    )
                said = await differences_at(url)
                (one,) = [words for words in said if words.startswith(f"{table.name}, row ")]
                assert f": its {column.name} is " in one
                with connection:
                    set_back = f"UPDATE {table.name} SET {column.name} = ? WHERE rowid = {row}"
                    connection.execute(set_back, before)


@on_sqlite
async def test_what_rows_are_found_by_keeps_from_comparing_and_nothing_else_does(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await begin(store.journal, clock)
    change(url, "INSERT INTO limits (limit_key, used) VALUES (x'61ff', '1')")
    assert await differences_at(url) == [
        "limits, row a\\xff: its limit_key is bytes",
        IN_THE_WAY,
    ]
    change(url, "DELETE FROM limits")
    change(url, "INSERT INTO limits (limit_key, used) VALUES ('a', x'31')")
    said, compared = await differences_at(url)
    assert said == "limits, row a: its used is bytes"
    assert compared.startswith("limit a: ")


@on_sqlite
async def test_a_head_that_says_no_number_is_put_right(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await tell(store, clock, turned("kill", True))
    change(url, "UPDATE control_head SET verdict_seq = 'x'")
    (said,) = await store.control.differences()
    assert await store.control.mend(at_sight=True) == [said]
    assert await store.control.verdict_seq() == 1


@on_sqlite
@pytest.mark.parametrize("odd", [BYTES, "'x'", "1.5", "''"])
async def test_a_step_that_is_none_was_lost(store: SqlStore, url: str, odd: str) -> None:
    change(url, f"UPDATE schema_floor SET must_know = {odd}")
    assert (await read_tables(url)).must_know is None
    with pytest.raises(SchemaRefused, match="names no step"):
        await open_store(url)
    change(url, f"UPDATE alembic_version SET version_num = {odd}")
    with pytest.raises(SchemaRefused, match="or names none"):
        await read_tables(url)
