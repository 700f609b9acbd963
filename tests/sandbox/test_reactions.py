"""Reactions of the app, and the events that come of them."""

from __future__ import annotations

from typing import Any

from tests.sandbox.driving import Driver, bolt_app, connected
from tests.sandbox.refusals import error_of


async def test_a_reaction_comes_and_goes_and_the_app_is_told(driver: Driver) -> None:
    slack = driver.slack
    ts = (await slack.chat_postMessage(channel="C0OPS", text="x"))["ts"]
    eyes: dict[str, Any] = {"channel": "C0OPS", "timestamp": ts, "name": "eyes"}
    await slack.reactions_add(**eyes)
    assert await error_of(slack.reactions_add(**eyes)) == "already_reacted"
    (message,) = await driver.messages("C0OPS")
    assert message["reactions"] == [{"name": "eyes", "users": ["U0PILOT"], "count": 1}]
    await slack.reactions_remove(**eyes)
    assert "reactions" not in (await driver.messages("C0OPS"))[0]
    assert await error_of(slack.reactions_remove(**eyes)) == "no_reaction"

    async def told() -> list[Any]:
        events = [one["payload"]["event"] for one in await driver.deliveries()]
        found = [one for one in events if one["type"].startswith("reaction_")]
        return found if len(found) == 2 else []

    async with connected(bolt_app(driver.running)):
        events = await driver.running.until(told)
    assert {one["type"] for one in events} == {"reaction_added", "reaction_removed"}
    assert {one["item"]["ts"] for one in events} == {ts}


async def test_errors_of_reactions(driver: Driver) -> None:
    add = driver.slack.reactions_add
    ts = (await driver.slack.chat_postMessage(channel="C0OPS", text="x"))["ts"]
    for arguments, error in [
        ({"channel": "C0OPS", "timestamp": "1.1", "name": "eyes"}, "message_not_found"),
        ({"channel": "C0OPS", "timestamp": "now", "name": "eyes"}, "bad_timestamp"),
        ({"channel": "C0OPS", "timestamp": ts, "name": "two eyes"}, "invalid_name"),
        ({"channel": "C0OPS", "timestamp": "", "name": "eyes"}, "no_item_specified"),
        ({"channel": "C0NONE", "timestamp": ts, "name": "eyes"}, "channel_not_found"),
    ]:
        assert await error_of(add(**arguments)) == error
    await add(channel="C0OPS", timestamp=ts, name="wave::skin-tone-2")
    await add(channel="C0OPS", timestamp=ts, name="+1")
