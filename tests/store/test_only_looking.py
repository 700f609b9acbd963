"""A handle that only looks needs no more than to read, and is in nobody's way."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import make_url

from agent.errors import ConfigError
from store import SqlStore, open_store
from store.checking import differences_at
from store.keys import NO_KEYS, Keys, new_key, parse_keys
from tests.store.clock import ManualClock
from tests.store.conftest import on_postgres, on_sqlite, without_tables
from tests.store.database import ask, locked, make_database, path_of
from tests.store.limits import Worked, of_limit
from tests.store.story import begin

OLDER = "0012"
WRONG = "limit refunds a day: 0 is said to be used, 180 is reserved"


@asynccontextmanager
async def looking(
    url: str, *, listens: bool = False, keys: Keys = NO_KEYS
) -> AsyncIterator[SqlStore]:
    patience = timedelta(seconds=1)
    store = await open_store(url, listens=listens, only_looks=True, patience=patience, keys=keys)
    try:
        yield store
    finally:
        await store.close()


async def test_it_does_not_wait_for_whoever_writes(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    run_id = await begin(store.journal, clock)
    with locked(url):
        async with looking(url, listens=True) as there:
            assert [run.run_id for run in await there.lists.runs(limit=2)] == [run_id]
        assert await differences_at(url) == []


async def test_a_sum_that_is_wrong_is_told_without_waiting(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await _damage(store, clock, url)
    with locked(url):
        assert await differences_at(url) == [WRONG]


@without_tables
async def test_what_an_older_build_made_is_left_so(url: str) -> None:
    make_database(url, OLDER)
    with pytest.raises(ConfigError, match=f"are at step {OLDER}.*Nothing was changed"):
        async with looking(url):
            pass
    assert ask(url, "SELECT version_num FROM alembic_version") == [(OLDER,)]


@on_sqlite
async def test_of_a_file_nothing_is_written_and_nothing_is_left_beside_it(
    store: SqlStore, clock: ManualClock, url: str
) -> None:
    await begin(store.journal, clock)
    await store.close()
    path = Path(path_of(url))

    def kept() -> tuple[bytes, list[Path]]:
        return path.read_bytes(), sorted(path.parent.iterdir())

    before = kept()
    async with looking(url, keys=parse_keys(f"2026:{new_key()}", new_key())) as there:
        assert len(await there.lists.runs(limit=2)) == 1
    await differences_at(url)
    assert kept() == before


async def test_a_new_audit_key_keeps_no_damage_from_being_told(store: SqlStore, url: str) -> None:
    ask(url, "DELETE FROM control_head")
    found = await differences_at(url, keys=parse_keys(None, new_key()))
    assert any("its head is missing" in one for one in found)


@pytest.fixture
def auditor(url: str) -> Iterator[str]:
    """The URL of a role that may read everything, and write nothing."""
    role = f"auditor_of_{make_url(url).database}"
    ask(url, f"CREATE ROLE {role} LOGIN PASSWORD 'secret'")
    ask(url, f"ALTER ROLE {role} SET default_transaction_read_only = on")
    ask(url, f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
    yield make_url(url).set(username=role, password="secret").render_as_string(hide_password=False)
    ask(url, f"DROP OWNED BY {role}")
    ask(url, f"DROP ROLE {role}")


@on_postgres
async def test_who_may_only_read_sees_all(
    store: SqlStore, clock: ManualClock, url: str, auditor: str
) -> None:
    run_id = await begin(store.journal, clock)
    async with looking(auditor, listens=True) as there:
        assert [run.run_id for run in await there.lists.runs(limit=2)] == [run_id]
        assert len(await there.journal.read(run_id)) == 1
        assert (await there.rotation.status()).clear == 1
        assert (await there.verifier.check(run_id)).broken is None
    assert await differences_at(auditor) == []
    await _damage(store, clock, url)
    assert await differences_at(auditor) == [WRONG]


async def _damage(store: SqlStore, clock: ManualClock, url: str) -> None:
    run = await Worked.of(store, clock, "run_2", "c1")
    await run.start("c1", of_limit("180"))
    ask(url, "DELETE FROM limits")
