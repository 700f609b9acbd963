"""What every test may ask for, and how long the chaos lasts."""

from __future__ import annotations

import gc
from collections.abc import Generator

import pytest
from hypothesis import settings

#: No example is wrong for how long a busy machine takes over it.
settings.register_profile("unhurried", parent=settings(), deadline=None)
settings.load_profile("unhurried")

pytest_plugins = ["bot.sandbox.fixture", "tests.databases", "tests.reading_sources"]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays until the end: whoever looks for garbage need not go through it, neither while there is
    more and more of it nor afterwards."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--tries",
        type=int,
        default=200,
        help="how often suspend, fence, claim and decide are tried, each, on each database",
    )
    parser.addoption(
        "--chaos-seconds",
        type=float,
        default=0,
        help="how long bots are killed at random, at the least, on each database",
    )
    parser.addoption(
        "--thread-runs",
        type=int,
        default=12,
        help="how many threads are drawn while everything goes wrong, on each database",
    )
    parser.addoption("--thread-seed", type=int, default=1, help="of what goes wrong then")


@pytest.fixture
def tries(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("tries"))


@pytest.fixture
def chaos_seconds(request: pytest.FixtureRequest) -> float:
    return float(request.config.getoption("chaos_seconds"))


@pytest.fixture
def thread_runs(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("thread_runs"))


@pytest.fixture
def thread_seed(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("thread_seed"))
