"""A bot in its sandbox for each test that asks for one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.delivery.transport import Timing
from bot.sandbox.opened import OpenSandbox
from bot.slack import answering, hearing, opening
from bot.slack.conversation import beginning, changing
from bot.slack.quoting import pages
from bot.slack.roots import opened
from tests.bot.slack.workspace import Bot, bot_in, drawing

#: Slack is in no hurry either; that we are in time for the real one is tested where something takes long.
UNHURRIED = Timing(ack=25.0, trigger=25.0, socket_redelivery=30.0)


def pytest_itemcollected(item: pytest.Item) -> None:
    item.add_marker(pytest.mark.sandbox(timing=UNHURRIED))


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, a modal is opened when it is drawn, what Slack shows is read in time, what is heard
    is not read again for that, and an event is done before it is left to Slack, unless the test wants it so."""
    monkeypatch.setattr(opening, "PATIENCE_SECONDS", 30.0)
    monkeypatch.setattr(pages, "READ_SECONDS", 10.0)
    monkeypatch.setattr(hearing, "SLOW", 10.0)
    monkeypatch.setattr(answering, "EVENT_SECONDS", 20.0)
    monkeypatch.setattr(beginning, "_PATIENCE", 10.0)
    monkeypatch.setattr(changing, "_WAITED_FOR", 10.0)


@pytest.fixture(autouse=True)
def in_a_hurry(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody draws, no thread is waited for."""
    if "drawn" not in request.fixturenames:
        monkeypatch.setattr(opened, "PATIENCE", 0.0)


@pytest.fixture
async def bot(sandbox: OpenSandbox, tmp_path: Path) -> AsyncIterator[Bot]:
    async with bot_in(sandbox, tmp_path) as connected:
        yield connected


@pytest.fixture
async def drawn(bot: Bot) -> AsyncIterator[Bot]:
    """A bot that draws, too."""
    async with drawing(bot) as drawn:
        yield drawn
