"""Questions that are put elsewhere than in the thread: decided there, and the same everywhere."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agent import Policy
from bot.sandbox.opened import OpenSandbox
from bot.slack import intervening, overview
from bot.slack.ids import APPROVE, APPROVE_ALL, DENY, RUN_HOLD, numbered
from bot.slack.payloads import Actor
from bot.slack.thread.cards_of import is_card_of
from bot.slack.thread.keys import place_key
from tests.bot.slack.agents import refunds, several_refunds
from tests.bot.slack.workspace import Json, bot_in, drawing
from tests.store.database import ask

BOB, FRANK = Actor("U0BOB", "T0PILOT"), Actor("U0FRANK", "T0PILOT")


def asking(card: str, notify: str = "mention") -> Policy:
    """Finance is asked there."""
    rule: dict[str, Any] = {"tool": "process_refund", "action": "ask"}
    rule |= {"card": card, "notify": notify}
    return Policy.model_validate({"rules": [{**rule, "approvers": {"groups": ["S0FINANCE"]}}]})


def card_in(sandbox: OpenSandbox, channel: str) -> Json | None:
    found = (one for one in sandbox.messages(channel) if APPROVE in str(one))
    return next(({"channel": channel, "ts": one["ts"]} for one in found), None)


@pytest.mark.parametrize(("card", "places"), [("C0OPS", ["C0OPS"]), ("dm", ["D0BOB", "D0FRANK"])])
async def test_a_click_there_decides_and_every_place_shows_it(
    sandbox: OpenSandbox, tmp_path: Any, card: str, places: list[str]
) -> None:
    agent = refunds(asking(card))
    async with bot_in(sandbox, tmp_path, agent=agent) as bot, drawing(bot):
        started = await bot.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", "C0SUPPORT")
        cards: list[Json] = [
            await sandbox.until(partial(card_in, sandbox, place), f"a card in {place}")
            for place in places
        ]
        _, state = await bot.waiting_run()

        def pointer() -> bool:
            thread = sandbox.messages("C0SUPPORT", started["ts"])
            return any("waits for a decision in" in one["text"] for one in thread)

        await sandbox.until(pointer, "the thread says where")
        for one, actor in zip(cards, (BOB, FRANK), strict=False):
            told = (await overview.pending(bot.services, actor)).text
            assert f"archives/{one['channel']}/p{one['ts'].replace('.', '')}|look at it" in told
        assert (await bot.click("U0BOB", cards[0], APPROVE))["acknowledged"]
        await bot.ended_run(state.run_id)

        def is_shown() -> bool:
            thread = sandbox.messages("C0SUPPORT", started["ts"])
            elsewhere = [m for place in places for m in sandbox.messages(place)]
            shown = [m for m in (*thread, *elsewhere) if "Approved* by <@U0BOB>" in str(m)]
            return len(shown) == len(places) + 1 and "its thread" in str(elsewhere)

        await sandbox.until(is_shown, "every place shows it")
        assert not any(card_in(sandbox, place) for place in (*places, "C0SUPPORT"))
        approval_id, clicked = next(iter(state.approvals)), places[0].replace("D0", "U0")
        rows = (await bot.store.threads.known(state.run_id)).messages
        announced = [
            key for key, row in rows.items() if row.doubts and is_card_of(approval_id, state)(key)
        ]
        assert announced == [place_key(approval_id, clicked)]
        assert bot.whispers("U0BOB") == []


@pytest.mark.parametrize(
    ("card", "place", "to_us"), [("C0OPS", "C0OPS", True), ("dm", "D0BOB", False)]
)
async def test_what_is_said_below_a_card_there_is_not_said_in_its_run_s_conversation(
    sandbox: OpenSandbox, tmp_path: Any, card: str, place: str, to_us: bool
) -> None:
    """Whoever may decide is not in it: they would be answered out of it, and the next run would know all of it."""
    agent = refunds(asking(card))
    async with bot_in(sandbox, tmp_path, agent=agent) as bot, drawing(bot):
        await bot.say("U0ALICE", "refund ORD-3300 180", "D0ALICE")
        there = await sandbox.until(partial(card_in, sandbox, place), f"a card in {place}")
        mention = "<@U0PILOT> " if to_us else ""

        def is_told(times: int) -> bool:
            said = (*bot.whispers("U0BOB"), *map(str, sandbox.messages(place, there["ts"])))
            told = ["what is written below its card is said to nobody" in one for one in said]
            return sum(told) == times

        for times, text in enumerate(("what else did she ask for?", "stop"), 1):
            await bot.say("U0BOB", mention + text, place, there["ts"])
            await sandbox.until(partial(is_told, times), f"Bob is told {times} times")
        (state,) = await bot.runs()
        assert (state.said, state.stop) == ((), None)
        await bot.click("U0BOB", there, APPROVE)
        await bot.ended_run(state.run_id)
        await bot.say("U0BOB", f"{mention}refund ORD-3301 80", place, there["ts"])
        assert len(await bot.runs()) == 1


@pytest.mark.parametrize(("card", "places"), [("C0OPS", ["C0OPS"]), ("dm", ["D0BOB", "D0FRANK"])])
async def test_several_calls_on_one_card_there_are_decided_one_by_one_or_all(
    sandbox: OpenSandbox, tmp_path: Path, card: str, places: list[str]
) -> None:
    agent = several_refunds(3, asking(card))
    async with bot_in(sandbox, tmp_path, agent=agent) as bot, drawing(bot):
        await bot.say("U0ALICE", "<@U0PILOT> refund all of it", "C0SUPPORT")
        cards: list[Json] = [
            await sandbox.until(partial(card_in, sandbox, place), f"a card in {place}")
            for place in places
        ]
        assert [len(sandbox.messages(place)) for place in places] == [1] * len(places)
        _, state = (await bot.waiting_runs(3))[0]
        at = f"archives/{cards[0]['channel']}/p{cards[0]['ts'].replace('.', '')}|look at it"

        async def is_linked() -> bool:
            return (await overview.pending(bot.services, BOB)).text.count(at) == 3

        await sandbox.until(is_linked, "each leads there")
        await bot.click("U0BOB", cards[0], numbered(DENY, 1))

        def shows(words: str) -> bool:
            return all(words in str(sandbox.messages(place)) for place in places)

        await sandbox.until(partial(shows, "2 of 3 actions to decide"), "every place shows it")
        await bot.click("U0BOB", cards[0], APPROVE_ALL)
        await sandbox.until(lambda: bot.view("U0BOB"), "the list is open")
        await bot.submit("U0BOB")
        ended = await bot.ended_run(state.run_id)
        outcomes = [call.result.outcome for call in ended.calls.values() if call.result]
        assert outcomes == ["denied", "ok", "ok"]
        await sandbox.until(partial(shows, "none left to decide"), "every place shows it")
        assert not any(card_in(sandbox, place) for place in places)


async def test_of_a_run_in_a_direct_message_those_who_are_told_directly_decide_where_they_are(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    agent = refunds(asking("thread", "dm"))
    async with bot_in(sandbox, tmp_path, agent=agent) as bot, drawing(bot):
        said = await bot.say("U0ALICE", "refund ORD-3300 180", "D0ALICE")
        cards = {
            place: await sandbox.until(partial(card_in, sandbox, place), f"a card in {place}")
            for place in ("D0BOB", "D0FRANK")
        }
        _, state = await bot.waiting_run()
        at = f"archives/D0BOB/p{cards['D0BOB']['ts'].replace('.', '')}|look at it"
        assert at in (await overview.pending(bot.services, BOB)).text
        assert (await bot.click("U0BOB", cards["D0BOB"], APPROVE))["acknowledged"]
        await bot.ended_run(state.run_id)

        def is_shown() -> bool:
            places = [sandbox.messages("D0ALICE", said["ts"]), *map(sandbox.messages, cards)]
            return all("*Approved* by <@U0BOB>" in str(one) for one in places)

        await sandbox.until(is_shown, "every place shows it")
        assert not any(card_in(sandbox, place) for place in cards)
        approval_id = next(iter(state.approvals))
        rows = (await bot.store.threads.known(state.run_id)).messages
        announced = [
            key for key, row in rows.items() if row.doubts and is_card_of(approval_id, state)(key)
        ]
        assert announced == [place_key(approval_id, "U0BOB")]


@pytest.mark.parametrize(
    ("card", "where"), [("C0OPS", "another channel"), ("dm", "direct messages")]
)
async def test_whoever_pauses_the_run_is_not_shown_a_card_below_that_stands_elsewhere(
    sandbox: OpenSandbox, tmp_path: Path, card: str, where: str
) -> None:
    async with bot_in(sandbox, tmp_path, agent=refunds(asking(card))) as bot, drawing(bot):
        said = await bot.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", "C0SUPPORT")

        def status() -> Json | None:
            thread = sandbox.messages("C0SUPPORT", said["ts"])
            found = (one for one in thread if f"card in {where}" in str(one))
            return next(({"channel": "C0SUPPORT", "ts": one["ts"]} for one in found), None)

        await bot.click("U0ALICE", await sandbox.until(status, "the status says where"), RUN_HOLD)
        await bot.services.answering.drain(5)
        redrawn = [str(one["arguments"]) for one in sandbox.calls("response_url")]
        assert ["Paused by" in one and f"card in {where}" in one for one in redrawn] == [True]


async def test_a_status_of_which_the_store_does_not_tell_where_its_cards_are_is_redrawn_later(
    sandbox: OpenSandbox, tmp_path: Path
) -> None:
    async with bot_in(sandbox, tmp_path, agent=refunds(asking("C0OPS"))) as bot:
        await bot.command("U0ALICE", "refund ORD-3300 180")
        _, state = await bot.waiting_run()

        ask(bot.url, "ALTER TABLE thread_messages RENAME TO gone")
        answer = await intervening.act_in_words(bot.services, BOB, "pause", state.run_id)
        assert answer.text.startswith("Paused: ")
