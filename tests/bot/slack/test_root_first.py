"""A command's thread is opened before its run begins: where it can't be, none does."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agent.errors import StoreUnavailable
from agent.rules.ids import Principal, RunId
from bot.slack.app import make_abandoned
from bot.slack.cards.not_started import not_opened
from bot.slack.choosing import Meant
from bot.slack.ids import Address, Place
from bot.slack.limiter import posting
from bot.slack.roots import abandoned
from bot.slack.roots import opening as opening_of
from bot.slack.roots.opening import NotOpened
from bot.slack.roots.starting import opener_for, start_in_thread_of_its_own
from bot.slack.thread.desired import Priority
from bot.slack.thread.edge import SlackThreads
from tests.bot.slack.workspace import Bot, bot_in, nobody_else_writes

ALICE = Principal("slack:T0PILOT:U0ALICE")
SUPPORT = Place("T0PILOT", "C0SUPPORT")
PROMPT = "refund ORD-3300 180"
MEANT = Meant("refunds", PROMPT)


def tops(bot: Bot, channel: str = "C0SUPPORT") -> list[dict[str, Any]]:
    return bot.sandbox.messages(channel)


async def left_open(bot: Bot) -> list[RunId]:
    return [one.run_id for one in await bot.store.openings.give_up(timedelta(), limit=9)]


async def test_the_thread_is_open_when_the_run_begins_and_all_of_it_stands_there(
    drawn: Bot,
) -> None:
    assert (await drawn.command("U0ALICE", PROMPT))["acknowledged"]
    (state,) = await drawn.runs()
    (root,) = tops(drawn)
    assert Place.of(state.place) == Place("T0PILOT", "C0SUPPORT", root["ts"])
    assert state.session == f"slack:T0PILOT:C0SUPPORT:{root['ts']}"
    assert root["metadata"]["event_payload"] == {"run_id": state.run_id, "key": "status"}
    assert await drawn.store.threads.run_at(f"C0SUPPORT/{root['ts']}") == state.run_id
    approval, _ = await drawn.waiting_run()

    def card() -> bool:
        thread = drawn.sandbox.messages("C0SUPPORT", root["ts"])
        return len(thread) == 2 and "waiting for a decision" in thread[0]["text"]

    await drawn.sandbox.until(card, f"the card of {approval.id}, and the status")
    assert len(tops(drawn)) == 1
    assert await left_open(drawn) == []


async def test_where_slack_takes_no_message_nothing_is_started_and_why_is_told(bot: Bot) -> None:
    for error, why in [
        ("not_in_channel", "/invite <@U0PILOT>"),
        ("restricted_action_read_only_channel", "may not write in this channel"),
        ("msg_too_long", "(msg_too_long)"),
    ]:
        bot.sandbox.faults.add(method="chat.postMessage", error=error, times=2)
        told = len(bot.whispers("U0ALICE"))
        await bot.command("U0ALICE", PROMPT)
        (said,) = bot.whispers("U0ALICE")[told:]
        assert said.startswith("Nothing was started: ")
        assert why in said
        bot.sandbox.faults.heal()
    assert (await bot.runs(), tops(bot), await left_open(bot)) == ([], [], [])


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("channel_not_found", "`/invite <@U0PILOT>`"),
        ("is_archived", "archived"),
        ("is_read_only", "nobody may write"),
        ("restricted_action", "I may not write in this channel"),
        ("message_blocked", "does not let me write here (message_blocked)"),
        ("unreachable", "can't be reached right now"),
    ],
)
def test_each_refusal_is_told_in_plain_words(code: str, why: str) -> None:
    said = not_opened(code, "U0PILOT")
    assert said.startswith("Nothing was started: ")
    assert why in said


async def test_what_slack_allows_in_a_moment_is_begun_then_and_what_it_puts_off_is_not(
    bot: Bot,
) -> None:
    action = posting("T0PILOT", "C0SUPPORT")
    for _ in range(4):  # All that there is at once, but for cards.
        assert not await bot.services.limiter.take(action, Priority.ANSWER)
    await bot.command("U0ALICE", "in a moment")
    assert [one.prompt for one in await bot.runs()] == ["in a moment"]
    bot.sandbox.faults.add(method="chat.postMessage", ratelimited=True, retry_after=30)
    await bot.command("U0ALICE", "put off", "C0OPS")
    assert len(await bot.runs()) == 1
    assert "write no more here just now" in bot.whispers("U0ALICE")[-1]
    assert await left_open(bot) == []


async def test_a_root_of_which_nothing_was_heard_is_found_and_not_posted_again(bot: Bot) -> None:
    bot.sandbox.faults.add(method="chat.postMessage", drop_after_commit=True)
    await bot.command("U0ALICE", PROMPT)
    (state,) = await bot.runs()
    (root,) = tops(bot)
    assert Place.of(state.place) == Place("T0PILOT", "C0SUPPORT", root["ts"])
    assert len(bot.sandbox.calls("chat.postMessage")) == 1


async def test_where_slack_is_away_nothing_is_started_and_that_is_told(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening_of, "BELIEVED_AFTER_LOSS", timedelta())
    bot.sandbox.faults.add(method="chat.postMessage", status=503)
    await bot.command("U0ALICE", PROMPT)
    assert "Slack did not answer" in bot.whispers("U0ALICE")[-1]
    assert (await bot.runs(), tops(bot)) == ([], [])
    # It might come yet.
    assert len(await left_open(bot)) == 1


async def test_while_the_store_is_away_nothing_is_posted(sandbox: Any, tmp_path: Path) -> None:
    async with bot_in(sandbox, tmp_path, store_patience=timedelta(seconds=0.1)) as bot:
        with nobody_else_writes(tmp_path):
            await bot.command("U0ALICE", PROMPT)
            assert "our store can't be reached" in bot.whispers("U0ALICE")[-1]
        assert (await bot.runs(), tops(bot)) == ([], [])


async def test_where_the_store_does_not_say_that_a_run_has_begun_its_thread_is_not_taken_back(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer to the commit was lost."""
    start = bot.store.journal.start

    async def lost(*args: Any, **also: Any) -> RunId:
        await start(*args, **also)
        raise StoreUnavailable("the connection was lost")

    monkeypatch.setattr(bot.store.journal, "start", lost)
    await bot.command("U0ALICE", PROMPT)
    (state,) = await bot.runs()
    (root,) = tops(bot)
    assert await bot.store.threads.run_at(f"C0SUPPORT/{root['ts']}") == state.run_id
    assert bot.whispers("U0ALICE") == []
    with pytest.raises(StoreUnavailable):
        await start_in_thread_of_its_own(bot.services, MEANT, ALICE, SUPPORT, None)
    assert (len(tops(bot)), await left_open(bot)) == (2, [])


