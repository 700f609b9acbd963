"""A run that asks something in its thread, and what becomes of that."""

from __future__ import annotations

from agent.rules.ids import ApprovalId
from agent.rules.state import RunState
from tests.bot.slack.workspace import Bot

MENTION = "<@U0PILOT> "


async def begun(bot: Bot, root: str | None = None) -> str:
    """The thread of a run, as soon as its question stands there."""
    said = await bot.say("U0ALICE", MENTION + "refund ORD-3300", "C0SUPPORT", root)
    thread = root or str(said["ts"])
    await stands(bot, 1)
    return thread


async def stands(bot: Bot, count: int) -> None:
    """So many open questions can be seen, and the bot knows where."""

    async def posted() -> bool:
        (state,) = await bot.runs()
        known = (await bot.store.threads.known(state.run_id)).messages
        open_ones = [known.get(f"approval:{one.id}") for one in state.open_approvals]
        return len([one for one in open_ones if one and one.status == "posted"]) == count

    await bot.sandbox.until(posted, f"{count} questions stand in the thread")


async def answers(bot: Bot) -> list[str | None]:
    """To each question in turn; None while it is open."""
    asked = [one for one, _ in await bot.runtime.approvals(waiting_only=False)]
    return [one.decided.text if one.decided else None for one in asked]


async def ended(bot: Bot) -> RunState:
    (state,) = await bot.runs()
    return await bot.ended_run(state.run_id)


async def second_question(bot: Bot, first: ApprovalId) -> None:
    async def asked() -> bool:
        return any(one.id != first for one, _ in await bot.runtime.approvals())

    await bot.sandbox.until(asked, "the second question")
    await stands(bot, 1)
