"""A running sandbox for each test that asks for one, on which rules may be broken."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.sandbox.driving import Driver, driving
from tests.sandbox.hearing import Hearing, hearing


@pytest.fixture
async def driver() -> AsyncIterator[Driver]:
    async with driving() as started:
        yield started


@pytest.fixture
async def app(driver: Driver) -> AsyncIterator[Hearing]:
    """An app that acknowledges everything, on the same sandbox."""
    async with hearing(driver) as connected:
        yield connected
