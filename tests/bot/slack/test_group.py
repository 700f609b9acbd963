"""Several calls of one reply on one card: clicked one by one, and each decided by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.rules.state import RunState
from bot.sandbox.opened import OpenSandbox
from bot.slack import overview
from bot.slack.ids import APPROVE, DENY, MORE, STEER, numbered
from bot.slack.payloads import Actor
from tests.bot.slack.agents import several_refunds
from tests.bot.slack.workspace import Bot, Json, bot_in, drawing

BOB = Actor("U0BOB", "T0PILOT")


@pytest.fixture
async def drawn(sandbox: OpenSandbox, tmp_path: Path) -> AsyncIterator[Bot]:
    async with bot_in(sandbox, tmp_path, agent=several_refunds(3)) as bot, drawing(bot):
        yield bot


async def asked(bot: Bot) -> tuple[Json, RunState]:
    """The card on which finance is asked, and its run."""
    started = await bot.say("U0ALICE", "<@U0PILOT> refund all of it", "C0SUPPORT")
    _, state = (await bot.waiting_runs(3))[0]

    def found() -> Json | None:
        thread = bot.sandbox.messages("C0SUPPORT", started["ts"])
        cards = [one for one in thread if numbered(APPROVE, 3) in str(one)]
        return {"channel": "C0SUPPORT", "ts": cards[0]["ts"]} if cards else None

    return await bot.sandbox.until(found, "the card is posted"), state


async def shows(bot: Bot, card: Json, *parts: str, without: str = "nothing at all") -> Json:
    async def found() -> Json | None:
        message = await bot.message(card)
        is_so = all(part in str(message) for part in parts) and without not in str(message)
        return message if is_so else None

    return await bot.sandbox.until(found, f"the card shows {parts}")


def outcomes(state: RunState) -> list[str]:
    return [call.result.outcome for call in state.calls.values() if call.result]


async def test_each_is_decided_by_its_own_buttons_and_the_others_wait(drawn: Bot) -> None:
    card, state = await asked(drawn)
    assert (await drawn.click("U0BOB", card, numbered(APPROVE, 1)))["acknowledged"]
    await shows(
        drawn, card, "Approved* by <@U0BOB>", numbered(APPROVE, 2), without=numbered(DENY, 1)
    )
    assert (await drawn.click("U0BOB", card, numbered(DENY, 2)))["acknowledged"]
    await shows(drawn, card, "1 of 3 actions to decide", numbered(DENY, 3))
    await drawn.click("U0BOB", card, numbered(STEER, 3))
    assert (await drawn.submit("U0BOB", **{"arg.amount": "90"}))["acknowledged"]
    ended = await drawn.ended_run(state.run_id)
    assert outcomes(ended) == ["ok", "denied", "ok"]
    await shows(drawn, card, "none left to decide", "$180.00 → $90.00", without="approval.")
    assert drawn.whispers("U0BOB") == []


async def test_the_menu_of_each_is_its_own(drawn: Bot) -> None:
    card, state = await asked(drawn)
    second = list(state.approvals)[1]
    chosen = f"deny_reason|{second}"
    await drawn.click("U0BOB", card, numbered(MORE, 2), selected=chosen)
    assert (await drawn.submit("U0BOB", reason="not this one"))["acknowledged"]
    await shows(drawn, card, "not this one", numbered(APPROVE, 3), without=numbered(APPROVE, 2))


async def test_a_click_on_what_was_decided_says_by_whom_and_decides_nothing_else(
    drawn: Bot,
) -> None:
    card, _ = await asked(drawn)
    await drawn.click("U0FRANK", card, numbered(DENY, 1))
    await shows(drawn, card, "Denied* by <@U0FRANK>")
    await drawn.click("U0BOB", card, numbered(APPROVE, 1))
    assert "<@U0FRANK> denied this" in await drawn.whispered("U0BOB", "Too late")
    assert len(await drawn.waiting_runs(2)) == 2


async def test_who_may_not_decide_is_told_so_and_the_card_stays(drawn: Bot) -> None:
    card, _ = await asked(drawn)
    await drawn.click("U0ALICE", card, numbered(APPROVE, 2))
    assert "can decide this" in await drawn.whispered("U0ALICE", "Not decided")
    assert numbered(APPROVE, 2) in str(await drawn.message(card))
    assert len(await drawn.waiting_runs(3)) == 3


async def test_the_list_of_what_waits_leads_to_the_card_from_each_of_them(drawn: Bot) -> None:
    card, _ = await asked(drawn)
    link = f"archives/C0SUPPORT/p{card['ts'].replace('.', '')}|look at it"

    async def is_linked() -> bool:
        return (await overview.pending(drawn.services, BOB)).text.count(link) == 3

    await drawn.sandbox.until(is_linked, "each has a link")
