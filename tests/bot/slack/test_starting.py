"""What people say, and the runs that come of it."""

from __future__ import annotations

from functools import partial

import pytest

from agent.rules.ids import BY_BUDGET, RunId
from agent.rules.state import RunState
from bot.slack.answering import Answer
from bot.slack.ids import Place
from bot.slack.messages import Message
from bot.slack.payloads import Actor
from bot.slack.starting import start_by_message
from tests.bot.slack.workspace import Bot

MENTION = "<@U0PILOT> "


async def test_a_command_starts_a_run_for_its_channel(bot: Bot) -> None:
    said = await bot.command("U0ALICE", "refund ORD-3300 180 & say <b>thanks</b> &amp; bye")
    assert said["acknowledged"]
    (state,) = await bot.runs()
    assert state.prompt == "refund ORD-3300 180 & say <b>thanks</b> &amp; bye"
    assert state.requester == "slack:T0PILOT:U0ALICE"
    (root,) = bot.sandbox.messages("C0SUPPORT")
    assert (state.channel, state.place) == ("C0SUPPORT", f"slack:T0PILOT/C0SUPPORT/{root['ts']}")
    assert bot.whispers("U0ALICE") == []


async def test_a_mention_starts_a_run_in_its_thread(bot: Bot) -> None:
    said = await bot.say("U0ALICE", MENTION + "refund ORD-3300 180", "C0SUPPORT")
    assert said["acknowledged"]
    (state,) = await bot.runs()
    assert state.prompt == "refund ORD-3300 180"
    assert Place.of(state.place) == Place("T0PILOT", "C0SUPPORT", said["ts"])
    assert state.session == f"slack:T0PILOT:C0SUPPORT:{said['ts']}"


async def test_a_direct_message_starts_a_run_in_its_thread(bot: Bot) -> None:
    said = await bot.say("U0ALICE", "refund ORD-3300 180", "D0ALICE")
    (state,) = await bot.runs()
    assert Place.of(state.place) == Place("T0PILOT", "D0ALICE", said["ts"])


async def test_four_deliveries_of_a_mention_and_its_message_event_are_one_run(bot: Bot) -> None:
    sandbox = bot.sandbox.inside
    said = await bot.say("U0ALICE", MENTION + "refund ORD-3300 180", "C0SUPPORT")
    channel = sandbox.workspace.channels["C0SUPPORT"]
    message = sandbox.messages.read("C0SUPPORT", said["ts"])
    again = [sandbox.events.mention(channel, message) for _ in range(4)]
    again += [sandbox.events.message(channel, message) for _ in range(4)]
    assert (await sandbox.outbox.publish_and_wait(again)).reply.acknowledged
    assert len(await bot.runs()) == 1


async def test_a_run_without_words_is_answered_with_help(bot: Bot) -> None:
    said = await bot.say("U0ALICE", MENTION, "C0SUPPORT")
    await bot.whispered("U0ALICE", "I put an agent to work")
    blank = Message(
        Actor("U0ALICE", "T0PILOT"), "T0PILOT", "C0SUPPORT", said["ts"], None, "", False
    )
    assert "*Ask for something*" in (await start_by_message(bot.services, blank, "  ")).text
    assert await bot.runs() == []


async def test_what_is_said_without_a_mention_starts_nothing(bot: Bot) -> None:
    said = await bot.say("U0ALICE", "refund ORD-3300 180", "C0SUPPORT")
    assert said["acknowledged"]
    assert await bot.runs() == []


async def test_edits_deletions_and_what_bots_say_start_nothing(bot: Bot) -> None:
    sandbox = bot.sandbox.inside
    direct = sandbox.workspace.channels["D0ALICE"]
    said = await bot.say("U0ALICE", "help", "D0ALICE")
    message = sandbox.messages.read("D0ALICE", said["ts"])
    events = [
        sandbox.events.message_changed(direct, {**message, "text": "refund"}, message),
        sandbox.events.message_deleted(direct, message),
        sandbox.events.message(direct, {**message, "text": "refund", "bot_id": "B0OTHER"}),
        sandbox.events.message(direct, {**message, "text": "x", "subtype": "channel_join"}),
        sandbox.events.message(direct, {**message, "text": "x", "edited": {"user": "U0ALICE"}}),
        sandbox.events.message(direct, {**message, "text": "x", "user": "U0PILOT"}),
    ]
    assert (await sandbox.outbox.publish_and_wait(events)).reply.acknowledged
    assert await bot.runs() == []


