"""The Slack app's manifest asks for what the bot uses."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from bot.sandbox.workspace import BOT_TOKEN
from bot.slack.help import help_on
from bot.slack.ids import APPROVE
from bot.slack.messages import RETURNS
from bot.slack.subscribed import SHORTCUTS, SUBSCRIBED
from tests.bot.slack.workspace import Bot, Json

MANIFEST = Path(__file__).parents[3] / "manifest.yml"


def test_it_subscribes_to_what_a_sandbox_tells_of_in_demo_and_tests() -> None:
    settings = yaml.safe_load(MANIFEST.read_text())["settings"]
    assert set(settings["event_subscriptions"]["bot_events"]) == SUBSCRIBED


def test_the_menu_of_a_message_has_what_a_sandbox_has_in_it() -> None:
    named = yaml.safe_load(MANIFEST.read_text())["features"]["shortcuts"]
    assert {one["callback_id"]: one["name"] for one in named} == SHORTCUTS


def test_whoever_types_the_command_is_shown_each_word_of_it_that_the_help_names() -> None:
    (command,) = yaml.safe_load(MANIFEST.read_text())["features"]["slash_commands"]
    named = set(re.findall(r"`/agent ([a-z]+)(?: RUN)?`", help_on({})))
    assert named
    assert named <= set(command["usage_hint"].split(" | "))


def test_slack_tells_when_we_may_speak_in_a_channel_again() -> None:
    assert set(RETURNS) <= SUBSCRIBED


def test_slack_tells_what_is_said_in_the_threads_of_channels() -> None:
    assert {"message.channels", "message.groups", "message.im"} <= SUBSCRIBED


def test_a_thread_can_be_read_back_wherever_a_run_can_be_started() -> None:
    scopes = yaml.safe_load(MANIFEST.read_text())["oauth_config"]["scopes"]["bot"]
    kinds = {"channels", "groups", "im", "mpim"}
    assert {scope.removesuffix(":read") for scope in scopes if scope.endswith(":read")} >= kinds
    assert {f"{kind}:history" for kind in kinds} <= set(scopes)


async def test_its_scopes_suffice_to_start_a_run_to_ask_and_to_show_its_end(drawn: Bot) -> None:
    scopes = yaml.safe_load(MANIFEST.read_text())["oauth_config"]["scopes"]["bot"]
    drawn.sandbox.inside.tokens.add(BOT_TOKEN, scopes)
    await drawn.command("U0ALICE", "refund ORD-3300 180")
    approval, state = await drawn.waiting_run()
    await drawn.command("U0BOB", "pending")
    await drawn.whispered("U0BOB", approval.id)

    def card() -> Json | None:
        roots = drawn.sandbox.messages("C0SUPPORT")
        said = [one for root in roots for one in drawn.sandbox.messages("C0SUPPORT", root["ts"])]
        return next((one for one in said if APPROVE in str(one)), None)

    found = await drawn.sandbox.until(card, "the card is there")
    await drawn.click("U0BOB", {**found, "channel": "C0SUPPORT"}, APPROVE)
    await drawn.ended_run(state.run_id)
    await drawn.sandbox.until(
        lambda: "*Done*" in str(drawn.sandbox.messages("C0SUPPORT")), "its end is shown"
    )
    assert [one for one in drawn.sandbox.calls() if one.get("error") == "missing_scope"] == []
