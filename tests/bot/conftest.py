"""What holds for every test of the bot in a sandbox."""

from __future__ import annotations

import pytest

from bot.sandbox import opened
from bot.slack.subscribed import SUBSCRIBED
from tests.bot.sent import check_everything_sent


def pytest_itemcollected(item: pytest.Item) -> None:
    """A sandbox tells the bot of no more than Slack would by our manifest."""
    item.add_marker(pytest.mark.sandbox(events=SUBSCRIBED))


@pytest.fixture(autouse=True)
def everything_sent_is_as_slack_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the test is about: looked at when its sandbox ends."""
    monkeypatch.setattr(opened, "CHECKS", [check_everything_sent])
