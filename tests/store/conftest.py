"""As many handles on a test's database as it wants."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

import pytest

from agent.ports import Clock
from store import SqlStore, open_store
from store.keys import NO_KEYS, Keys
from store.leases import SqlLeases
from tests.store.clock import ManualClock
from tests.store.server import EMPTY

OpenAnother = Callable[..., Awaitable[SqlStore]]

#: For a test of what only one kind of database has.
without_tables = pytest.mark.parametrize("template", [EMPTY], indirect=True)
on_sqlite = pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
on_postgres = pytest.mark.parametrize("kind", ["postgresql"], indirect=True)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def keys() -> Keys:
    """What the store is kept with: a file of tests may say otherwise."""
    return NO_KEYS


@pytest.fixture
async def open_another(url: str, clock: ManualClock, keys: Keys) -> AsyncIterator[OpenAnother]:
    """Opens one more handle, as another process would; all are closed at the end."""
    opened: list[SqlStore] = []

    async def open_one(
        *,
        clock: Clock | None = clock,
        patience: timedelta = timedelta(seconds=10),
        listens: bool = True,
        listen_url: str | None = None,
        url: str = url,
        keys: Keys = keys,
    ) -> SqlStore:
        opened.append(
            await open_store(
                url,
                clock=clock,
                patience=patience,
                listens=listens,
                listen_url=listen_url,
                keys=keys,
            )
        )
        return opened[-1]

    yield open_one
    for store in opened:
        await store.close()


@pytest.fixture
async def store(open_another: OpenAnother) -> SqlStore:
    return await open_another()


@pytest.fixture(params=["runs", "threads"])
def leases(request: pytest.FixtureRequest, store: SqlStore) -> SqlLeases:
    """Of runs and of threads: each test that takes them is told of both."""
    return store.run_leases if request.param == "runs" else store.thread_leases
