"""A bot in a sandbox for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.app import RunningSandbox
from tests.bot.slack.workspace import Bot, bot_in, drawing


@pytest.fixture
async def sandbox() -> AsyncIterator[RunningSandbox]:
    async with RunningSandbox() as running:
        yield running


@pytest.fixture
async def bot(sandbox: RunningSandbox, tmp_path: Path) -> AsyncIterator[Bot]:
    async with bot_in(sandbox, tmp_path) as connected:
        yield connected


@pytest.fixture
async def drawn(bot: Bot) -> AsyncIterator[Bot]:
    """A bot that draws, too."""
    async with drawing(bot) as drawn:
        yield drawn
