"""An Approve that Slack did not send decides nothing, and one that comes again nothing more."""

from __future__ import annotations

import json
import time
from urllib.parse import urlencode

from bot.sandbox.delivery import interactive
from bot.sandbox.delivery.http import signature
from bot.slack.ids import APPROVE, DENY
from tests.bot.slack.test_requests import post, served
from tests.bot.slack.workspace import Bot, Json

STALE_SECONDS = 301


def now(seconds: int = 0) -> str:
    return str(int(time.time()) + seconds)


async def approve(bot: Bot, card: Json) -> bytes:
    """The body of Bob's click, as Slack would send it."""
    inside = bot.sandbox.inside
    message = await bot.message(card)
    (row,) = [block for block in message["blocks"] if block["type"] == "actions"]
    button = next(one for one in row["elements"] if one["action_id"] == APPROVE)
    payload = interactive.message_click(
        inside.workspace.users["U0BOB"],
        interactive.in_message(inside.workspace.channels[card["channel"]], message),
        {**button, "block_id": row["block_id"], "action_ts": "1.1"},
        trigger_id=inside.triggers.issue("U0BOB"),
        response_url="http://127.0.0.1:9/response/x",
        values={},
    )
    return urlencode({"payload": json.dumps(payload)}).encode()


async def test_only_slack_now_decides_and_only_once(bot: Bot) -> None:
    await bot.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", "C0SUPPORT")
    card, approval, state = await bot.post_card()
    body = await approve(bot, card)
    forged = {
        "another secret": {"signed": signature(now(), body, "not-the-secret")},
        "another body": {"signed": signature(now(), body + b"&a=b")},
        "another time": {"signed": signature(now(-10), body)},
        "no signature": {"signed": ""},
        "five minutes ago": {"timestamp": now(-STALE_SECONDS)},
        # The time that it takes to get there brings it nearer.
        "in six minutes": {"timestamp": now(STALE_SECONDS + 60)},
        "no time": {"timestamp": ""},
        "not a time": {"timestamp": "yesterday"},
        "an endless time": {"timestamp": "9" * 400},
        "no whole time": {"timestamp": f"{time.time()}"},
    }
    async with served(bot) as address:
        for name, wrong in forged.items():
            status, _ = await post(bot, address, body, **wrong)
            assert status == 401, name
        await bot.services.answering.drain(5)
        assert [one.id for one, _ in await bot.runtime.approvals()] == [approval.id]
        assert bot.whispers("U0BOB") == []

        assert await post(bot, address, body) == (200, "")
        ended = await bot.ended_run(state.run_id)
        before = await bot.store.journal.read(state.run_id)
        # The same click, signed anew within the five minutes.
        assert await post(bot, address, body, timestamp=now(60)) == (200, "")
        await bot.whispered("U0BOB", "Your decision stands: ")
        assert await bot.store.journal.read(state.run_id) == before
        assert [call.attempts for call in ended.calls.values()] == [1]


async def test_what_the_clicked_message_does_not_show_is_not_decided_by_it(bot: Bot) -> None:
    await bot.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", "C0SUPPORT")
    card, shown, _ = await bot.post_card()
    await bot.say("U0ALICE", "<@U0PILOT> refund ORD-3301 190", "C0SUPPORT")
    waiting = await bot.waiting_runs(2)
    (other,) = [one.id for one, _ in waiting if one.id != shown.id]
    for action in (APPROVE, DENY):
        await bot.click("U0BOB", card, action, value=other)
    await bot.sandbox.until(lambda: len(bot.whispers("U0BOB")) == 2, "both are answered")
    assert all("this is not on what you clicked" in one for one in bot.whispers("U0BOB"))
    # Whoever may not decide it learns nothing of it.
    await bot.click("U0ALICE", card, APPROVE, value=other)
    assert "what you clicked" not in await bot.whispered("U0ALICE", "Not decided: ")
    assert len(await bot.runtime.approvals()) == 2