@pytest.mark.parametrize("text", ["", "   ", "help"])
async def test_an_empty_command_is_told_what_there_is(bot: Bot, text: str) -> None:
    said = await bot.command("U0ALICE", text)
    assert said["acknowledged"]
    assert "`/agent` and what is to be done" in bot.whispers("U0ALICE")[0]
    assert await bot.runs() == []


async def test_an_empty_mention_is_told_what_there_is(bot: Bot) -> None:
    await bot.say("U0ALICE", MENTION, "C0SUPPORT")
    assert "Ask for something" in await bot.whispered("U0ALICE", "direct message")
    assert await bot.runs() == []


async def test_four_thousand_emoji_are_a_prompt_like_any_other(bot: Bot) -> None:
    await bot.command("U0ALICE", "🙂" * 4000)
    (state,) = await bot.runs()
    assert state.prompt == "🙂" * 4000


@pytest.mark.parametrize(
    ("user", "why"),
    [
        ("U0CAROL", "guests"),
        ("U0DAVE", "another workspace"),
        ("U0ERIN", "deactivated"),
    ],
)
async def test_who_may_not_start_is_told_so_and_nothing_starts(
    bot: Bot, user: str, why: str
) -> None:
    await bot.command(user, "refund ORD-3300 180")
    assert any(why in text for text in bot.whispers(user))
    await bot.say(user, MENTION + "refund ORD-3300 180", "C0SUPPORT")

    assert await bot.runs() == []


async def test_a_guests_direct_message_is_refused_there(bot: Bot) -> None:
    said = await bot.say("U0CAROL", "refund ORD-3300 180", "D0CAROL")
    await bot.services.answering.drain(5)
    replies = bot.sandbox.messages("D0CAROL", said["ts"])
    assert "Nothing was started: guests" in replies[-1]["text"]
    assert await bot.runs() == []


@pytest.mark.parametrize(
    "text",
    ["approve apr_1", "deny apr_1 too much", "approve", "Approve apr_1", "approve the budget"],
)
async def test_a_command_never_decides_and_never_starts_what_looks_like_a_decision(
    bot: Bot, text: str
) -> None:
    await bot.command("U0BOB", text)
    assert "a mention of me and `approve apr_…`" in bot.whispers("U0BOB")[0]
    assert await bot.runs() == []


async def test_a_sub_command_with_no_whole_id_starts_nothing_and_says_what_it_takes(
    bot: Bot,
) -> None:
    await bot.command("U0ALICE", "stop run_01a2…")
    (told,) = bot.whispers("U0ALICE")
    assert told.startswith("Nothing was started, and nothing stopped: `/agent stop` takes nothing")
    assert "or a run's whole id (`/agent runs` lists yours)" in told
    assert told.endswith("or in a message that mentions me: stop run_01a2…")
    assert await bot.runs() == []


async def test_where_the_bot_is_not_a_command_starts_nothing_and_says_how_to_invite_it(
    bot: Bot,
) -> None:
    for channel in ("C0SUPPORT", "C0OPS"):
        bot.sandbox.inside.workspace.channels[channel].members.remove("U0PILOT")
        await bot.command("U0ALICE", "refund ORD-3300 180", channel)
    assert sum("/invite <@U0PILOT>" in text for text in bot.whispers("U0ALICE")) == 2
    assert await bot.runs() == []


async def test_a_channel_that_slack_can_not_look_up_stops_nobody(bot: Bot) -> None:
    bot.sandbox.faults.add(method="conversations.info", error="internal_error")
    await bot.command("U0ALICE", "refund ORD-3300 180")
    assert len(await bot.runs()) == 1


