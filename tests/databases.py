"""The databases that a test may ask for: each test that asks for ``kind`` runs on each kind that there is.

A file and a server of our own are there wherever the tests run: a test on one of them is never skipped.
Debian's server is one more kind where it is installed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from store import session_lives
from tests.examples import long_only
from tests.store.debian import debian_server, newest
from tests.store.files import with_tables
from tests.store.server import TEMPLATE, Server, running

NewDatabase = Callable[[], AbstractContextManager[str]]

SQLITE, POSTGRES, DEBIAN = "sqlite", "postgresql", "debian"
KINDS = (SQLITE, POSTGRES)
#: What rests on the server's own words, its locks and its clock is kept on Debian's as well: the rest is no
#: other there than on ours.
CONTRACT = (
    "circles",
    "clock",
    "locked_rows",
    "migrations",
    "session_lives",
)
#: What the long tests keep there besides.
REST_OF_CONTRACT = (
    "allowances",
    "approvals",
    "claim_of_one",
    "claims_in_vain",
    "control",
    "journal",
    "leases",
    "limits",
    "lists",
    "open",
    "plain_appends",
    "processes",
    "projections",
    "suspects",
    "standing",
    "verdicts",
    "store_agrees_with_model",
    "threads",
    "together",
    "upgrading",
)
#: Whole processes live and die in these, or they rest on nothing that differs between the kinds (what does the store's
#: own tests keep): they are kept on one kind, and by the long tests on both.
ON_ONE: Mapping[str, str] = {
    "tests.acceptance.test_kill_during_a_call": POSTGRES,
    "tests.acceptance.test_store_in_trouble": SQLITE,
    "tests.acceptance.test_two_spenders": POSTGRES,
    "tests.agent.engine.test_anything_at_any_point": SQLITE,
    "tests.agent.engine.test_crash_sweep_of_a_busy_run": SQLITE,
    "tests.agent.engine.test_grants": SQLITE,
    "tests.agent.engine.test_rewriting": SQLITE,
    "tests.agent.engine.test_runtime_decides": SQLITE,
    "tests.agent.engine.test_runtime_goes_on": SQLITE,
    "tests.agent.engine.test_runtime_intervenes": SQLITE,
    "tests.agent.engine.test_runtime_steers": SQLITE,
    "tests.agent.engine.test_runtime_streams_decisions": SQLITE,
    "tests.agent.engine.test_sessions": SQLITE,
    "tests.agent.engine.test_silence": SQLITE,
    "tests.agent.engine.test_stopping": SQLITE,
    "tests.agent.engine.test_switches": POSTGRES,
    "tests.agent.engine.test_stopping_the_model": SQLITE,
    "tests.agent.engine.test_who_can_take_on": SQLITE,
    "tests.bot_process.test_reloading_together": POSTGRES,
    "tests.chaos.test_anomalies": POSTGRES,
    "tests.chaos.test_threads_in_trouble": POSTGRES,
    "tests.cli.test_answers": POSTGRES,
    "tests.cli.test_gone_tools": SQLITE,
    "tests.cli.test_recovering": SQLITE,
    "tests.cli.test_silence": POSTGRES,
    "tests.cli.test_story": SQLITE,
    "tests.store.test_builds_side_by_side": SQLITE,
}
_ON_DEBIAN = frozenset(
    f"tests.store.test_{name}" for name in (*CONTRACT, *long_only(*REST_OF_CONTRACT))
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that says itself on which kinds it runs is left alone."""
    if "kind" in metafunc.fixturenames and not _says_on_which(metafunc.definition):
        metafunc.parametrize("kind", _kinds_of(str(metafunc.module.__name__)), indirect=True)


def _kinds_of(module: str) -> tuple[str, ...]:
    if module in ON_ONE:
        first = ON_ONE[module]
        return (first, *long_only(*(kind for kind in KINDS if kind != first)))
    return (*KINDS, DEBIAN) if newest() and module in _ON_DEBIAN else KINDS


def _says_on_which(definition: pytest.Item) -> bool:
    marks = definition.iter_markers("parametrize")
    return any(
        names == "kind" or "kind" in tuple(names) for names in (mark.args[0] for mark in marks)
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Whoever skips a test on a database that is always there has not tested the store. What needs a program besides
    says so with ``skipif``; where everything is there, nothing may be skipped for want of one."""
    report = yield
    lacks_a_program = item.get_closest_marker("skipif") is not None and not os.environ.get("CI")
    is_skipped = report.skipped and not hasattr(report, "wasxfail") and not lacks_a_program
    if is_skipped and "kind" in _fixtures_of(item):
        report.outcome = "failed"
        report.longrepr = f"a test on a database must not be skipped: {report.longrepr}"
    return report


def _fixtures_of(item: pytest.Item) -> list[str]:
    return item.fixturenames if isinstance(item, pytest.Function) else []


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One for all; started by the first test that asks for it."""
    with running() as server:
        yield server


@pytest.fixture(scope="session")
def other_server() -> Iterator[Server]:
    """Debian's."""
    with debian_server() as server:
        yield server


@pytest.fixture
def kind(request: pytest.FixtureRequest) -> str:
    """Each test that touches a database runs on each kind that there is."""
    return str(request.param)


@pytest.fixture
def server_of_kind(kind: str, request: pytest.FixtureRequest) -> Server | None:
    """None where the database is a file."""
    name = {POSTGRES: "server", DEBIAN: "other_server"}.get(kind)
    found: Server | None = request.getfixturevalue(name) if name else None
    return found


@pytest.fixture
def new_database(
    server_of_kind: Server | None, tmp_path_factory: pytest.TempPathFactory
) -> NewDatabase:
    """Makes another database, with its tables."""
    if server_of_kind is not None:
        return server_of_kind.database

    @contextmanager
    def new_file() -> Iterator[str]:
        yield with_tables(tmp_path_factory.mktemp("database") / "pilothouse.db")

    return new_file


@pytest.fixture
def template(request: pytest.FixtureRequest) -> str:
    """What a database begins with: its tables, unless a test wants to see them made."""
    return str(getattr(request, "param", TEMPLATE))


@pytest.fixture
def url(server_of_kind: Server | None, template: str, tmp_path: Path) -> Iterator[str]:
    """Of a database without runs."""
    if server_of_kind is None:
        path = tmp_path / "pilothouse.db"
        yield with_tables(path) if template == TEMPLATE else f"sqlite:///{path}"
        return
    with server_of_kind.database(template) as url:
        yield url


@pytest.fixture
def quick_deaths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has no lock is dead at the first look: for a test of what follows from that."""
    monkeypatch.setattr(session_lives, "SECONDS_TO_RETURN", 0.0)
    monkeypatch.setattr(session_lives, "SECONDS_TO_COME_BACK", 0.0)
