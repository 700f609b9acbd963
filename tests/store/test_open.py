from __future__ import annotations

import os
import re
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from agent.errors import ConfigError, StoreUnavailable
from agent.ports import Store
from store import SqlStore, migrations, open_store
from store.schema import metadata
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother
from tests.store.database import ask, migrations_config, path_of
from tests.store.story import begin


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
        ("postgresql://u:secret@h/d", "later version"),
        ("postgresql+asyncpg://u:secret@h/d", "later version"),
        ("mysql://u:secret@h/d", "no store on mysql"),
        ("sqlite://", "a file of its own"),
        ("sqlite:///:memory:", "a file of its own"),
        ("sqlite:///x.db?mode=ro", "nothing behind"),
        ("pilothouse.db", "can't be read"),
        ("", "can't be read"),
    ],
)
async def test_a_url_that_can_not_be_used_says_so(url: str, words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)) as refused:
        await open_store(url)
    assert "secret" not in str(refused.value)


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
    engine = create_engine(url)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    engine.dispose()


@pytest.mark.usefixtures("store")
def test_the_migrations_make_the_indexes_of_the_schema(url: str, tmp_path: Path) -> None:
    """Alembic's comparison does not look at the condition of an index."""
    engine = create_engine(f"sqlite:///{tmp_path / 'schema.db'}")
    metadata.create_all(engine)
    engine.dispose()
    statement = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql <> '' ORDER BY 1"
    assert ask(url, statement) == ask(f"sqlite:///{tmp_path / 'schema.db'}", statement)


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


async def test_a_migration_that_fails_leaves_nothing_behind(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sqlite3.connect(path_of(url)) as other:
        other.execute("CREATE TABLE processes (x)")
    other.close()
    with pytest.raises(StoreUnavailable):
        await open_store(url)
    assert ask(url, "SELECT name FROM sqlite_schema WHERE type = 'table'") == [("processes",)]