async def test_a_mention_at_the_moment_when_the_run_in_its_thread_ends_starts_the_next_one(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await bot.say("U0ALICE", MENTION + "refund ORD-3300 180", "C0SUPPORT")
    await bot.waiting_run()
    runtime = bot.services.runtime
    look = runtime.state

    async def look_just_before(run_id: RunId) -> RunState:
        monkeypatch.setattr(runtime, "state", look)
        seen = await look(run_id)
        assert (await runtime.stop(run_id, BY_BUDGET)).is_ended
        return seen

    monkeypatch.setattr(runtime, "state", look_just_before)
    await bot.say("U0BOB", MENTION + "and another", "C0SUPPORT", first["ts"])
    assert {state.prompt for state in await bot.runs()} == {"refund ORD-3300 180", "and another"}
    assert bot.whispers("U0BOB") == []


async def test_a_mention_in_the_thread_of_a_commands_run_belongs_to_its_conversation(
    bot: Bot,
) -> None:
    await bot.command("U0ALICE", "refund ORD-3300 180")
    _, state = await bot.waiting_run()
    (root,) = bot.sandbox.messages("C0SUPPORT")
    await bot.say("U0BOB", MENTION + "and another", "C0SUPPORT", root["ts"])
    (state,) = await bot.runs()
    assert [one.text for one in state.said] == ["and another"]


async def test_people_see_their_own_runs_and_what_waits_for_them(bot: Bot) -> None:
    await bot.command("U0ALICE", "refund ORD-3300 180")
    approval, state = await bot.waiting_run()
    for user, text in [
        ("U0ALICE", "runs"),
        ("U0ALICE", "status"),
        ("U0ALICE", f"status {state.run_id}"),
        ("U0ALICE", "pending"),
        ("U0BOB", "runs"),
        ("U0BOB", f"status {state.run_id}"),
        ("U0BOB", "pending"),
        ("U0CAROL", "pending"),
    ]:
        answers = len(bot.whispers(user)) + 1
        await bot.command(user, text)
        answered = partial(_has_heard, bot, user, answers)
        await bot.sandbox.until(answered, "it is answered")
    alices, bobs = bot.whispers("U0ALICE"), bot.whispers("U0BOB")
    assert all(state.run_id in text for text in alices[:3])
    assert "Nothing waits for you" in alices[3]
    assert "You have no runs" in bobs[0]
    assert "no run of yours" in bobs[1]
    assert approval.id in bobs[2]
    assert "Guests" in bot.whispers("U0CAROL")[0]


def _has_heard(bot: Bot, user: str, answers: int) -> bool:
    return len(bot.whispers(user)) == answers


async def test_a_message_that_comes_again_with_other_words_begins_nothing_more(bot: Bot) -> None:
    """It was edited while two processes heard it: of that another event tells."""
    said = await bot.say("U0ALICE", "refund ORD-3300 20", "D0ALICE")
    (state,) = await bot.runs()
    place = Place("T0PILOT", "D0ALICE", said["ts"])
    message = Message(
        Actor("U0ALICE", "T0PILOT"), "T0PILOT", "D0ALICE", said["ts"], None, "refund ORD-1 90", True
    )
    answer = await start_by_message(bot.services, message, "refund ORD-1 90")
    assert answer == Answer()
    assert Place.of(state.place) == place
    assert len(await bot.runs()) == 1


async def test_slack_is_let_be_with_looking_up_channels_as_long_as_it_says(bot: Bot) -> None:
    bot.sandbox.faults.add(method="conversations.info", ratelimited=True, retry_after=30)
    for text in ("refund ORD-1 1", "refund ORD-2 1"):
        await bot.command("U0ALICE", text)
    await bot.sandbox.until(lambda: _two_have_started(bot), "both have started all the same")
    assert len(bot.sandbox.calls("conversations.info")) == 1


async def _two_have_started(bot: Bot) -> bool:
    return len(await bot.runs()) == 2
