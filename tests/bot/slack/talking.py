"""What people say in threads, with all that follows."""

from __future__ import annotations

from agent.rules.state import RunState
from bot.slack.messages import Message
from tests.bot.slack.workspace import Bot

MENTION = "<@U0PILOT> "


async def begun(bot: Bot) -> str:
    """Of a run that waits for finance to decide a refund."""
    said = await bot.say("U0ALICE", MENTION + "refund ORD-3300 180", "C0SUPPORT")
    await bot.waiting_run()
    return str(said["ts"])


async def say(bot: Bot, user: str, text: str, thread: str, channel: str = "C0SUPPORT") -> str:
    """Said there, with all that follows; when it was said."""
    said = await bot.say(user, text, channel, thread)
    assert said["acknowledged"]
    await bot.services.answering.drain(5)
    return str(said["ts"])


async def deliver_again(bot: Bot, ts: str, *, is_mention: bool) -> None:
    inside = bot.sandbox.inside
    message, channel = (
        inside.messages.read("C0SUPPORT", ts),
        inside.workspace.channels["C0SUPPORT"],
    )
    make = inside.events.mention if is_mention else inside.events.message
    await inside.outbox.publish_and_wait([make(channel, message)])
    await bot.services.answering.drain(5)


async def the_run(bot: Bot) -> RunState:
    (state,) = await bot.runs()
    return state


async def said(bot: Bot) -> list[str]:
    return [one.text for one in (await the_run(bot)).said]


async def message_at(bot: Bot, ts: str) -> Message:
    inside = bot.sandbox.inside
    found = inside.messages.read("C0SUPPORT", ts)
    event = {**found, "channel": "C0SUPPORT", "type": "message"}
    message = Message.parse({"team_id": "T0PILOT", "event": event})
    assert message is not None
    return message
