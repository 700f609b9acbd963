"""A connection that is half open: its other end is gone without a word, and nothing is closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.delivery.transport import Timing
from bot.sandbox.opened import open_sandbox
from bot.sandbox.state import Sandbox
from bot.slack.app import make_incoming
from bot.slack.connection import SlackConnection
from bot.slack.connections import SlackConnections
from tests.bot.slack.test_connections import Share
from tests.bot.slack.workspace import Bot, bot_in

PING = 0.2


@pytest.fixture
async def pinging(tmp_path: Path) -> AsyncIterator[Bot]:
    """A bot that soon finds out; Slack soon sends again what nobody acknowledged."""
    timing = Timing(ack=0.5, socket_redelivery=0.3, retry_delays=(0.05,) * 20)
    async with (
        # What a busy machine acknowledges late comes again, as it does here whenever it was lost.
        open_sandbox(Sandbox(timing=timing), allow_violations=True) as sandbox,
        bot_in(sandbox, tmp_path, ping_seconds=PING) as bot,
    ):
        yield bot


async def test_it_is_noticed_and_another_is_made_and_what_was_lost_in_it_comes_again(
    pinging: Bot,
) -> None:
    assert (await pinging.sandbox.faults.now(half_open=600))["connections"] == 1
    await pinging.sandbox.until(lambda: not pinging.connection.is_connected, "it is noticed")
    # A machine that is held up for longer than an answer may take loses the next one, too.
    await pinging.sandbox.until(lambda: pinging.connection.is_connected, "another is made", 40)
    # In turn to the one that is gone, which nobody has closed for Slack, and to the new one.
    for order in (1, 2):
        await pinging.say("U0ALICE", f"<@U0PILOT> refund ORD-{order} 180", "C0SUPPORT")
    await pinging.waiting_runs(2)
    assert len(await pinging.runs()) == 2


async def test_slack_reaches_us_for_as_long_as_one_of_them_is_whole(pinging: Bot) -> None:
    share, made = Share(1), list[SlackConnection]()

    def connect() -> SlackConnection:
        incoming, url = make_incoming(pinging.services), pinging.sandbox.api_url
        made.append(SlackConnection(incoming, "xapp-sandbox", url, ping_seconds=PING))
        return made[-1]

    connections, sandbox = SlackConnections(connect, share.ask, look_seconds=0.02), pinging.sandbox
    running = asyncio.create_task(connections.run())
    await sandbox.until(lambda: connections.is_connected, "the first is there")
    await sandbox.faults.now(half_open=600)
    share.count = 2

    def is_found_out() -> bool:
        return not made[0].is_connected and connections.is_connected

    await sandbox.until(is_found_out, "the first is found out, and the second is whole")
    await sandbox.until(lambda: made[0].is_connected, "it is made anew")
    await sandbox.faults.now(half_open=600)
    await sandbox.until(lambda: not connections.is_connected, "neither is whole")
    await sandbox.until(lambda: connections.is_connected, "one is made anew")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
