"""A run's thread is a conversation: what is said there steers the run, continues it, or is left alone."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from agent.rules.access import Access
from agent.rules.ids import Principal
from agent.rules.rule import People
from bot.sandbox.opened import OpenSandbox
from bot.slack.answering import Answer, SendAgain
from bot.slack.conversation.changing import change
from bot.slack.messages import Change, Message
from bot.slack.payloads import Actor
from bot.slack.wishes import answer_message
from tests.bot.slack.agents import refunds
from tests.bot.slack.talking import MENTION, begun, deliver_again, message_at, said, say, the_run
from tests.bot.slack.workspace import Bot, bot_in
from tests.store.database import ask

ONLY_ALICE = Access(start=People(users=("U0ALICE",)), steer=People(users=("U0ALICE",)))


@pytest.fixture
async def thread(bot: Bot) -> str:
    """Of a run that waits for finance to decide a refund."""
    return await begun(bot)


def reactions(bot: Bot, ts: str) -> list[str]:
    found = bot.sandbox.inside.messages.read("C0SUPPORT", ts).get("reactions", [])
    return [one["name"] for one in found]


async def test_what_is_said_while_a_run_is_active_is_told_it_once_and_seen_to_be_taken(
    bot: Bot, thread: str
) -> None:
    aside = await say(bot, "U0BOB", "only half & quickly", thread)
    mention = await say(bot, "U0BOB", f"{MENTION}and tell the customer", thread)
    for ts, is_mention in ((aside, False), (mention, True), (mention, False)):
        await deliver_again(bot, ts, is_mention=is_mention)
    state = await the_run(bot)
    assert [(one.text, one.by) for one in state.said] == [
        ("only half & quickly", "slack:T0PILOT:U0BOB"),
        ("and tell the customer", "slack:T0PILOT:U0BOB"),
    ]
    assert [reactions(bot, ts) for ts in (aside, mention)] == [["eyes"], ["eyes"]]
    assert bot.whispers("U0BOB") == []
    assert [one.status for one in state.approvals.values()] == ["pending"]


async def test_the_same_message_to_two_processes_at_once_is_told_once(
    bot: Bot, thread: str, tmp_path: Path
) -> None:
    ts = await say(bot, "U0CAROL", "hello", thread)
    message = Message(
        Actor("U0BOB", "T0PILOT"), "T0PILOT", "C0SUPPORT", ts, thread, "only half", False, True
    )
    async with bot_in(bot.sandbox, tmp_path) as other:
        both = [bot.services, other.services, bot.services, other.services]
        answers = await asyncio.gather(*(answer_message(one, message) for one in both))
        for one in both:
            await one.answering.drain(5)
    assert {one.text for one in answers} == {""}
    assert await said(bot) == ["only half"]
    assert reactions(bot, ts) == ["eyes"]


async def test_after_its_end_the_next_run_begins_in_the_same_thread_for_whoever_speaks(
    bot: Bot, thread: str
) -> None:
    first = await the_run(bot)
    await say(bot, "U0BOB", "kindly", thread)
    await bot.runtime.stop(first.run_id, first.requester)
    ts = await say(bot, "U0BOB", "now ORD-3301, please", thread)
    await deliver_again(bot, ts, is_mention=False)
    await deliver_again(bot, ts, is_mention=True)
    next_one, before = await bot.runs()
    assert before.run_id == first.run_id
    assert (next_one.prompt, next_one.requester) == ("now ORD-3301, please", "slack:T0PILOT:U0BOB")
    assert (next_one.session, next_one.place) == (first.session, first.place)
    assert next_one.past is not None
    assert reactions(bot, ts) == []


async def test_after_its_end_only_who_took_part_or_mentions_us_begins_the_next_one(
    bot: Bot, thread: str
) -> None:
    taken_back = await say(bot, "U0FRANK", "only half", thread)
    await bot.act("U0FRANK", "delete", channel="C0SUPPORT", ts=taken_back)
    first = await the_run(bot)
    await bot.runtime.stop(first.run_id, first.requester)
    # Also what would be explained to whoever speaks to us.
    for text in ("thanks everyone, good work", "approve", "help"):
        await say(bot, "U0FRANK", text, thread)
    assert bot.whispers("U0FRANK") == []
    assert len(await bot.runs()) == 1
    await say(bot, "U0FRANK", MENTION + "refund ORD-3301 180", thread)
    second = (await bot.runs())[0]
    await bot.runtime.stop(second.run_id, second.requester)
    await say(bot, "U0FRANK", "and ORD-3302", thread)
    prompts = [one.prompt for one in await bot.runs()]
    assert prompts == ["and ORD-3302", "refund ORD-3301 180", "refund ORD-3300 180"]


async def test_where_nothing_of_ours_is_in_the_thread_and_where_others_are_meant_it_is_left_alone(
    bot: Bot, thread: str
) -> None:
    lunch = await bot.say("U0ALICE", "lunch?", "C0SUPPORT")
    for text in ("stop", "at noon", "help"):
        await say(bot, "U0BOB", text, str(lunch["ts"]))
    for text in ("<@U0ALICE> what do you think?", "<!here> anybody?"):
        await say(bot, "U0BOB", text, thread)
    assert await said(bot) == []
    assert bot.whispers("U0BOB") == []


async def test_who_may_not_steer_or_start_is_told_only_where_they_spoke_to_us(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    async with bot_in(sandbox, tmp_path, agent=replace(refunds(), access=ONLY_ALICE)) as bot:
        root = (await bot.say("U0ALICE", MENTION + "refund ORD-3300", "C0SUPPORT"))["ts"]
        await bot.waiting_run()
        await say(bot, "U0BOB", "only half", root)
        assert bot.whispers("U0BOB") == []
        await say(bot, "U0BOB", MENTION + "only half", root)
        (told,) = bot.whispers("U0BOB")
        assert told == "Nothing was done: only <@U0ALICE> can say something to runs of refunds."
        await say(bot, "U0ALICE", "a third", root)
        assert await said(bot) == ["a third"]
        taken = await say(bot, "U0ALICE", MENTION + "kindly", root)
        await say(bot, "U0ALICE", "stop", root)
        await deliver_again(bot, taken, is_mention=True)
        await say(bot, "U0BOB", "the next one", root)
        await say(bot, "U0BOB", MENTION + "the next one", root)
        assert "only <@U0ALICE> can start or retry runs" in bot.whispers("U0BOB")[-1]
        assert (await the_run(bot)).ending == "cancelled"
        assert [one.partition(":")[0] for one in bot.whispers("U0ALICE")] == ["Stopped"]


async def test_who_asked_for_a_run_and_may_not_steer_it_is_told_why_their_words_are_not_taken(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    only_bob = Access(steer=People(users=("U0BOB",)), stop=People(users=("U0BOB",)))
    async with bot_in(sandbox, tmp_path, agent=replace(refunds(), access=only_bob)) as bot:
        root = (await bot.say("U0ALICE", MENTION + "refund ORD-3300", "C0SUPPORT"))["ts"]
        state = (await bot.waiting_run())[1]
        for text in ("make it 90", "approve", "stop"):
            await say(bot, "U0ALICE", text, root)
            await say(bot, "U0FRANK", text, root)
        doing = ["say something to"] * 2 + ["pause, resume or stop"]
        assert bot.whispers("U0ALICE") == [
            f"Nothing was done: only <@U0BOB> can {one} runs of refunds." for one in doing
        ]
        await bot.runtime.stop(state.run_id, state.requester)
        await say(bot, "U0ALICE", "help", root)
        assert len(bot.whispers("U0ALICE")) == 3, "it is over"
        assert bot.whispers("U0FRANK") == []
        assert await said(bot) == []


async def test_a_run_of_a_newer_version_is_told_by_whoever_can_read_it_and_who_spoke_to_us_is_told(
    bot: Bot, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = await message_at(bot, await say(bot, "U0BOB", "only half", thread))
    monkeypatch.setattr("agent.rules.recorded._VERSIONS", {})
    for text in ("stop", "only half"):
        await say(bot, "U0BOB", MENTION + text, thread)
    told = [one.partition(". (")[0] for one in bot.whispers("U0BOB")]
    unreadable = (
        "Nothing was done: the run in this thread can't be read by the version that runs now; a newer one wrote it. Ask"
        " whoever operates the bot to start the newer one, and say it again then"
    )
    assert told == [unreadable, unreadable]
    with pytest.raises(SendAgain):
        await answer_message(bot.services, replace(taken, raw="stop", is_aside=True))
    with pytest.raises(SendAgain):
        await change(bot.services, Change(taken, is_deleted=True))
    # Nobody can read what is broken.
    ask(bot.url, "UPDATE journal SET body = '{}'")
    assert await answer_message(bot.services, replace(taken, is_aside=True)) == Answer()
    assert await change(bot.services, Change(taken, is_deleted=True)) == Answer()


async def test_an_edit_is_heard_as_it_is_now_and_what_is_deleted_not_at_all(
    bot: Bot, thread: str
) -> None:
    first = await say(bot, "U0BOB", "only half of https://x.example/1", thread)
    second = await say(bot, "U0ALICE", "and hurry", thread)
    third = await say(bot, "U0ALICE", "or not", thread)
    await bot.act("U0BOB", "unfurl", channel="C0SUPPORT", ts=first)
    await bot.act("U0BOB", "edit", channel="C0SUPPORT", ts=first, text="only a third")
    await bot.act("U0ALICE", "delete", channel="C0SUPPORT", ts=second)
    await bot.act("U0ALICE", "edit", channel="C0SUPPORT", ts=third, text="approve")
    assert await said(bot) == ["only a third", "approve"]
    await bot.whispered("U0ALICE", "This decides nothing")
    await bot.act("U0ALICE", "edit", channel="C0SUPPORT", ts=third, text=MENTION)
    assert await said(bot) == ["only a third"], "nothing is left of it"
    (approval,) = (await the_run(bot)).approvals.values()
    assert approval.status == "pending"
    await bot.act("U0ALICE", "edit", channel="C0SUPPORT", ts=thread, text=MENTION + "refund 90")
    told = await bot.whispered("U0ALICE", "Nothing was changed")
    assert "the agent had read this message already" in told
    # It opened the thread of the run of which they are told.
    assert [one.get("thread_ts") for one in bot.sandbox.ephemerals("U0ALICE")] == [thread] * 2
    assert len(await bot.runs()) == 1
    assert bot.whispers("U0BOB") == []


async def test_what_others_said_is_quoted_as_it_is_when_the_agent_hears_it(
    bot: Bot, thread: str
) -> None:
    edited = await say(bot, "U0CAROL", "It was 180.", thread)
    deleted = await say(bot, "U0CAROL", "My card is 4111.", thread)
    await say(bot, "U0BOB", MENTION + "and?", thread)
    assert [one.text for one in (await the_run(bot)).said[0].quoted] == [
        "It was 180.",
        "My card is 4111.",
    ]
    await bot.act("U0CAROL", "edit", channel="C0SUPPORT", ts=edited, text="It was 90.")
    await bot.act("U0CAROL", "delete", channel="C0SUPPORT", ts=deleted)
    assert [one.text for one in (await the_run(bot)).said[0].quoted] == ["It was 90."]
    assert bot.whispers("U0CAROL") == []


async def test_what_was_not_heard_before_the_end_can_still_be_put_otherwise(
    bot: Bot, thread: str
) -> None:
    first = await the_run(bot)
    ts = await say(bot, "U0BOB", "and all of ORD-3301", thread)
    await bot.runtime.stop(first.run_id, first.requester)
    await bot.act("U0BOB", "edit", channel="C0SUPPORT", ts=ts, text="and half of ORD-3301")
    await say(bot, "U0BOB", "go on", thread)
    past = str((await bot.runs())[0].past)
    assert ("half of ORD-3301" in past, "all of ORD-3301" in past) == (True, False)
    assert bot.whispers("U0BOB") == []


async def test_an_edit_that_comes_before_its_message_is_to_be_sent_again(
    bot: Bot, thread: str
) -> None:
    # A guest's is none that could yet be taken, nor is what is old.
    before = await say(bot, "U0CAROL", "only half", thread)
    ts = await say(bot, "U0CAROL", "only half", thread)
    message = replace(await message_at(bot, ts), actor=Actor("U0BOB", "T0PILOT"), raw="a third")
    with pytest.raises(SendAgain):
        await change(bot.services, Change(message, is_deleted=False))
    old = replace(message, ts=f"{float(thread) - 1:.6f}")
    for late in (replace(message, actor=Actor("U0CAROL", "T0PILOT"), ts=before), old):
        assert await change(bot.services, Change(late, is_deleted=False)) == Answer()
    await answer_message(bot.services, replace(message, raw="only half"))
    assert await change(bot.services, Change(message, is_deleted=False)) == Answer()
    assert await said(bot) == ["a third"]


async def test_who_speaks_to_a_run_that_can_not_be_read_here_is_told_so(
    bot: Bot, thread: str, tmp_path: Path
) -> None:
    with sqlite3.connect(tmp_path / "pilothouse.db") as database:
        database.execute("update journal set body = replace(body, 'call_judged', 'call_dreamt')")
    database.close()
    await say(bot, "U0BOB", "only half", thread)
    await say(bot, "U0BOB", MENTION + "only half", thread)
    (told,) = bot.whispers("U0BOB")
    assert told.startswith("Nothing was done: the run in this thread can't be read by the version")


async def test_so_is_one_that_comes_before_the_run_that_its_message_begins(
    bot: Bot, thread: str
) -> None:
    await bot.runtime.stop((await the_run(bot)).run_id, Principal("slack:T0PILOT:U0ALICE"))
    next_one = await message_at(bot, await say(bot, "U0CAROL", "and another", thread))
    root = str((await bot.say("U0ALICE", "lunch?", "C0SUPPORT"))["ts"])
    mention = replace(await message_at(bot, await say(bot, "U0CAROL", "no", root)), thread_ts=None)
    for was in (next_one, replace(mention, raw=MENTION + "refund")):
        taken_back = Change(replace(was, actor=Actor("U0BOB", "T0PILOT")), is_deleted=True)
        with pytest.raises(SendAgain):
            await change(bot.services, taken_back)
        # Whoever may begin nothing has begun nothing.
        assert await change(bot.services, Change(was, is_deleted=True)) == Answer()
    words = ("<@U0CAROL> what do you think?", "stop", MENTION + "help")
    for was in (mention, *(replace(next_one, raw=one) for one in words)):
        to_no_run = Change(replace(was, actor=Actor("U0BOB", "T0PILOT")), is_deleted=True)
        assert await change(bot.services, to_no_run) == Answer()
