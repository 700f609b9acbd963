"""A run's thread is a conversation: what is said there steers the run, continues it, or is left alone."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent.rules.access import Access
from agent.rules.ids import EventId, Principal
from agent.rules.interventions import ApprovalExpired
from agent.rules.recorded import Stamped
from agent.rules.rule import People
from agent.rules.state import RunState
from bot.sandbox.opened import OpenSandbox
from bot.slack.answering import Answer, SendAgain
from bot.slack.conversation.changing import change
from bot.slack.ids import APPROVE, GUIDANCE_USE
from bot.slack.messages import Change, Message
from bot.slack.payloads import Actor
from bot.slack.wishes import answer_message
from tests.bot.slack.agents import refunds, several_refunds, vouchers
from tests.bot.slack.workspace import Bot, Json, bot_in, drawing
from tests.store.database import ask

MENTION = "<@U0PILOT> "
ONLY_ALICE = Access(start=People(users=("U0ALICE",)), steer=People(users=("U0ALICE",)))


@pytest.fixture
async def thread(bot: Bot) -> str:
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


async def test_words_that_are_nearly_one_that_acts_do_nothing_and_whoever_says_them_is_told_which(
    bot: Bot, thread: str
) -> None:
    words = ("stop by my desk", "Hold on!", "continue", "stop the newsletter for ORD-3300 and")
    for text in words:
        await say(bot, "U0BOB", text, thread)
    assert await said(bot) == list(words)
    stop, pause = bot.whispers("U0BOB")
    assert stop.startswith("To stop the run, write just `stop`, or press Stop.")
    assert pause.startswith("To pause the run, write just `pause`, or press Pause.")
    await say(bot, "U0BOB", "pause", thread)
    await say(bot, "U0BOB", "ok, go on", thread)
    assert bot.whispers("U0BOB")[-1].startswith("To have the run go on, write just `resume`")
    await say(bot, "U0CAROL", "cancel", thread)
    assert bot.whispers("U0CAROL") == [], "who may say nothing to it is left alone"
    await say(bot, "U0BOB", "*Stop the run*, please! 🛑", thread)
    assert (await the_run(bot)).stop is not None
    await say(bot, "U0BOB", "hold on", thread)
    assert "nothing is at work in this thread" in bot.whispers("U0BOB")[-1]
    await say(bot, "U0FRANK", "wait", thread)
    assert bot.whispers("U0FRANK") == []
    assert len(await bot.runs()) == 1
    await say(bot, "U0BOB", MENTION + "cancel ORD-3300", thread)
    assert (await bot.runs())[0].prompt == "cancel ORD-3300"


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


async def test_pause_resume_and_stop_alone_act_on_the_run_of_the_thread(
    bot: Bot, thread: str
) -> None:
    pause = await say(bot, "U0BOB", "pause", thread)
    assert (await the_run(bot)).held is not None
    await deliver_again(bot, pause, is_mention=False)
    await say(bot, "U0BOB", MENTION + "resume", thread)
    assert (await the_run(bot)).held is None
    before = await say(bot, "U0CAROL", "and another", thread)
    await deliver_again(bot, pause, is_mention=False)
    assert (await the_run(bot)).held is None, "what was said before it went on"
    await say(bot, "U0BOB", "stop the newsletter", thread)
    await say(bot, "U0BOB", "Stop!", thread)
    state = await the_run(bot)
    assert (state.ending, [one.text for one in state.said]) == (
        "cancelled",
        ["stop the newsletter"],
    )
    await say(bot, "U0BOB", "stop", thread)
    *told, over = bot.whispers("U0BOB")
    assert [one.split()[0] for one in told] == ["Paused:", "It", "Nothing", "To", "Stopped:"], told
    assert over.startswith("Nothing was done: this run was stopped. (")
    assert "since you wrote this, the run was paused and goes on again" in told[2]
    # What was written before it was stopped, and comes late.
    late = replace(await _message(bot, before), actor=Actor("U0BOB", "T0PILOT"))
    answer = await answer_message(bot.services, late)
    assert answer.text.startswith("Nothing was done: this was written before the run")
    await say(bot, "U0BOB", MENTION + "stop", thread)
    assert "this run was stopped" in bot.whispers("U0BOB")[-1]
    assert len(await bot.runs()) == 1


async def _message(bot: Bot, ts: str) -> Message:
    inside = bot.sandbox.inside
    found = inside.messages.read("C0SUPPORT", ts)
    event = {**found, "channel": "C0SUPPORT", "type": "message"}
    message = Message.parse({"team_id": "T0PILOT", "event": event})
    assert message is not None
    return message


async def test_where_no_run_is_a_word_to_us_is_told_so(bot: Bot) -> None:
    for text, told in (
        ("stop", "Nothing was done: you have no run that has not ended"),
        ("cancel that", "Nothing was begun: if you mean a run of yours, write just `stop`, here"),
    ):
        await bot.say("U0ALICE", MENTION + text, "C0SUPPORT")
        await bot.whispered("U0ALICE", told)
    root = str((await bot.say("U0BOB", "lunch?", "C0SUPPORT"))["ts"])
    await say(bot, "U0ALICE", MENTION + "stop", root)
    await bot.whispered("U0ALICE", "nothing is at work in this thread")
    assert await bot.runs() == []


async def test_a_word_that_opens_a_thread_acts_on_ones_own_run_there_once(
    bot: Bot, thread: str
) -> None:
    direct = bot.sandbox.inside.workspace.direct("U0ALICE").id
    for text in ("refund ORD-1 7", "refund ORD-2 8"):
        await bot.say("U0ALICE", text, direct)
    await bot.waiting_runs(3)
    second, first, support = await bot.runs()

    async def paused() -> list[bool]:
        return [(await bot.runtime.state(one.run_id)).held is not None for one in (second, first)]

    await bot.command("U0ALICE", "pause", direct)
    assert await paused() == [True, False]
    await bot.say("U0ALICE", "Please pause!", direct)
    assert await paused() == [True, True], "each is paused that was not"
    await bot.say("U0ALICE", "resume it", direct)
    assert await paused() == [False, True]
    stop = await bot.say("U0ALICE", MENTION + "please stop", "C0SUPPORT")
    # Delivered again, to whichever process.
    inside = bot.sandbox.inside
    message = inside.messages.read("C0SUPPORT", stop["ts"])
    again = inside.events.mention(inside.workspace.channels["C0SUPPORT"], message)
    await inside.outbox.publish_and_wait([again])
    told = await bot.whispered("U0ALICE", "Stopped: nothing new begins.")
    assert f"(refund ORD-3300 180 · {support.run_id})" in told
    assert "Also at work, each with `/agent stop RUN`:\n• refund ORD-2 8 (run_" in told
    assert len([one for one in bot.whispers("U0ALICE") if "Stopped" in one]) == 1
    await bot.say("U0ALICE", MENTION + "stop", "C0SUPPORT")
    unclear = await bot.whispered("U0ALICE", "it isn't clear which of your runs is meant")
    assert f"elsewhere, each with `/agent stop RUN`:\n• refund ORD-2 8 ({second.run_id})" in unclear
    assert [one.stop is not None for one in await bot.runs()] == [False, False, True]


async def test_a_stop_that_is_delivered_twice_at_once_is_not_contradicted(
    bot: Bot, thread: str, tmp_path: Path
) -> None:
    ts = await say(bot, "U0CAROL", "hello", thread)
    stop = Message(
        Actor("U0BOB", "T0PILOT"), "T0PILOT", "C0SUPPORT", ts, thread, "Stop!", False, True
    )
    async with bot_in(bot.sandbox, tmp_path) as other:
        both = [bot.services, other.services] * 3
        answers = await asyncio.gather(*(answer_message(one, stop) for one in both))
    assert {one.text.partition(":")[0] for one in answers} <= {"Stopped", ""}
    assert any(one.text for one in answers)


@pytest.mark.parametrize("user", ["U0ALICE", "U0BOB"])
async def test_a_word_to_a_run_that_is_over_is_answered_where_it_is_hardly_said_to_others(
    bot: Bot, thread: str, user: str
) -> None:
    first = await the_run(bot)
    await bot.runtime.stop(first.run_id, first.requester)
    for text in ("Stop!", "pause", "resume", "retry"):
        await say(bot, user, text, thread)
    over = "Nothing was done: this run was stopped"
    again = [f"{over}. ({first.run_id})"]
    again += [f"{over}, and only one that failed can be tried again. ({first.run_id})"]
    # Bob took no part in it.
    stop = [f"{over}. ({first.run_id})"] * 2 if user == "U0ALICE" else []
    assert bot.whispers(user) == [*stop, *again]


async def test_a_run_of_a_newer_version_is_told_by_whoever_can_read_it_and_who_spoke_to_us_is_told(
    bot: Bot, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = await _message(bot, await say(bot, "U0BOB", "only half", thread))
    monkeypatch.setattr("agent.rules.recorded._VERSIONS", {})
    for text in ("stop", "only half"):
        await say(bot, "U0BOB", MENTION + text, thread)
    told = [one.partition(". (")[0] for one in bot.whispers("U0BOB")]
    unreadable = (
        "Nothing was done: the run in this thread can't be read by the version that runs now"
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
    await bot.act("U0ALICE", "edit", channel="C0SUPPORT", ts=third, text=MENTION)
    assert await said(bot) == ["only a third"], "nothing is left of it"
    (approval,) = (await the_run(bot)).approvals.values()
    assert approval.status == "pending"
    await bot.act("U0ALICE", "edit", channel="C0SUPPORT", ts=thread, text=MENTION + "refund 90")
    told = await bot.whispered("U0ALICE", "Nothing was changed")
    assert "the agent had read this message already" in told
    # It opened the thread of the run of which they are told.
    assert [one.get("thread_ts") for one in bot.sandbox.ephemerals("U0ALICE")] == [thread]
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


async def test_what_is_edited_into_a_word_that_acts_is_that_word_said_now(
    bot: Bot, thread: str
) -> None:
    async def edit(user: str, ts: str, text: str) -> None:
        await bot.act(user, "edit", channel="C0SUPPORT", ts=ts, text=text)

    lunch = str((await bot.say("U0BOB", "lunch?", "C0SUPPORT"))["ts"])
    await edit("U0BOB", lunch, "stop")
    first = await say(bot, "U0BOB", "only half", thread)
    await edit("U0BOB", first, "<@U0ALICE> stop")
    assert await said(bot) == ["<@U0ALICE> stop"]
    assert bot.whispers("U0BOB") == []
    await edit("U0BOB", first, "please pause!")
    await bot.whispered("U0BOB", "Paused: nothing new begins")
    assert await said(bot) == [], "what it said before is taken back"
    assert (await the_run(bot)).held is not None
    guests = await say(bot, "U0CAROL", "and hurry", thread)
    await edit("U0CAROL", guests, "stop")
    assert (await the_run(bot)).stop is None
    await edit("U0ALICE", thread, MENTION + "stop")
    await bot.whispered("U0ALICE", "Stopped: nothing new begins.")
    assert bot.whispers("U0CAROL") == []
    assert (await the_run(bot)).stop is not None


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
    message = replace(await _message(bot, ts), actor=Actor("U0BOB", "T0PILOT"), raw="a third")
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
    next_one = await _message(bot, await say(bot, "U0CAROL", "and another", thread))
    root = str((await bot.say("U0ALICE", "lunch?", "C0SUPPORT"))["ts"])
    mention = replace(await _message(bot, await say(bot, "U0CAROL", "no", root)), thread_ts=None)
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


async def test_what_is_too_long_for_guidance_is_said_to_decide_nothing(
    bot: Bot, thread: str
) -> None:
    await say(bot, "U0ALICE", "no " * 1_000, thread)
    await say(bot, "U0ALICE", "only half " * 1_000, thread)
    short, long = bot.whispers("U0ALICE")
    assert short.startswith("This decides nothing: to approve or deny, use the buttons of")
    assert long.startswith("It is too long to be used as guidance. This decides nothing: to")


async def test_words_that_tell_whether_it_happened_settle_nothing_and_that_is_told(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    async with bot_in(sandbox, tmp_path, agent=vouchers()) as bot:
        root = (await bot.say("U0ALICE", MENTION + "voucher", "C0SUPPORT"))["ts"]
        await bot.waiting_run()
        for text in ("it did not happen, I checked", "yes", "who is asked?"):
            await say(bot, "U0ALICE", text, root)
        told = bot.whispers("U0ALICE")
        settles = "This settles nothing: whether it happened is said with the buttons of its card."
        assert [one.startswith(settles) for one in told] == [True, True], told


class TestUseAsGuidance:
    @pytest.fixture
    async def bot(self, sandbox: OpenSandbox, tmp_path: Path) -> AsyncIterator[Bot]:
        """It draws."""
        async with bot_in(sandbox, tmp_path) as connected, drawing(connected):
            yield connected

    async def test_what_is_said_while_a_call_waits_decides_it_only_by_the_button(
        self, bot: Bot, thread: str
    ) -> None:
        approval, state = await bot.waiting_run()
        for text in ("yes please add more tests", "approve", "👍"):
            ts = await say(bot, "U0BOB", text, thread)
        await bot.act("U0BOB", "react", channel="C0SUPPORT", ts=ts, name="white_check_mark")
        assert (await the_run(bot)).approvals[approval.id].status == "pending"
        assert "approve" not in await said(bot), "who wants to decide is told how"
        await bot.act("U0BOB", "edit", channel="C0SUPPORT", ts=ts, text="only half, for &lt;now>")
        offer = await _offer(bot, thread, "only half")
        assert len(await _offers(bot, thread)) == 1, "nothing buries the card"
        assert await bot.whispered("U0BOB", "This decides nothing: to approve or deny, use the")
        assert "|its card>" in str(offer["blocks"])
        use = _button(offer)
        await bot.click("U0ALICE", offer, use)
        await bot.whispered("U0ALICE", "Not decided: only <!subteam^S0FINANCE> can decide this")
        assert (await the_run(bot)).approvals[approval.id].status == "pending"
        await bot.click("U0BOB", offer, use)
        ended = await bot.ended_run(state.run_id)
        decided = ended.approvals[approval.id].decided
        assert decided is not None
        assert (decided.action, decided.by) == ("steer", "slack:T0PILOT:U0BOB")
        heard = [words.text for reply in ended.replies for words in reply.heard]
        assert heard == ["yes please add more tests"]

        def is_over() -> bool:
            shown = str(_all(bot, thread))
            is_open = GUIDANCE_USE in shown or APPROVE in shown
            return "Used as guidance by <@U0BOB>" in shown and not is_open

        await bot.sandbox.until(is_over, "all that was offered says so")
        assert [one for one in ended.own_calls if one.attempts] == []

    async def test_what_is_said_while_two_calls_wait_is_used_for_both_with_one_click(
        self, sandbox: OpenSandbox, tmp_path: Path
    ) -> None:
        async with bot_in(sandbox, tmp_path, agent=several_refunds(2)) as bot, drawing(bot):
            said = await bot.say("U0ALICE", MENTION + "refund both", "C0SUPPORT")
            await bot.waiting_runs(2)
            await say(bot, "U0ALICE", "only half of each", str(said["ts"]))
            offer = await _offer(bot, str(said["ts"]), "Use for both")
            for user in ("U0ALICE", "U0BOB"):
                await bot.click(user, offer, _button(offer))
            told = await bot.whispered("U0ALICE", "Not decided: only <!subteam^S0FINANCE>")
            assert told.count("“Refund an order”") == 2 or told.count("Refund an order") == 2
            ended = await bot.ended_run((await the_run(bot)).run_id)
            decided = [one.decided for one in ended.approvals.values()]
            assert [(one.guidance, one.by) for one in decided if one is not None] == [
                ("only half of each", "slack:T0PILOT:U0BOB")
            ] * 2
            assert bot.whispers("U0BOB") == []

    async def test_a_deleted_message_takes_its_offer_away(self, bot: Bot, thread: str) -> None:
        approval, _ = await bot.waiting_run()
        ts = await say(bot, "U0BOB", "only half", thread)
        offer = await _offer(bot, thread, "only half")
        await bot.act("U0BOB", "delete", channel="C0SUPPORT", ts=ts)
        await bot.sandbox.until(
            lambda: "It was deleted." in str(_all(bot, thread)), "the offer says so"
        )
        await _click_anew(bot, "U0BOB", approval.id, "said:9:1", offer)
        await bot.whispered("U0BOB", "Not decided: That message was edited or deleted")
        assert (await the_run(bot)).approvals[approval.id].status == "pending"

    async def test_words_that_were_put_otherwise_since_are_not_what_was_clicked(
        self, bot: Bot, thread: str
    ) -> None:
        approval, _ = await bot.waiting_run()
        ts = await say(bot, "U0ALICE", "only half", thread)
        offer = await _offer(bot, thread, "only half")
        (seen,) = [one for one in offer["blocks"] if one["type"] == "actions"]
        await bot.act("U0ALICE", "edit", channel="C0SUPPORT", ts=ts, text="to my own card")
        await _click_anew(bot, "U0BOB", approval.id, seen["block_id"], offer)
        await bot.whispered("U0BOB", "Not decided: That message was edited")
        assert (await the_run(bot)).approvals[approval.id].status == "pending"
        await bot.click("U0BOB", await _offer(bot, thread, "to my own card"), GUIDANCE_USE)
        decided = (await the_run(bot)).approvals[approval.id].decided
        assert decided is not None
        assert decided.guidance == "to my own card"

    async def test_an_offer_of_before_is_over_with_its_question(
        self, bot: Bot, thread: str
    ) -> None:
        approval, _ = await bot.waiting_run()
        await say(bot, "U0BOB", "only half", thread)
        offer, state = await _offer(bot, thread, "only half"), await the_run(bot)
        ask(bot.url, "UPDATE approvals SET expires_at = 1")
        expired = ApprovalExpired(approval_id=approval.id)
        now = bot.store.clock.now()
        await bot.store.journal.intend(
            state.run_id, [Stamped(EventId("late"), now, expired)], expected_seq=state.seq
        )
        await _click_anew(bot, "U0BOB", approval.id, _row(offer), offer)
        await bot.whispered("U0BOB", "Not decided: this expired")
        assert (await the_run(bot)).approvals[approval.id].status == "expired"


async def _click_anew(bot: Bot, user: str, approval_id: str, row: str, card: Json) -> None:
    """A click that comes when there is no such button any more."""
    action = {"action_id": GUIDANCE_USE, "value": approval_id, "block_id": row}
    payload = {
        "type": "block_actions",
        "user": {"id": user, "team_id": "T0PILOT"},
        "container": {"channel_id": "C0SUPPORT", "message_ts": card["ts"]},
        "trigger_id": "1.2.3",
        "actions": [action],
    }
    await bot.sandbox.inside.outbox.interact("interactive", payload)


def _row(offer: Json) -> str:
    """Of the button that stands there."""
    (row,) = [one["block_id"] for one in offer["blocks"] if one["type"] == "actions"]
    return str(row)


def _button(offer: Json) -> str:
    """The action of the last that stands there."""
    *_, row = [one for one in offer["blocks"] if one["type"] == "actions"]
    return str(row["elements"][0]["action_id"])


def _all(bot: Bot, thread: str) -> list[Json]:
    return bot.sandbox.messages("C0SUPPORT", thread)


async def _offers(bot: Bot, thread: str) -> list[Json]:
    return [one for one in _all(bot, thread) if GUIDANCE_USE in str(one.get("blocks"))]


async def _offer(bot: Bot, thread: str, words: str) -> Json:
    def found() -> Json | None:
        offers = [one for one in _all(bot, thread) if GUIDANCE_USE in str(one.get("blocks"))]
        return next((one for one in offers if words in str(one)), None)

    offer = await bot.sandbox.until(found, f"{words!r} is offered as guidance")
    return {**offer, "channel": "C0SUPPORT"}
