"""The Slack app's manifest asks for what the bot uses."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bot.slack.payloads import RETURNS

MANIFEST = Path(__file__).parents[3] / "manifest.yml"


@pytest.mark.parametrize("kind", sorted(RETURNS))
def test_slack_tells_when_we_may_speak_in_a_channel_again(kind: str) -> None:
    settings = yaml.safe_load(MANIFEST.read_text())["settings"]
    assert kind in settings["event_subscriptions"]["bot_events"]


def test_slack_tells_what_is_said_in_the_threads_of_channels() -> None:
    settings = yaml.safe_load(MANIFEST.read_text())["settings"]
    events = settings["event_subscriptions"]["bot_events"]
    assert {"message.channels", "message.groups", "message.im"} <= set(events)


def test_a_thread_can_be_read_back_wherever_a_run_can_be_started() -> None:
    scopes = yaml.safe_load(MANIFEST.read_text())["oauth_config"]["scopes"]["bot"]
    kinds = {"channels", "groups", "im", "mpim"}
    assert {scope.removesuffix(":read") for scope in scopes if scope.endswith(":read")} >= kinds
    assert {f"{kind}:history" for kind in kinds} <= set(scopes)
