"""Which conversation a reply belongs to, also where the store does not know the thread."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.rules.ids import Principal, RunId, SessionId
from bot.slack.answering import SendAgain
from bot.slack.choosing import Meant
from bot.slack.ids import METADATA_TYPE, Place
from bot.slack.last_resort import last_resort
from bot.slack.messages import Message
from bot.slack.payloads import Actor
from bot.slack.roots import sessions
from bot.slack.roots.sessions import session_of
from bot.slack.roots.starting import opener_for
from bot.slack.wishes import answer_message
from tests.bot.slack.workspace import Bot

ALICE = Principal("slack:T0PILOT:U0ALICE")
BOT = "U0PILOT"


async def posted(bot: Bot, run_id: str) -> str:
    """A message of ours, as one that is of this run; nobody wrote down where it stands."""
    payload = {"run_id": run_id, "key": "status"}
    said = await bot.services.slack.chat_postMessage(
        channel="C0SUPPORT",
        text="status",
        metadata={"event_type": METADATA_TYPE, "event_payload": payload},
    )
    return str(said["ts"])


def reply(root_ts: str, *, parent_user: str | None = BOT) -> Message:
    alice = Actor("U0ALICE", "T0PILOT")
    message = Message(alice, "T0PILOT", "C0SUPPORT", "99999999999.000001", root_ts, "and?", False)
    return replace(message, parent_user=parent_user)


async def session(bot: Bot, message: Message) -> SessionId:
    return await session_of(bot.services, message, Place("T0PILOT", "C0SUPPORT", message.thread))


def of_thread(ts: str) -> str:
    return f"slack:T0PILOT:C0SUPPORT:{ts}"


def asked(bot: Bot) -> int:
    return len(bot.sandbox.calls("conversations.replies"))


async def begun_elsewhere(bot: Bot) -> RunId:
    """As an earlier version began what a command asked for: where its thread would be was not known yet."""
    place = str(Place("T0PILOT", "C0SUPPORT"))
    return await bot.runtime.start("refund ORD-3300 180", requester=ALICE, place=place)


async def test_a_thread_that_the_store_does_not_know_is_told_by_its_root_once(bot: Bot) -> None:
    run_id = await begun_elsewhere(bot)
    ts = await posted(bot, run_id)
    theirs = (await bot.runtime.state(run_id)).session
    assert await session(bot, reply(ts)) == theirs
    assert await session(bot, reply(ts, parent_user=None)) == theirs
    assert asked(bot) == 1
    await bot.say("U0ALICE", "<@U0PILOT> and another", "C0SUPPORT", ts)
    assert len(await bot.runs()) == 1


async def test_what_is_not_of_a_run_of_ours_is_a_conversation_of_its_own(bot: Bot) -> None:
    run_id = await begun_elsewhere(bot)
    other = await posted(bot, run_id)
    bot.sandbox.inside.messages.change("C0SUPPORT", other, bot_id="B0OTHER", user="U0OTHER")
    said = await bot.say("U0ALICE", "hello", "C0SUPPORT")
    for ts in (other, await posted(bot, "run_gone"), said["ts"]):
        assert await session(bot, reply(ts, parent_user=None)) == of_thread(ts)
    assert asked(bot) == 3
    # What people opened needs no question where Slack says so, nor what has a conversation already.
    lunch = await bot.say("U0ALICE", "lunch?", "C0SUPPORT")
    assert await session(bot, reply(lunch["ts"], parent_user="U0ALICE")) == of_thread(lunch["ts"])
    first = await bot.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", "C0SUPPORT")
    assert await session(bot, reply(first["ts"], parent_user=None)) == of_thread(first["ts"])
    assert asked(bot) == 3


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 503},
        {"error": "internal_error"},
        {"error": "service_unavailable"},
        {"ratelimited": True, "retry_after": 1},
        {"latency": 0.3},
    ],
    ids=str,
)
async def test_while_slack_can_not_be_asked_nothing_begins_and_the_message_comes_again(
    bot: Bot, monkeypatch: pytest.MonkeyPatch, fault: dict[str, Any]
) -> None:
    monkeypatch.setattr(sessions, "ASK_SECONDS", 0.1)
    ts = await posted(bot, await begun_elsewhere(bot))
    bot.sandbox.faults.add(method="conversations.replies", **fault)
    with pytest.raises(SendAgain):
        await session(bot, reply(ts))


async def test_where_slack_does_not_let_us_look_the_thread_is_taken_for_somebody_elses_until_it_does(
    bot: Bot,
) -> None:
    run_id = await begun_elsewhere(bot)
    ts = await posted(bot, run_id)
    bot.sandbox.faults.add(method="conversations.replies", error="not_in_channel")
    assert await session(bot, reply(ts)) == of_thread(ts)
    # What people say to each other is not asked about again; who speaks to us may have invited us.
    aside = replace(reply(ts), is_aside=True)
    assert await session(bot, aside) == of_thread(ts)
    assert asked(bot) == 1
    assert await session(bot, reply(ts)) == (await bot.runtime.state(run_id)).session


async def test_a_reply_that_comes_before_the_run_of_its_thread_has_begun_waits_for_it(
    bot: Bot,
) -> None:
    opener = opener_for(
        bot.services, Meant("refunds", "refund"), ALICE, Place("T0PILOT", "C0SUPPORT")
    )
    run_id, root = opener.run_id, await opener.post()
    ts = str(root.address).partition("/")[2]
    inside = bot.sandbox.inside
    channel = inside.workspace.channels["C0SUPPORT"]
    said, _ = inside.posting.say(
        inside.workspace.users["U0BOB"], channel, "<@U0PILOT> and another", [], ts
    )
    mention = inside.events.mention(channel, said)
    message = Message.parse(mention)
    assert message is not None
    with pytest.raises(SendAgain) as met:
        await answer_message(bot.services, message)
    assert last_resort(bot.services, mention, met.value).status == 503
    await bot.runtime.start(
        "refund",
        requester=ALICE,
        session=SessionId(of_thread(ts)),
        place=str(Place("T0PILOT", "C0SUPPORT", ts)),
        run_id=run_id,
        root=root,
    )
    assert (await inside.outbox.publish_and_wait([mention])).reply.acknowledged
    (state,) = await bot.runs()
    assert [one.text for one in state.said] == ["and another"]
