"""A real database for each test, of each kind, and as many handles on it as a test wants."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from agent.ports import Clock
from store import SqlStore, open_store, session_lives
from tests.store.clock import ManualClock
from tests.store.server import EMPTY, TEMPLATE, Server, running

OpenAnother = Callable[..., Awaitable[SqlStore]]
NewDatabase = Callable[[], AbstractContextManager[str]]

#: For a test of what only one kind of database has.
without_tables = pytest.mark.parametrize("template", [EMPTY], indirect=True)
on_sqlite = pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
on_postgres = pytest.mark.parametrize("kind", ["postgresql"], indirect=True)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One for all; started by the first test that asks for it."""
    with running() as server:
        yield server


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["sqlite", "postgresql"])
def kind(request: pytest.FixtureRequest) -> str:
    """Each test that touches a database runs on each kind that there is."""
    return str(request.param)


@pytest.fixture
def quick_deaths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has no lock is dead at the first look: for a test of what follows from that."""
    monkeypatch.setattr(session_lives, "SECONDS_TO_RETURN", 0.0)
    monkeypatch.setattr(session_lives, "SECONDS_TO_COME_BACK", 0.0)


@pytest.fixture
def new_database(
    kind: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> NewDatabase:
    """Makes another database, with its tables or about to get them."""
    if kind == "postgresql":
        server: Server = request.getfixturevalue("server")
        return lambda: server.database(TEMPLATE)

    @contextmanager
    def new_file() -> Iterator[str]:
        yield f"sqlite:///{tmp_path_factory.mktemp('database') / 'pilothouse.db'}"

    return new_file


@pytest.fixture
def template(request: pytest.FixtureRequest) -> str:
    """What a server's database begins with: its tables, unless a test wants to see them made."""
    return str(getattr(request, "param", TEMPLATE))


@pytest.fixture
def url(kind: str, template: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Of a database without runs."""
    if kind == "sqlite":
        yield f"sqlite:///{tmp_path / 'pilothouse.db'}"
        return
    with request.getfixturevalue("server").database(template) as url:
        yield url


@pytest.fixture
async def open_another(url: str, clock: ManualClock) -> AsyncIterator[OpenAnother]:
    """Opens one more handle, as another process would; all are closed at the end."""
    opened: list[SqlStore] = []

    async def open_one(
        *,
        clock: Clock | None = clock,
        patience: timedelta = timedelta(seconds=10),
        listens: bool = True,
        listen_url: str | None = None,
        url: str = url,
    ) -> SqlStore:
        opened.append(
            await open_store(
                url, clock=clock, patience=patience, listens=listens, listen_url=listen_url
            )
        )
        return opened[-1]

    yield open_one
    for store in opened:
        await store.close()


@pytest.fixture
async def store(open_another: OpenAnother) -> SqlStore:
    return await open_another()
