"""What Slack delivers late, or in another order than it was said: it counts as it stands by then, and none of it is
dropped in silence."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from agent import Agent, ScriptedModel, Toolbox
from agent.ports import ModelReply
from bot.sandbox.opened import OpenSandbox
from bot.slack import hearing
from bot.slack.answering import Answer, SendAgain
from bot.slack.conversation import beginning, coming_late
from bot.slack.conversation.changing import change
from bot.slack.messages import Change, Message
from bot.slack.quoting.told import LATE
from bot.slack.wishes import answer_message
from tests.bot.slack.workspace import Bot, bot_in

MENTION = "<@U0PILOT> "
CHANNEL = "C0SUPPORT"


def post(bot: Bot, user: str, text: str, thread: str | None = None) -> Message:
    """Slack has it, and has not delivered it yet."""
    inside = bot.sandbox.inside
    channel = inside.workspace.channels[CHANNEL]
    said, _ = inside.posting.say(inside.workspace.users[user], channel, text, [], thread)
    kind = "app_mention" if MENTION.strip() in text else "message"
    event = {**inside.messages.read(CHANNEL, said["ts"]), "channel": CHANNEL, "type": kind}
    if event.get("thread_ts") == event["ts"]:
        del event["thread_ts"]
    message = Message.parse({"team_id": "T0PILOT", "event": event})
    assert message is not None
    return message


async def deliver(bot: Bot, message: Message) -> Answer:
    answer = await answer_message(bot.services, message)
    await bot.services.answering.drain(5)
    return answer


@pytest.fixture
def everything_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coming_late, "TOGETHER", timedelta(seconds=-1))


@pytest.mark.usefixtures("everything_is_late")
async def test_a_message_that_comes_late_counts_as_it_stands_in_slack_by_then(bot: Bot) -> None:
    there = bot.sandbox.inside.messages
    gone, bare, stopped, changed, unread = (
        post(bot, "U0ALICE", f"{MENTION}refund ORD-330{n} 180") for n in range(5)
    )
    there.remove(CHANNEL, gone.ts)
    there.change(CHANNEL, bare.ts, text="never mind")
    post(bot, "U0CAROL", "go on", stopped.ts)
    post(bot, "U0BOB", "stop", stopped.ts)
    # A guest stops nothing.
    post(bot, "U0CAROL", "stop", changed.ts)
    there.change(CHANNEL, changed.ts, text=f"{MENTION}refund 1")
    assert [await deliver(bot, one) for one in (gone, bare)] == [Answer(), Answer()]
    assert "`stop` was written in this thread since" in (await deliver(bot, stopped)).text
    assert await bot.runs() == []
    await deliver(bot, changed)
    bot.sandbox.faults.add(method="conversations.replies", error="internal_error")
    await deliver(bot, unread)
    assert [one.prompt for one in await bot.runs()] == ["refund ORD-3304 180", "refund 1"]


@pytest.mark.usefixtures("everything_is_late")
async def test_so_does_what_is_said_to_a_run_or_decides(bot: Bot) -> None:
    root = str((await bot.say("U0ALICE", MENTION + "refund ORD-3300 180", CHANNEL))["ts"])
    approval, _ = await bot.waiting_run()
    there = bot.sandbox.inside.messages
    gone, changed = post(bot, "U0BOB", "use ORD-5", root), post(bot, "U0BOB", "use ORD-6", root)
    yes = post(bot, "U0BOB", f"{MENTION}approve {approval.id}", root)
    for one in (gone, yes):
        there.remove(CHANNEL, one.ts)
    there.change(CHANNEL, changed.ts, text="use ORD-7")
    # Delivered once more, it is known as it was.
    assert [await deliver(bot, one) for one in (gone, yes, changed, changed)] == [Answer()] * 4
    (state,) = await bot.runs()
    assert [one.text for one in state.said] == ["use ORD-7"]
    assert state.open_approvals


@pytest.mark.usefixtures("everything_is_late")
async def test_a_word_that_acts_does_so_as_it_stands_by_then_and_not_where_it_is_gone(
    bot: Bot,
) -> None:
    root = str((await bot.say("U0ALICE", MENTION + "refund ORD-3300 180", CHANNEL))["ts"])
    await bot.waiting_run()
    there = bot.sandbox.inside.messages
    gone, opens = post(bot, "U0BOB", "stop", root), post(bot, "U0ALICE", MENTION + "stop")
    asked = post(bot, "U0ALICE", MENTION + "refund ORD-3301 180")
    said, chat = post(bot, "U0BOB", "pause", root), post(bot, "U0BOB", "pause", root)
    for one in (gone, opens):
        there.remove(CHANNEL, one.ts)
    there.change(CHANNEL, asked.ts, text=MENTION + "stop")
    there.change(CHANNEL, said.ts, text="pause the newsletter for ORD-3300 and tell them")
    there.change(CHANNEL, chat.ts, text="<@U0ALICE> pause?")
    for one in (gone, opens, asked, said, chat):
        assert await deliver(bot, one) == Answer(), one.raw
    (state,) = await bot.runs()
    assert (state.stop, state.held) == (None, None)
    assert [one.text for one in state.said] == ["pause the newsletter for ORD-3300 and tell them"]
    await bot.say("U0BOB", "pause", CHANNEL, root)
    again = post(bot, "U0BOB", "resume", root)
    there.remove(CHANNEL, again.ts)
    assert await deliver(bot, again) == Answer()
    stop = post(bot, "U0BOB", "stop", root)
    there.change(CHANNEL, stop.ts, text="please stop!")
    assert (await deliver(bot, stop)).text.startswith("Stopped: ")


@pytest.mark.parametrize("is_late", [True, False])
async def test_older_edits_that_come_behind_it_change_nothing_of_what_was_read_in_slack(
    bot: Bot, monkeypatch: pytest.MonkeyPatch, is_late: bool
) -> None:
    """Because it came late, or because what came with it took a while to read."""
    root = str((await bot.say("U0ALICE", MENTION + "refund ORD-3300 180", CHANNEL))["ts"])
    await bot.waiting_run()
    if is_late:
        monkeypatch.setattr(coming_late, "TOGETHER", timedelta(seconds=-1))
    else:
        monkeypatch.setattr(hearing, "SLOW", -1.0)
    there, message = bot.sandbox.inside.messages, post(bot, "U0BOB", "only 10", root)
    older, newer = there.next_ts(), there.next_ts()
    edited = {"user": "U0BOB", "ts": newer}
    there.change(CHANNEL, message.ts, text="only 30", edited=edited)
    assert await deliver(bot, message) == Answer()
    for raw, ts in (("only 20", older), ("stop", older), (MENTION, older), ("only 30", newer)):
        edit = Change(replace(message, raw=raw, edited_ts=ts), False, message)
        assert await change(bot.services, edit) == Answer()
    (state,) = await bot.runs()
    assert [(one.text, one.changed) for one in state.said] == [("only 30", 0)]
    assert (state.stop, state.deleted) == (None, frozenset())


@pytest.mark.usefixtures("everything_is_late")
async def test_so_does_what_a_message_was_edited_to(bot: Bot) -> None:
    root = str((await bot.say("U0ALICE", MENTION + "refund ORD-3300 180", CHANNEL))["ts"])
    await bot.waiting_run()
    there = bot.sandbox.inside.messages
    gone, other, same = (post(bot, "U0BOB", "only half", root) for _ in range(3))
    there.remove(CHANNEL, gone.ts)
    there.change(CHANNEL, other.ts, text="stop the newsletter")
    there.change(CHANNEL, same.ts, text="stop it")
    stops = [
        Change(replace(one, raw="stop", edited_ts=one.ts), False, one)
        for one in (gone, other, same)
    ]
    told = [(await change(bot.services, one)).text.partition(":")[0] for one in stops]
    assert told == ["", "", "Stopped"]


@pytest.mark.usefixtures("everything_is_late")
async def test_so_does_what_the_first_message_of_a_thread_was_edited_to(bot: Bot) -> None:
    """Below it everybody talks to the run, and it does so itself, though it names us no more."""
    opens = post(bot, "U0ALICE", MENTION + "refund ORD-3300 180")
    await deliver(bot, opens)
    await bot.waiting_run()
    bot.sandbox.inside.messages.change(CHANNEL, opens.ts, text="stop")
    stop = Change(replace(opens, raw="stop", edited_ts=opens.ts), False, opens)
    assert (await change(bot.services, stop)).text.startswith("Stopped: ")


async def test_a_correction_is_not_lost_that_comes_before_what_it_corrects(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beginning, "_PATIENCE", 0.05)
    asked = post(bot, "U0ALICE", MENTION + "refund ORD-3300 180")
    correction = post(bot, "U0ALICE", "no wait, make it ORD-3301", asked.ts)
    with pytest.raises(SendAgain, match="about to begin"):
        await deliver(bot, correction)
    # Also when Slack tries again after minutes, and before the other.
    monkeypatch.setattr(beginning, "TOGETHER", -beginning.TOGETHER)
    with pytest.raises(SendAgain, match="about to begin"):
        await deliver(bot, correction)
    await deliver(bot, asked)
    await deliver(bot, correction)
    (state,) = await bot.runs()
    assert [one.text for one in state.said] == ["no wait, make it ORD-3301"]


@pytest.fixture
async def talker(sandbox: OpenSandbox, tmp_path: Path) -> AsyncIterator[Bot]:
    """Its agent does nothing but answer."""
    model = ScriptedModel([ModelReply(text="Noted.")] * 3)
    async with bot_in(sandbox, tmp_path, agent=Agent("notes", model, Toolbox([]))) as connected:
        yield connected


async def test_what_the_next_runs_beginning_has_overtaken_is_told_it_and_chatter_of_before_is_not(
    talker: Bot,
) -> None:
    root = str((await talker.say("U0BOB", "It came twice.", CHANNEL))["ts"])
    chatter = post(talker, "U0BOB", "who knows?", root)
    await talker.say("U0ALICE", MENTION + "sum it up", CHANNEL, root)
    (first,) = await talker.runs()
    await talker.ended_run(first.run_id)
    overtaken = post(talker, "U0ALICE", "please also check ORD-2", root)
    stranger = post(talker, "U0BOB", "lovely weather", root)
    await talker.say("U0ALICE", "and what of ORD-1?", CHANNEL, root)
    second, _ = await talker.runs()
    await talker.ended_run(second.run_id)
    for one in (chatter, stranger, overtaken, overtaken):
        assert await deliver(talker, one) == Answer()
    third, *others = await talker.runs()
    assert (third.prompt, len(others)) == ("please also check ORD-2", 2)
    assert third.quoted == (LATE,), "it is older than what the agent was told last"


async def test_what_was_edited_while_it_was_only_quoted_is_said_as_it_was_edited(bot: Bot) -> None:
    """The agent knew of it already by what somebody else said below it."""
    root = str((await bot.say("U0ALICE", MENTION + "refund ORD-3300 180", CHANNEL))["ts"])
    await bot.waiting_run()
    message = post(bot, "U0BOB", "only 10", root)
    await deliver(bot, post(bot, "U0ALICE", MENTION + "and?", root))
    await bot.act("U0BOB", "edit", channel=CHANNEL, ts=message.ts, text="only 30")
    assert await deliver(bot, message) == Answer()
    (state,) = await bot.runs()
    assert [one.text for one in state.said] == ["and?", "only 30"]
    assert [one.text for one in state.said[0].quoted] == []
