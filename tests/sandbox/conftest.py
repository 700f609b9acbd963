"""A running sandbox for each test that asks for one."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.sandbox.driving import Driver, driving


@pytest.fixture
async def driver() -> AsyncIterator[Driver]:
    async with driving() as started:
        yield started
