"""What Slack's own surface for agents offers: its Stop button, and what is suggested in direct messages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.ports import ThreadMessage
from agent.rules.ids import RunId
from bot.sandbox.workspace import BOT_TOKEN
from bot.slack.fields import BadPayload
from bot.slack.ids import Place
from bot.slack.native.prompts import PROMPTS, opened_conversation
from bot.slack.native.stopping import Pressed
from bot.slack.payloads import Actor
from bot.slack.subscribed import SUBSCRIBED
from tests.bot.slack.workspace import Bot

MANIFEST = yaml.safe_load((Path(__file__).parents[3] / "manifest.yml").read_text())


def test_the_manifest_makes_the_app_an_agent_that_hears_of_slacks_own_stop() -> None:
    assert MANIFEST["features"]["agent_view"]["suggested_prompts"] == list(PROMPTS)
    assert len(MANIFEST["features"]["agent_view"]["agent_description"]) <= 300
    assert "agent_session_stopped" in SUBSCRIBED
    assert "assistant:write" in MANIFEST["oauth_config"]["scopes"]["bot"]


def test_a_press_of_stop_is_read_with_its_thread_and_nothing_else_is_believed() -> None:
    event = {"channel": "D0ALICE", "user": "U0ALICE", "thread_ts": "1.000001"}
    body = {"team_id": "T0PILOT", "event": event}
    place = Place("T0PILOT", "D0ALICE", "1.000001")
    assert Pressed.parse(body) == Pressed(Actor("U0ALICE"), place, "1.000001")
    told = {**event, "streaming_message_ts": ["2.000001", 7, "x"], "event_ts": "3.000000"}
    pressed = Pressed.parse({**body, "event": told})
    assert pressed.streams == ("2.000001",)
    assert pressed.at == datetime.fromtimestamp(3, UTC)
    for name in event:
        with pytest.raises(BadPayload):
            Pressed.parse({**body, "event": {**event, name: None}})


def test_prompts_belong_to_the_conversation_and_to_no_other_tab() -> None:
    event = {"tab": "messages", "channel": "D0ALICE"}
    assert opened_conversation({"event": event}) == "D0ALICE"
    assert opened_conversation({"event": {**event, "tab": "home"}}) is None


async def waiting_thread(bot: Bot) -> tuple[str, str]:
    """Alice's direct message, whose run waits, while Slack shows that an agent is at work."""
    channel = bot.sandbox.inside.workspace.direct("U0ALICE").id
    said = await bot.say("U0ALICE", "refund ORD-3300 180", channel)
    await bot.waiting_run()
    await processing(bot, channel, said["ts"])
    return channel, str(said["ts"])


async def processing(bot: Bot, channel: str, thread_ts: str) -> None:
    """Slack shows its button."""
    said = await bot.services.slack.agents_sessions_setStatus(
        channel_id=channel, thread_ts=thread_ts, status="processing"
    )
    assert said.get("warning") is None


async def test_slacks_own_stop_stops_the_run_of_its_thread_and_says_so_to_who_pressed_it(
    bot: Bot,
) -> None:
    channel, thread_ts = await waiting_thread(bot)
    await bot.act("U0ALICE", "stop_session", channel=channel, thread_ts=thread_ts)
    (state,) = await bot.runs()
    ended = await bot.ended_run(state.run_id)
    assert ended.stop is not None
    assert ended.stop.by == "slack:T0PILOT:U0ALICE"
    await bot.whispered("U0ALICE", state.run_id)
    await processing(bot, channel, thread_ts)
    await bot.act("U0ALICE", "stop_session", channel=channel, thread_ts=thread_ts)
    await bot.whispered("U0ALICE", "no run is at work in this thread")


async def test_slacks_own_stop_ends_no_run_that_was_not_at_work_when_it_was_pressed(
    bot: Bot,
) -> None:
    channel, thread_ts = await waiting_thread(bot)
    (first,) = await bot.runs()
    inside = bot.sandbox.inside
    direct = inside.workspace.direct("U0ALICE")

    async def pressed(payload: dict[str, Any]) -> str:
        """The last that Alice is told."""
        await inside.outbox.publish_and_wait([payload])
        await bot.services.answering.drain(5)
        return str(bot.sandbox.ephemerals("U0ALICE")[-1]["text"])

    early = inside.events.session_stopped("U0ALICE", direct, thread_ts, [])
    told = await pressed(early)
    await bot.ended_run(first.run_id)
    assert await pressed(early) == told
    await bot.say("U0ALICE", "refund ORD-3300 180", channel, thread_ts=thread_ts)
    _, second = await bot.waiting_run()
    assert await pressed(early) == told
    for number, one in enumerate((first, second), 1):
        await grows(bot, one.run_id, f"{channel}/{number}.000001")
    of_first, of_second = (
        inside.events.session_stopped("U0ALICE", direct, thread_ts, [ts])
        for ts in ("1.000001", "2.000001")
    )
    assert await pressed(of_first) == told
    assert (await bot.services.runtime.state(second.run_id)).stop is None
    assert await pressed(of_second) != told
    await bot.ended_run(second.run_id)


async def grows(bot: Bot, run_id: RunId, address: str) -> None:
    """A message of the run, as the thread's drawer would note it."""
    store = bot.services.runtime.store
    term = timedelta(minutes=1)
    leases = await store.thread_leases.claim("test", term, 10)
    (lease,) = (one for one in leases if one.run_id == run_id)
    row = ThreadMessage("live:1", "posted", address, "stream:0:i", store.clock.now())
    await store.threads.save(lease, row)
    for one in leases:
        await store.thread_leases.defer(one, until=store.clock.now(), seen_seq=None)


async def test_slacks_own_stop_is_for_full_members_like_ours(bot: Bot) -> None:
    said = await bot.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", "C0SUPPORT")
    await bot.waiting_run()
    await processing(bot, "C0SUPPORT", said["ts"])
    bot.deactivate("U0ALICE")
    inside = bot.sandbox.inside
    channel = inside.workspace.channel("C0SUPPORT")
    payload = inside.events.session_stopped("U0ALICE", channel, said["ts"], [])
    await inside.outbox.publish_and_wait([payload])
    await bot.whispered("U0ALICE", "Nothing was done")
    (state,) = await bot.runs()
    assert state.stop is None


async def test_whoever_opens_the_conversation_is_told_what_may_be_said_where_slack_lets_us(
    bot: Bot,
) -> None:
    bot.sandbox.inside.tokens.add(BOT_TOKEN, MANIFEST["oauth_config"]["scopes"]["bot"])
    await bot.act("U0ALICE", "home", tab="messages")
    channel = bot.sandbox.inside.workspace.direct("U0ALICE").id

    def suggested() -> bool:
        found = bot.sandbox.inside.sessions.as_json(channel, "")["suggested_prompts"]
        return found is not None and found["prompts"] == list(PROMPTS)

    await bot.sandbox.until(suggested, "it is suggested")
    bot.sandbox.faults.add(method="assistant.threads.setSuggestedPrompts", error="feature_disabled")
    await bot.act("U0ALICE", "home", tab="messages")
    await bot.services.answering.drain(5)
    assert await bot.runs() == []
