"""``stop`` comes while what it is meant for is still being heard: that run is stopped, before it does anything.

And what people say to each other is acknowledged at once, in few looks, whatever Slack lets us see.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bot.sandbox.opened import OpenSandbox
from bot.slack.answering import Answer, SendAgain
from bot.slack.conversation import beginning
from bot.slack.messages import Message
from bot.slack.payloads import Actor
from bot.slack.roots import known
from bot.slack.wishes import answer_message
from tests.bot.slack.agents import refunds
from tests.bot.slack.workspace import Bot, Json, bot_in

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


def post(bot: Bot, user: str, text: str, thread: str | None = None) -> str:
    """Slack has it; whoever is to hear it has not."""
    inside = bot.sandbox.inside
    place = inside.workspace.channels["C0SUPPORT"]
    said, _ = inside.posting.say(inside.workspace.users[user], place, text, [], thread)
    return str(said["ts"])


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

    def stop_below(root: str) -> Message:
        return replace(STOP, ts=post(bot, "U0ALICE", "stop", root), thread_ts=root)

    # Nothing to do, nor anything that a guest may begin.
    for user, text in (
        ("U0BOB", "lunch?"),
        ("U0BOB", f"{MENTION}help"),
        ("U0CAROL", f"{MENTION}x"),
    ):
        assert await answer_message(bot.services, stop_below(post(bot, user, text))) == Answer(), (
            text
        )
    late = stop_below(post(bot, "U0BOB", MENTION + "refund ORD-3300 180"))
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


def looks(bot: Bot) -> int:
    return len(bot.sandbox.calls(REPLIES))


async def talk(bot: Bot, root: str, count: int = 3) -> list[bool]:
    """People say something to each other below it; was it acknowledged?"""
    said = [await bot.say("U0BOB", f"well, {n}", "C0SUPPORT", root) for n in range(count)]
    return [one["acknowledged"] for one in said]


@pytest.mark.parametrize("opened", ["lunch?", f"{MENTION}help"])
async def test_below_what_asks_us_nothing_slack_is_asked_once(bot: Bot, opened: str) -> None:
    assert all(await talk(bot, post(bot, "U0ALICE", opened)))
    assert looks(bot) == 1
    assert await bot.runs() == []


async def test_so_it_is_below_what_nobody_may_start(bot: Bot) -> None:
    assert all(await talk(bot, post(bot, "U0CAROL", MENTION + "refund 1")))
    assert looks(bot) == 1


async def test_below_what_nothing_was_started_for_nobody_waits_for_a_run(bot: Bot) -> None:
    root = await bot.say("U0ALICE", f"{MENTION}{'x' * 200_000}", "C0SUPPORT")
    assert await bot.runs() == []
    assert all(await talk(bot, str(root["ts"]), 1))
    assert looks(bot) == 0
    assert (await bot.say("U0ALICE", f"{MENTION}stop", "C0SUPPORT"))["acknowledged"]


async def test_so_it_is_below_what_somebody_asks_who_has_begun_as_many_runs_as_may_be(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    agent = replace(refunds(), starts_per_hour=1)
    async with bot_in(sandbox, tmp_path, agent=agent) as bot:
        await bot.say("U0ALICE", MENTION + "refund ORD-3300 180", "C0SUPPORT")
        # Another process has told them.
        assert all(await talk(bot, post(bot, "U0ALICE", MENTION + "refund ORD-3301 180"), 1))
        assert len(await bot.runs()) == 1


@pytest.mark.parametrize("code", ["not_in_channel", "missing_scope", "channel_not_found"])
async def test_where_we_may_see_nothing_what_people_say_is_acknowledged_and_nobody_asks_for_a_while(
    bot: Bot, code: str
) -> None:
    bot.sandbox.faults.add(method=REPLIES, error=code, times=9)
    for _ in range(2):
        assert all(await talk(bot, post(bot, "U0ALICE", "lunch?")))
    assert looks(bot) == 1
    bot.services.roots.seconds = lambda: time.monotonic() + known.CLOSED_SECONDS
    assert all(await talk(bot, post(bot, "U0ALICE", "lunch?")))
    assert looks(bot) == 2


async def test_what_is_gone_is_asked_for_once(bot: Bot) -> None:
    bot.sandbox.faults.add(method=REPLIES, error="thread_not_found")
    assert all(await talk(bot, post(bot, "U0ALICE", "lunch?")))
    assert looks(bot) == 1


@pytest.mark.parametrize("fault", [{"error": "internal_error"}, {"status": 503}], ids=str)
async def test_what_is_not_known_for_a_moment_is_delivered_again(bot: Bot, fault: Json) -> None:
    root = post(bot, "U0ALICE", "lunch?")
    well = replace(STOP, ts=post(bot, "U0BOB", "well", root), thread_ts=root, raw="well")
    bot.sandbox.faults.add(method=REPLIES, **fault)
    with pytest.raises(SendAgain, match="not known"):
        await answer_message(bot.services, well)
    assert await answer_message(bot.services, well) == Answer()


async def test_what_many_say_at_once_costs_one_look(bot: Bot) -> None:
    root = post(bot, "U0ALICE", "lunch?")
    bot.sandbox.faults.add(method=REPLIES, latency=0.2)
    talking = (bot.say("U0BOB", f"well, {n}", "C0SUPPORT", root) for n in range(9))
    assert all(one["acknowledged"] for one in await asyncio.gather(*talking))
    assert looks(bot) == 1


async def test_no_stop_is_lost_where_we_may_see_nothing(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request that it is meant for may be on its way."""
    bot.sandbox.faults.add(method=REPLIES, error="missing_scope", times=9)
    root = post(bot, "U0BOB", MENTION + "refund ORD-3300 180")
    stop = replace(STOP, ts=post(bot, "U0ALICE", "stop", root), thread_ts=root)
    with pytest.raises(SendAgain, match="just before"):
        await answer_message(bot.services, stop)
    # Slack brings it again a minute later.
    monkeypatch.setattr(beginning, "TOGETHER", -beginning.TOGETHER)
    assert await answer_message(bot.services, stop) == Answer()
