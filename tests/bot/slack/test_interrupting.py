"""``pause``, ``resume``, ``stop`` and ``retry``, said in a run's thread or outside of one, and what comes near them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from bot.sandbox.opened import OpenSandbox
from bot.slack.messages import Message
from bot.slack.payloads import Actor
from bot.slack.wishes import answer_message
from tests.bot.slack.agents import vouchers
from tests.bot.slack.talking import MENTION, begun, deliver_again, message_at, said, say, the_run
from tests.bot.slack.workspace import Bot, bot_in

ALICE = Actor("U0ALICE", "T0PILOT")


@pytest.fixture
async def thread(bot: Bot) -> str:
    """Of a run that waits for finance to decide a refund."""
    return await begun(bot)


async def test_words_that_are_nearly_one_that_acts_do_nothing_and_whoever_says_them_is_told_which(
    bot: Bot, thread: str
) -> None:
    words = ("stop by my desk", "Hold on!", "continue", "stop the newsletter for ORD-3300 and")
    for text in words:
        await say(bot, "U0BOB", text, thread)
    assert await said(bot) == list(words)
    stop, pause, yes = bot.whispers("U0BOB")
    assert stop.startswith("To stop the run, write just `stop`, or press Stop.")
    assert pause.startswith("To pause the run, write just `pause`, or press Pause.")
    assert yes.startswith("This decides nothing"), "nothing is paused, and a call waits"
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
    late = replace(await message_at(bot, before), actor=Actor("U0BOB", "T0PILOT"))
    answer = await answer_message(bot.services, late)
    assert answer.text.startswith("Nothing was done: this was written before the run")
    await say(bot, "U0BOB", MENTION + "stop", thread)
    assert "this run was stopped" in bot.whispers("U0BOB")[-1]
    assert len(await bot.runs()) == 1


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
    assert "Also at work, for `/agent stop RUN`:\n• refund ORD-2 8 (run_" in told
    assert len([one for one in bot.whispers("U0ALICE") if "Stopped" in one]) == 1
    await bot.say("U0ALICE", MENTION + "stop", "C0SUPPORT")
    unclear = await bot.whispered("U0ALICE", "it isn't clear which of your runs is meant")
    assert f"elsewhere, for `/agent stop RUN`:\n• refund ORD-2 8 ({second.run_id})" in unclear
    assert [one.stop is not None for one in await bot.runs()] == [False, False, True]
    await bot.runtime.stop(first.run_id, first.requester)
    await bot.say("U0ALICE", MENTION + "stop it please", "C0SUPPORT")
    assert [one.stop is not None for one in await bot.runs()] == [False, True, True], "elsewhere"


@pytest.mark.parametrize("word", ["stop", "pause"])
async def test_a_word_right_behind_another_that_was_written_before_that_was_done_is_answered(
    bot: Bot, word: str
) -> None:
    direct = bot.sandbox.inside.workspace.direct("U0ALICE").id
    for text in ("refund ORD-1 7", "refund ORD-2 8"):
        await bot.say("U0ALICE", text, direct)
    await bot.waiting_runs(2)
    last = (await bot.say("U0ALICE", "help", direct))["ts"]
    both = [
        Message(ALICE, "T0PILOT", direct, f"{float(last) + n / 1e6:.6f}", None, word, True)
        for n in (1, 2)
    ]
    first, second = [(await answer_message(bot.services, one)).text for one in both]
    newest, other = await bot.runs()
    assert first.startswith(("Stopped: ", "Paused: "))
    done = f"{word}ped" if word == "stop" else f"{word}d"
    assert second.splitlines() == [
        f"Nothing more was done: since you wrote this, a run of yours was {done}. (refund ORD-2 8 · {newest.run_id})",
        f"Also at work, for `/agent {word} RUN`:",
        f"• refund ORD-1 7 ({other.run_id})",
    ]
    assert (other.stop, other.held) == (None, None)
    # The same, delivered again, does nothing to the other run, also when the first is no longer paused.
    await bot.command("U0ALICE", "resume", direct)
    again = (await answer_message(bot.services, both[0])).text
    assert again.startswith("Nothing more was done: ")
    assert [one.held for one in await bot.runs()] == [None, None]
    assert (await bot.runtime.state(other.run_id)).stop is None


async def test_whose_only_run_can_not_be_read_here_is_told_that_it_is_there_and_what_to_do(
    bot: Bot, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = (await the_run(bot)).run_id
    monkeypatch.setattr("agent.rules.recorded._VERSIONS", {})
    for text in ("stop", "pause"):
        await bot.say("U0ALICE", MENTION + text, "C0SUPPORT")
    await bot.command("U0ALICE", "stop")
    await bot.services.answering.drain(5)
    assert bot.whispers("U0ALICE") == 3 * [
        "Nothing was done: this run can't be read by the version that runs now; a newer one wrote it. Ask whoever"
        f" operates the bot to start the newer one, and say it again then. ({run_id})"
    ]


async def test_a_run_that_a_message_began_had_begun_by_slacks_clock_whatever_the_stores_says(
    bot: Bot,
) -> None:
    direct = bot.sandbox.inside.workspace.direct("U0ALICE").id
    root = (await bot.say("U0ALICE", "refund ORD-1 7", direct))["ts"]
    await bot.waiting_run()
    ts = f"{float(root) + 0.000002:.6f}"
    stop = Message(Actor("U0ALICE", "T0PILOT"), "T0PILOT", direct, ts, None, "stop", True)
    assert (await answer_message(bot.services, stop)).text.startswith("Stopped: ")


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
