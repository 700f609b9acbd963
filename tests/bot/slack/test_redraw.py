"""A card that its own click redraws, while the thread's drawer draws it too."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from bot.slack.cards.refusals import NOT_ON_THIS_MESSAGE
from bot.slack.ids import APPROVE, DENY
from bot.slack.thread import editing
from tests.bot.slack.workspace import Bot, Json


async def asked(drawn: Bot) -> Json:
    """Where a card stands that waits for a click."""
    started = await drawn.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", "C0SUPPORT")

    def card() -> Json | None:
        thread = drawn.sandbox.messages("C0SUPPORT", started["ts"])
        return next((one for one in thread if "approval.approve" in str(one)), None)

    found = await drawn.sandbox.until(card, "the card")
    return {"channel": "C0SUPPORT", "ts": found["ts"]}


def edits_of(drawn: Bot, posted: Json) -> list[Json]:
    """The card's, by whoever draws the thread."""
    return [
        one for one in drawn.sandbox.calls("chat.update") if one["arguments"]["ts"] == posted["ts"]
    ]


async def test_a_card_that_its_click_has_redrawn_is_not_edited_as_well(drawn: Bot) -> None:
    """Slack allows few edits, and this one would show nothing new."""
    posted = await asked(drawn)
    _, state = await drawn.waiting_run()
    await drawn.click("U0BOB", posted, DENY)
    ended = await drawn.ended_run(state.run_id)

    async def is_shown() -> bool:
        return (await drawn.store.threads.known(ended.run_id)).shown_seq == ended.seq

    await drawn.sandbox.until(is_shown, "all of it is shown")
    assert "Denied" in str(await drawn.message(posted))
    assert edits_of(drawn, posted) == []


async def test_a_card_of_which_the_process_dies_that_was_to_redraw_it_is_edited_in_a_moment(
    drawn: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    posted = await asked(drawn)

    async def dies(url: str, message: dict[str, Any]) -> bool:
        raise asyncio.CancelledError

    monkeypatch.setattr(editing, "_LEFT_FOR", timedelta(seconds=0.2))
    monkeypatch.setattr(drawn.services.response_urls, "send", dies)
    await drawn.click("U0BOB", posted, DENY)

    async def is_shown() -> bool:
        return "Denied" in str(await drawn.message(posted))

    await drawn.sandbox.until(is_shown, "the drawer's edit")
    assert drawn.sandbox.calls("response_url") == []


async def test_a_redraw_that_lands_over_a_newer_edit_does_not_stay(
    drawn: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It is waited for no longer.
    monkeypatch.setattr(editing, "_LEFT_FOR", timedelta())
    posted = await asked(drawn)
    _, state = await drawn.waiting_run()
    drawn.sandbox.faults.add(method="response_url", latency=1.5)
    await drawn.click("U0BOB", posted, APPROVE)
    await drawn.ended_run(state.run_id)

    async def outcome() -> bool:
        return "Done <!date" in str(await drawn.message(posted))

    await drawn.sandbox.until(outcome, "the drawer's edit with the outcome")
    await drawn.services.answering.drain(5)
    (late,) = drawn.sandbox.calls("response_url")
    assert "Done <!date" not in str(late["arguments"])
    await drawn.sandbox.until(outcome, "the outcome, again")
    assert "Done <!date" in str(await drawn.message(posted))


async def test_that_a_card_is_redrawn_is_written_down_before_it_is_sent(
    drawn: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that it is drawn again also where whoever sends it dies meanwhile."""
    posted = await asked(drawn)
    run_id = (await drawn.waiting_run())[1].run_id
    meanwhile: list[str] = []

    async def dies(url: str, message: dict[str, Any]) -> bool:
        known = await drawn.store.threads.known(run_id)
        meanwhile.extend(
            one.status for key, one in known.messages.items() if key.startswith("approval:")
        )
        raise asyncio.CancelledError

    monkeypatch.setattr(drawn.services.response_urls, "send", dies)
    await drawn.click("U0BOB", posted, APPROVE)
    await drawn.sandbox.until(lambda: meanwhile, "the redrawing")
    assert meanwhile == ["editing"]


async def test_a_redraw_of_which_nothing_is_heard_is_drawn_over_when_it_is_given_up(
    drawn: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have landed over what the drawer has sent meanwhile."""
    posted = await asked(drawn)
    run_id = (await drawn.waiting_run())[1].run_id

    async def is_lost(url: str, message: dict[str, Any]) -> bool:
        return False

    monkeypatch.setattr(drawn.services.response_urls, "send", is_lost)
    await drawn.click("U0BOB", posted, APPROVE)

    async def is_doubted() -> bool:
        known = await drawn.store.threads.known(run_id)
        doubts = [one.doubts for key, one in known.messages.items() if key.startswith("approval:")]
        return doubts == [2]

    await drawn.sandbox.until(is_doubted, "a doubt beside the announcement's")


async def test_a_click_on_the_card_of_another_run_decides_and_shows_nothing(drawn: Bot) -> None:
    """Whoever clicked has not seen there what the value names."""
    others = await asked(drawn)
    (other,) = await drawn.waiting_runs(1)
    await asked(drawn)
    waiting = await drawn.waiting_runs(2)
    ((approval, _),) = [one for one in waiting if one[0].id != other[0].id]
    await drawn.click("U0BOB", others, APPROVE, value=approval.id)
    await drawn.whispered("U0BOB", NOT_ON_THIS_MESSAGE)
    await drawn.services.answering.drain(5)
    assert len(await drawn.waiting_runs(2)) == 2
    assert APPROVE in str(await drawn.message(others))
