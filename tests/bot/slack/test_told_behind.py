"""What the agent is told behind later words is marked so, also where another process told those meanwhile."""

from __future__ import annotations

from dataclasses import replace

from bot.slack.conversation.following import follow
from bot.slack.quoting.told import LATE
from tests.bot.slack.talking import begun, message_at, said, say, the_run
from tests.bot.slack.workspace import Bot


async def test_what_was_overtaken_while_it_was_being_read_is_marked_as_late(bot: Bot) -> None:
    thread = await begun(bot)
    before = await the_run(bot)
    later = await message_at(bot, await say(bot, "U0ALICE", "no, use only 60", thread))
    earlier = replace(later, ts=f"{float(later.ts) - 0.000001:.6f}", raw="use only 95")
    # As the process sees the run that began to read it first.
    await follow(bot.services, earlier, "use only 95", before, "")
    assert await said(bot) == ["no, use only 60", "use only 95"]
    assert LATE in (await the_run(bot)).said[-1].quoted