async def test_where_the_store_stays_away_behind_a_start_nobody_says_that_nothing_was_started(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, lists = bot.store.journal.start, bot.store.lists

    async def away(*_: Any, **__: Any) -> RunId:
        raise StoreUnavailable("the connection was lost")

    async def lost(*args: Any, **also: Any) -> RunId:
        await start(*args, **also)
        monkeypatch.setattr(type(lists), "run_of_key", away)
        return await away()

    monkeypatch.setattr(bot.store.journal, "start", lost)
    await bot.command("U0ALICE", PROMPT)
    (told,) = bot.whispers("U0ALICE")
    assert told.startswith("I can't say whether your run has started: our store can't be reached")
    assert (len(await bot.runs()), len(tops(bot))) == (1, 1)


async def test_a_thread_that_may_be_open_is_left_to_others_by_whoever_was_frozen_too_long(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opener = opener_for(bot.services, MEANT, ALICE, SUPPORT)
    bot.sandbox.faults.add(method="chat.postMessage", drop_after_commit=True)
    post = SlackThreads.post

    async def frozen(*args: Any, **also: Any) -> Any:
        try:
            return await post(*args, **also)
        finally:
            opener.asking.guard.lose()

    monkeypatch.setattr(SlackThreads, "post", frozen)
    with pytest.raises(NotOpened):
        await opener.post()
    assert len(tops(bot)) == 1
    assert await left_open(bot) == [opener.run_id]


async def test_a_command_that_is_delivered_twice_at_once_is_one_run_in_one_thread(
    bot: Bot,
) -> None:
    start = partial(start_in_thread_of_its_own, bot.services, MEANT, ALICE, SUPPORT, "command:1")
    # So that both open a thread: one that comes when the other has begun finds that run, and posts nothing.
    bot.sandbox.faults.add(method="chat.postMessage", latency=1.0, times=2)
    begun = await asyncio.gather(start(), start())
    (state,) = await bot.runs()
    assert set(begun) == {state.run_id, await start()}
    (root,) = tops(bot)
    assert root["metadata"]["event_payload"]["run_id"] == state.run_id
    assert await left_open(bot) == []


async def test_of_a_run_that_was_not_begun_its_thread_says_so(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever was to begin it has died."""
    opener = opener_for(bot.services, MEANT, ALICE, SUPPORT)
    run_id, root = opener.run_id, await opener.post()
    seeing = make_abandoned(bot.services)
    await seeing.see_to_all()
    assert PROMPT in tops(bot)[0]["text"]
    assert await bot.store.openings.is_open(run_id)
    monkeypatch.setattr(abandoned, "GIVEN_UP_AFTER", timedelta())
    bot.sandbox.faults.add(method="chat.update", status=503)
    await seeing.see_to_all()
    assert PROMPT in tops(bot)[0]["text"]
    assert await left_open(bot) == [run_id]
    await seeing.see_to_all()
    (said,) = tops(bot)
    assert "Not started" in said["text"]
    assert "actions" not in [block["type"] for block in said["blocks"]]
    assert await left_open(bot) == []
    # Whoever asks there begins a conversation.
    ts = Address.of(root.address or "").ts
    await bot.say("U0ALICE", "<@U0PILOT> " + PROMPT, "C0SUPPORT", ts)
    assert [one.session for one in await bot.runs()] == [f"slack:T0PILOT:C0SUPPORT:{ts}"]


async def test_where_nothing_was_posted_for_a_run_that_was_not_begun_nothing_is_kept(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever was to has died before Slack had heard of it; or the channel is gone."""
    monkeypatch.setattr(abandoned, "GIVEN_UP_AFTER", timedelta())
    seeing = make_abandoned(bot.services)
    await bot.store.openings.begin(RunId("run_1"), str(SUPPORT))
    await seeing.see_to_all()
    assert await left_open(bot) == []
    await bot.store.openings.begin(RunId("run_2"), "slack:T0PILOT/C0GONE/")
    await seeing.see_to_all()
    assert await left_open(bot) == []


async def test_those_that_can_not_be_seen_to_now_keep_nobody_else_waiting(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(abandoned, "GIVEN_UP_AFTER", timedelta())
    monkeypatch.setattr(abandoned, "_AT_ONCE", 2)
    seeing, openings = make_abandoned(bot.services), bot.store.openings
    for number in range(4):
        await openings.begin(RunId(f"run_{number}"), str(SUPPORT))
    bot.sandbox.faults.add(method="conversations.history", status=503, times=2)
    for left in (["run_0", "run_1", "run_2", "run_3"], ["run_0", "run_1"], []):
        await seeing.see_to_all()
        assert await left_open(bot) == left
