"""A real database for each test, and as many handles on it as a test wants."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from agent.ports import Clock
from store import SqlStore, open_store
from tests.store.clock import ManualClock

OpenAnother = Callable[..., Awaitable[SqlStore]]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Of an empty database; one for each kind that there is."""
    assert request.param == "sqlite"
    return f"sqlite:///{tmp_path / 'pilothouse.db'}"


@pytest.fixture
async def open_another(url: str, clock: ManualClock) -> AsyncIterator[OpenAnother]:
    """Opens one more handle, as another process would; all are closed at the end."""
    opened: list[SqlStore] = []

    async def open_one(
        *, clock: Clock = clock, patience: timedelta = timedelta(seconds=10)
    ) -> SqlStore:
        opened.append(await open_store(url, clock=clock, patience=patience))
        return opened[-1]

    yield open_one
    for store in opened:
        await store.close()


@pytest.fixture
async def store(open_another: OpenAnother) -> SqlStore:
    return await open_another()
