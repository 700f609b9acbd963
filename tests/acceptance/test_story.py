"""The story over the wire: two bot processes, real WebSockets, a dead proxy in the environment."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from tests.acceptance.town import FILE_SOCKET, SERVER_HTTP, Thread, Town, action_ids, town
from tests.examples import long_only

WAYS = ("command", "mention", "direct")


async def in_each_way(place: Town, amount: str = "180") -> dict[str, tuple[Thread, str]]:
    """The same refund, started in three ways, each of its own order: order → thread, card."""
    orders = dict(zip(("ORD-3300", "ORD-3301", "ORD-3302"), WAYS, strict=True))
    found = {}
    for order, how in orders.items():
        thread = await place.start(how, f"refund {order} {amount}")
        card = await place.card(thread)
        assert action_ids(card) == [
            "approval.approve",
            "approval.deny",
            "approval.steer",
            "approval.more",
        ]
        assert "<!subteam^S0FINANCE>" in str(card["blocks"])
        for shown in (order, "$180.00", "refund $180.00 exceeds the $100 threshold"):
            assert shown in str(card["blocks"])
        found[order] = (thread, card["ts"])
    assert place.ledger() == {}
    return found


@pytest.mark.parametrize(
    ("kind", "transport"), [SERVER_HTTP, *long_only(FILE_SOCKET)], indirect=["kind"]
)
async def test_approve_deny_and_steer_end_as_they_should(
    tmp_path: Path, url: str, transport: str
) -> None:
    async with town(tmp_path, url, transport) as place:
        found = await in_each_way(place)
        for order, (thread, ts) in found.items():
            assert (await place.click("U0BOB", thread, ts, "approval.approve"))["acknowledged"]
            await place.says(thread, f"Refund of $180.00 for {order} is complete.")
            closed = await place.closed_card(thread, ts)
            assert "<@U0BOB>" in str(closed["blocks"])
            assert "<!date^" in str(closed["blocks"])
        assert place.ledger() == dict.fromkeys(found, 180.0)

        denied = await place.start("mention", "refund ORD-1 180")
        card = await place.card(denied)
        await place.click("U0BOB", denied, card["ts"], "approval.deny")
        await place.says(denied, "The refund of $180.00 for ORD-1 was denied")
        assert "ORD-1" not in place.ledger()

        await _steer(place)
        small = await place.start("mention", "refund ORD-5 50")
        await place.says(small, "Refund of $50.00 for ORD-5 is complete.")
        # Its thread holds what was said, the status and the answer: nobody was asked.
        assert len(place.thread(small)) == 3


async def _steer(place: Town) -> None:
    steered = await place.start("direct", "refund ORD-2 180")
    ts = (await place.card(steered))["ts"]
    wrong = await place.steer("U0BOB", steered, ts, amount="abc")
    assert set(wrong["errors"]) == {"arg.amount"}
    assert action_ids(place.message(steered, ts)), "nothing was decided"
    await place.act("U0BOB", "submit", view_id=wrong["view_id"], values={"arg.amount": "90"})
    await place.says(steered, "Refund of $90.00 for ORD-2 is complete.")
    closed = await place.closed_card(steered, ts)
    assert "$180.00" in str(closed["blocks"])
    assert "$90.00" in str(closed["blocks"])
    assert place.ledger()["ORD-2"] == 90.0

    guided = await place.start("mention", "refund ORD-3 180")
    ts = (await place.card(guided))["ts"]
    await place.steer("U0BOB", guided, ts, guidance="refund only 40")
    await place.says(guided, "Refund of $40.00 for ORD-3 is complete.")


@pytest.mark.parametrize(
    ("kind", "transport"),
    [FILE_SOCKET, *long_only(SERVER_HTTP, ("postgresql", "socket"))],
    indirect=["kind"],
)
async def test_a_click_after_everything_was_killed_and_started_again(
    tmp_path: Path, url: str, transport: str
) -> None:
    # A bot that begins turns deliveries away until it is ready; they come again.
    async with town(tmp_path, url, transport, allow_violations=True) as place:
        thread = await place.start("mention", "refund ORD-3300 180")
        card = await place.card(thread)
        for bot in list(place.bots):
            await place.kill(bot)
        await place.open_bots(2)
        await place.click("U0BOB", thread, card["ts"], "approval.approve")
        await place.says(thread, "Refund of $180.00 for ORD-3300 is complete.")
        await place.closed_card(thread, card["ts"])
        assert place.ledger() == {"ORD-3300": 180.0}
        (journal,) = await place.journals()
        started = [event for event in journal if event["kind"] == "call_started"]
        assert len(started) == 2, "the search was not repeated, and the refund was made once"


@pytest.mark.parametrize(
    ("kind", "transport"), [FILE_SOCKET, *long_only(SERVER_HTTP)], indirect=["kind"]
)
async def test_many_clicks_at_once_are_one_decision_and_each_clicker_is_told(
    tmp_path: Path, url: str, transport: str
) -> None:
    async with town(tmp_path, url, transport) as place:
        thread = await place.start("command", "refund ORD-3300 180")
        ts = (await place.card(thread))["ts"]
        clicks = [
            ("U0BOB", "approval.approve"),
            ("U0BOB", "approval.approve"),
            ("U0FRANK", "approval.deny"),
            ("U0FRANK", "approval.deny"),
            ("U0ALICE", "approval.approve"),
        ]
        answers = await asyncio.gather(*(place.click(u, thread, ts, a) for u, a in clicks))
        assert all(answer["acknowledged"] for answer in answers)
        closed = await place.closed_card(thread, ts)
        (journal,) = await place.journals()
        (decided,) = [event for event in journal if event["kind"] == "approval_decided"]
        winner, loser = ("U0BOB", "U0FRANK") if "U0BOB" in decided["by"] else ("U0FRANK", "U0BOB")
        assert f"<@{winner}>" in str(closed["blocks"])
        done = {"ORD-3300": 180.0} if decided["action"] == "approve" else {}
        await place.says(thread, "is complete." if done else "was denied")
        assert place.ledger() == done
        # A click is acknowledged before its answer is there.
        for clicker, count in ((loser, 2), (winner, 1), ("U0ALICE", 1)):
            await place.until(partial(_is_told, place, clicker, count), f"{clicker} is told")
        assert [text[:8] for text in place.told(loser)] == ["Too late"] * 2
        assert len(place.told(winner)) == 1, "the second of two clicks"
        assert "not the person who asked" in place.told("U0ALICE")[0]

        # A client with an old picture still shows the buttons.
        late = await place.click(loser, thread, ts, "approval.steer")
        assert late["acknowledged"]
        assert place.ledger() == done


def _is_told(place: Town, user: str, count: int) -> bool | None:
    return len(place.told(user)) >= count or None
