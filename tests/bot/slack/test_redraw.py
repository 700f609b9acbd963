"""A card that its own click redraws, while the thread's drawer draws it too."""

from __future__ import annotations

from bot.slack.ids import APPROVE
from tests.bot.slack.workspace import Bot, Json, until


async def test_a_redraw_that_lands_over_a_newer_edit_does_not_stay(drawn: Bot) -> None:
    started = await drawn.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", "C0SUPPORT")

    async def card() -> Json | None:
        thread = await drawn.look("channels/C0SUPPORT/messages", thread_ts=started["ts"])
        return next((one for one in thread if "approval.approve" in str(one)), None)

    posted = {"channel": "C0SUPPORT", "ts": (await until(card, "the card"))["ts"]}
    _, state = await drawn.waiting_run()
    await drawn.fault(method="response_url", latency=1.5)
    await drawn.click("U0BOB", posted, APPROVE)
    await drawn.ended_run(state.run_id)

    async def outcome() -> bool | None:
        return "Done <!date" in str(await drawn.message(posted)) or None

    await until(outcome, "the drawer's edit with the outcome")
    await drawn.services.answering.drain(5)
    (late,) = [one for one in await drawn.look("calls") if one.get("method") == "response_url"]
    assert "Done <!date" not in str(late["arguments"])
    await until(outcome, "the outcome, again")
    assert "Done <!date" in str(await drawn.message(posted))
