from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import stat
import subprocess
import sys
import threading
import traceback
from datetime import timedelta
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from agent.errors import ConfigError, StoreError, StoreUnavailable
from agent.ports import Store
from store import SqlStore, migrations, open_store
from store.schema import metadata
from tests.databases import NewDatabase
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_sqlite, without_tables
from tests.store.database import ask, is_file, locked, migrations_config
from tests.store.outside import in_transaction
from tests.store.story import begin
from tests.store.waiting import LONG, until


def as_the_port(store: SqlStore) -> Store:
    """Checked by mypy: the store is what the runtime needs."""
    return store


async def test_the_store_is_what_the_runtime_needs(store: SqlStore) -> None:
    assert as_the_port(store).clock is store.clock


async def test_what_one_handle_wrote_the_next_finds(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    first = await open_another()
    run_id = await begin(first.journal, clock)
    await first.close()
    second = await open_another()
    assert len(await second.journal.read(run_id)) == 1


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://u:secret@h/d", "no store on mysql"),
        ("sqlite://", "a file of its own"),
        ("sqlite:///:memory:", "a file of its own"),
        ("sqlite:///x.db?mode=ro", "nothing behind"),
        ("pilothouse.db", "can't be read"),
        ("", "can't be read"),
        ("postgresql://u:sec:ret@h:port/d", "can't be read"),
        ("postgresql://u:secret@[::1/d", "can't be read"),
        ("postgresql://u:secret@h:-5/d", "no such port"),
        ("postgresql://u:secret@h:65536/d", "no such port"),
        ("sqlite:///\0.db", "holds a NUL"),
        ("sqlite:///\ud800.db", "half a surrogate"),
    ],
)
async def test_a_url_that_can_not_be_used_says_so(url: str, words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)) as refused:
        await open_store(url)
    told = "".join(traceback.format_exception(refused.value))
    assert "secret" not in told
    assert "ValueError" not in told


@pytest.mark.parametrize(
    ("url", "listen_url"),
    [
        ("sqlite:///p.db", "sqlite:///p.db"),
        ("sqlite:///p.db", "postgresql://u:secret@h/d"),
        ("postgresql://h/d", "sqlite:///secret.db"),
    ],
)
async def test_a_url_to_listen_at_that_fits_no_store_says_so(url: str, listen_url: str) -> None:
    with pytest.raises(ConfigError, match="PILOTHOUSE_LISTEN_URL") as refused:
        await open_store(url, listen_url=listen_url)
    assert "secret" not in str(refused.value)


async def test_a_server_without_a_database_is_none() -> None:
    with pytest.raises(ConfigError, match="PILOTHOUSE_DATABASE_URL names no database"):
        await open_store("postgresql://somebody@127.0.0.1")


@on_sqlite
async def test_a_sqlite_that_is_too_old_says_so(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(ConfigError, match=re.escape("3.35")):
        await open_store(url)


async def test_folder_and_file_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "p.db"
    before = os.umask(0)
    try:
        store = await open_store(f"sqlite:///{path}")
        modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in path.parent.iterdir()}
        await store.close()
    finally:
        os.umask(before)
    assert modes.pop("p.db.pilothouse") == 0o700
    assert modes == {"p.db": 0o600, "p.db-wal": 0o600, "p.db-shm": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_a_relative_path_means_the_folder_at_the_opening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: ManualClock
) -> None:
    monkeypatch.chdir(tmp_path)
    store = await open_store("sqlite:///here.db")
    monkeypatch.chdir("/")
    await begin(store.journal, clock)
    await store.close()
    assert (tmp_path / "here.db").is_file()


@on_sqlite
async def test_whoever_gives_up_opening_does_not_wait_for_the_lock_any_more(
    store: SqlStore, open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    with locked(url) as unlock:
        opening = asyncio.ensure_future(open_another(patience=timedelta(hours=1)))
        await until(lambda: has_begun_to_write(opening))
        opening.cancel()
        async with asyncio.timeout(LONG):
            await asyncio.wait([opening])
        assert opening.cancelled()
        unlock()
    await begin(store.journal, clock)


async def has_begun_to_write(opening: asyncio.Future[SqlStore]) -> bool:
    assert not opening.done()
    return sum(one.name == "store-writer" for one in threading.enumerate()) == 2


async def test_a_folder_that_can_not_be_made_makes_the_store_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable):
        await open_store(f"sqlite:///{tmp_path / 'file' / 'p.db'}")


async def test_a_file_that_is_no_database_makes_the_store_unavailable(tmp_path: Path) -> None:
    (tmp_path / "p.db").write_text("This is not a database. " * 100)
    with pytest.raises(StoreUnavailable):
        await open_store(f"sqlite:///{tmp_path / 'p.db'}")


@pytest.mark.usefixtures("store")
def test_the_migrations_make_the_tables_of_the_schema(url: str) -> None:
    def differences(connection: Connection) -> object:
        return compare_metadata(MigrationContext.configure(connection), metadata)

    assert in_transaction(url, differences) == []


@pytest.mark.usefixtures("store")
def test_the_migrations_make_the_indexes_of_the_schema(url: str, new_database: NewDatabase) -> None:
    """Alembic's comparison does not look at the condition of an index."""

    def make_all(connection: Connection) -> None:
        metadata.drop_all(connection)
        metadata.create_all(connection)

    statement = (
        "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql <> '' ORDER BY 1"
        if is_file(url)
        else "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"
        " AND tablename <> 'alembic_version' ORDER BY 1"
    )
    with new_database() as other:
        in_transaction(other, make_all)
        assert ask(url, statement) == ask(other, statement)


def test_the_newest_migration_is_the_head_that_opening_looks_for() -> None:
    script = ScriptDirectory.from_config(migrations_config())
    assert script.get_current_head() == migrations.HEAD


async def test_a_database_that_is_further_than_this_build_is_left_as_it_is(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    await (await open_another()).close()
    ask(url, "UPDATE alembic_version SET version_num = '9999'")
    await begin((await open_another()).journal, clock)
    assert ask(url, "SELECT version_num FROM alembic_version") == [("9999",)]


@without_tables
def test_opening_a_current_database_does_not_import_alembic(url: str, tmp_path: Path) -> None:
    code = (
        "import asyncio, sys; from store import open_store\n"
        f"async def main(): await (await open_store({url!r})).close()\n"
        "asyncio.run(main()); sys.exit('alembic' in sys.modules)"
    )
    repository = str(Path(migrations.__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": repository}
    command = [sys.executable, "-c", code]
    codes = [subprocess.run(command, cwd=tmp_path, env=environment).returncode for _ in range(2)]
    assert codes == [1, 0]


@without_tables
async def test_a_migration_that_fails_leaves_nothing_behind(url: str) -> None:
    ask(url, "CREATE TABLE processes (x TEXT)")
    with pytest.raises(StoreError):
        await open_store(url)
    tables = (
        "SELECT name FROM sqlite_schema WHERE type = 'table'"
        if is_file(url)
        else "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    )
    assert ask(url, tables) == [("processes",)]
