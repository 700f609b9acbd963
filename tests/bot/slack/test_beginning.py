"""``stop`` comes while what it is meant for is still being heard: that run is stopped, before it does anything."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.slack.answering import Answer, SendAgain
from bot.slack.conversation import beginning
from bot.slack.messages import Message
from bot.slack.payloads import Actor
from bot.slack.wishes import answer_message
from tests.bot.slack.workspace import Bot

MENTION = "<@U0PILOT> "
REPLIES = "conversations.replies"
ALICE = Actor("U0ALICE", "T0PILOT")
STOP = Message(ALICE, "T0PILOT", "C0SUPPORT", "", None, "stop", False, True, "U0BOB")


async def begin_slowly(bot: Bot, text: str, thread: str) -> asyncio.Task[object]:
    """Alice says it in the thread, and what was said there before takes long to read."""
    before = len(bot.sandbox.calls(REPLIES))
    bot.sandbox.faults.add(method=REPLIES, latency=0.4)
    saying = asyncio.create_task(bot.say("U0ALICE", text, "C0SUPPORT", thread))
    await bot.sandbox.until(lambda: len(bot.sandbox.calls(REPLIES)) > before, "it is being heard")
    return saying


@pytest.mark.parametrize(("word", "has_ended"), [("stop", True), ("pause", False)])
async def test_a_word_said_while_a_run_is_about_to_begin_is_said_to_that_run(
    bot: Bot, word: str, *, has_ended: bool
) -> None:
    thread = str((await bot.say("U0BOB", "It came twice.", "C0SUPPORT"))["ts"])
    saying = await begin_slowly(bot, MENTION + "refund ORD-3300 180", thread)
    assert (await bot.say("U0ALICE", word, "C0SUPPORT", thread))["acknowledged"]
    await saying
    (state,) = await bot.runs()
    assert (state.stop is not None, state.held is not None) == (has_ended, not has_ended)
    assert not any("nothing is at work" in one for one in bot.whispers("U0ALICE"))


@pytest.mark.parametrize(("channel", "mention"), [("D0ALICE", ""), ("C0SUPPORT", MENTION)])
async def test_outside_of_a_thread_it_is_not_said_to_an_older_run_than_was_asked_for_just_before(
    bot: Bot, monkeypatch: pytest.MonkeyPatch, channel: str, mention: str
) -> None:
    monkeypatch.setattr(beginning, "_PATIENCE", 0.1)
    await bot.say("U0ALICE", MENTION + "refund ORD-3300 180", "C0OPS")
    await bot.waiting_run()
    inside = bot.sandbox.inside
    place, alice = inside.workspace.channels[channel], inside.workspace.users["U0ALICE"]
    asked, _ = inside.posting.say(alice, place, mention + "refund ORD-3301 180", [], None)
    said, _ = inside.posting.say(alice, place, mention + "stop", [], None)
    stop = replace(STOP, channel=channel, ts=str(said["ts"]), is_direct=not mention, is_aside=False)
    with pytest.raises(SendAgain, match="about to begin"):
        await answer_message(bot.services, stop)
    event = {**asked, "type": "app_mention" if mention else "message", "channel": channel}
    asks = Message.parse({"team_id": "T0PILOT", "event": {"channel_type": "im", **event}})
    assert asks is not None
    await answer_message(bot.services, asks)
    await answer_message(bot.services, stop)
    stopped = {state.prompt: state.stop is not None for state in await bot.runs()}
    assert stopped == {"refund ORD-3300 180": False, "refund ORD-3301 180": True}


async def test_so_it_is_where_the_conversation_goes_on(bot: Bot) -> None:
    thread = str((await bot.say("U0ALICE", MENTION + "refund 1", "C0SUPPORT"))["ts"])
    (first,) = await bot.runs()
    await bot.runtime.stop(first.run_id, first.requester)
    saying = await begin_slowly(bot, "now ORD-3301, please", thread)
    assert (await bot.say("U0ALICE", "stop", "C0SUPPORT", thread))["acknowledged"]
    await saying
    second, _ = await bot.runs()
    assert (second.prompt, second.stop is not None) == ("now ORD-3301, please", True)


async def test_what_is_being_heard_elsewhere_is_waited_for_and_nothing_else_is(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beginning, "_PATIENCE", 0.1)
    inside = bot.sandbox.inside
    channel, users = inside.workspace.channels["C0SUPPORT"], inside.workspace.users

    def post(user: str, text: str, thread: str | None = None) -> str:
        """Slack has it; whoever is to hear it has not."""
        said, _ = inside.posting.say(users[user], channel, text, [], thread)
        return str(said["ts"])

    def stop_below(root: str) -> Message:
        return replace(STOP, ts=post("U0ALICE", "stop", root), thread_ts=root)

    # Nothing to do, nor anything that a guest may begin.
    for user, text in (
        ("U0BOB", "lunch?"),
        ("U0BOB", f"{MENTION}help"),
        ("U0CAROL", f"{MENTION}x"),
    ):
        assert await answer_message(bot.services, stop_below(post(user, text))) == Answer(), text
    late = stop_below(post("U0BOB", MENTION + "refund ORD-3300 180"))
    with pytest.raises(SendAgain, match="about to begin"):
        await answer_message(bot.services, late)
    # What has not begun by then is heard by nobody any more.
    monkeypatch.setattr(beginning, "TOGETHER", -beginning.TOGETHER)
    monkeypatch.setattr(beginning, "_DELIVERED_WITHIN", -beginning._DELIVERED_WITHIN)
    assert await answer_message(bot.services, late) == Answer()


async def test_what_is_said_is_told_in_the_order_in_which_it_was_said_however_long_one_is_heard(
    bot: Bot,
) -> None:
    thread = str((await bot.say("U0ALICE", MENTION + "refund ORD-3300 180", "C0SUPPORT"))["ts"])
    await bot.waiting_run()
    saying = await begin_slowly(bot, "first ORD-3301", thread)
    assert (await bot.say("U0ALICE", "then ORD-3302", "C0SUPPORT", thread))["acknowledged"]
    await saying
    (state,) = await bot.runs()
    assert [one.text for one in state.said] == ["first ORD-3301", "then ORD-3302"]
    assert [one.quoted for one in state.said] == [(), ()], "nobody else said anything"
