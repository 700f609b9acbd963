"""The pytest fixture `sandbox`; get it with `pytest_plugins = ["bot.sandbox.fixture"]`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from bot.sandbox.opened import OpenSandbox, open_sandbox
from bot.sandbox.state import Sandbox

MARKER = (
    "sandbox(deliver=(), seed=None, clock=None, timing=None, rates='off', events=None, "
    "guesses=None, port=0, allow_violations=False): how the sandbox of this test is"
)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


@pytest_asyncio.fixture
async def sandbox(request: pytest.FixtureRequest) -> AsyncIterator[OpenSandbox]:
    """A local Slack on a free port. A test in which the app breaks a rule of Slack's fails.

    `@pytest.mark.sandbox(seed=1, rates="real")` says how it is to be: the arguments are those of
    `Sandbox`, besides `port` and `allow_violations`.
    """
    asked: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers("sandbox"))):
        asked |= mark.kwargs
    port, allowed = asked.pop("port", 0), asked.pop("allow_violations", False)
    async with open_sandbox(Sandbox(**asked), port=port, allow_violations=allowed) as opened:
        yield opened
