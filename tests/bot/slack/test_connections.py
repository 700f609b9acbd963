"""Several connections of one process: while one is made anew the others hear, and there are never too many."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.process import how_many_connections
from bot.sandbox.opened import OpenSandbox
from bot.slack.app import make_incoming
from bot.slack.connection import SlackConnection
from bot.slack.connections import ALL_TOGETHER, SlackConnections, share_of
from store import open_store
from tests.bot.slack.workspace import Bot
from tests.store.files import with_tables


@dataclass
class Share:
    """What the process may have, as the test says."""

    #: None: it can't be said now.
    count: int | None
    asked: int = 0

    async def ask(self) -> int | None:
        self.asked += 1
        return self.count


@asynccontextmanager
async def connected(bot: Bot, share: Share) -> AsyncIterator[SlackConnections]:
    connections = SlackConnections(
        lambda: SlackConnection(make_incoming(bot.services), "xapp-sandbox", bot.sandbox.api_url),
        share.ask,
        look_seconds=0.02,
    )
    running = asyncio.create_task(connections.run())
    try:
        yield connections
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


def sockets(sandbox: OpenSandbox) -> int:
    kinds = [one["kind"] for one in sandbox.inside.record.calls()]
    return kinds.count("connected") - kinds.count("disconnected")


async def test_it_has_as_many_as_it_may(bot: Bot) -> None:
    share = Share(2)
    async with connected(bot, share) as connections:
        await bot.sandbox.until(lambda: sockets(bot.sandbox) == 3, "two more are open")
        await bot.sandbox.until(lambda: connections.is_connected, "it is connected")
        share.count = 1
        await bot.sandbox.until(lambda: sockets(bot.sandbox) == 2, "one is closed")
        assert connections.count == 1
        await bot.sandbox.until(lambda: connections.is_connected, "it still is")
    await bot.sandbox.until(lambda: sockets(bot.sandbox) == 1, "all of them are closed")
    assert not connections.is_connected


@pytest.mark.parametrize("open_before", [1, 2])
async def test_while_it_can_not_be_said_how_many_it_may_have_it_keeps_what_is_open(
    bot: Bot, open_before: int
) -> None:
    share = Share(open_before)
    async with connected(bot, share) as connections:
        await bot.sandbox.until(lambda: connections.count == open_before, "they are open")
        share.count, share.asked = None, 0
        await bot.sandbox.until(lambda: share.asked >= 3, "it has asked again")
        assert connections.count == open_before


async def test_before_it_can_be_said_how_many_it_may_have_there_is_one(bot: Bot) -> None:
    share = Share(None)
    async with connected(bot, share) as connections:
        await bot.sandbox.until(lambda: connections.is_connected, "it is connected")
        await bot.sandbox.until(lambda: share.asked >= 3, "it has asked again")
        assert connections.count == 1


async def test_a_store_that_is_away_does_not_say_how_many_a_process_may_have(
    tmp_path: Path,
) -> None:
    store = await open_store(with_tables(tmp_path / "pilothouse.db"))
    assert await how_many_connections(store.processes) == 2
    await store.close()
    assert await how_many_connections(store.processes) is None


def _never_heard(bot: Bot) -> SlackConnection:
    """One that asks for a connection where nobody answers."""
    return SlackConnection(make_incoming(bot.services), "xapp-sandbox", "http://127.0.0.1:9/api/")


@pytest.mark.parametrize("hears_first", [True, False])
async def test_when_there_are_to_be_fewer_the_one_that_hears_is_kept(
    bot: Bot, hears_first: bool
) -> None:
    hears = SlackConnection(make_incoming(bot.services), "xapp-sandbox", bot.sandbox.api_url)
    both = [_never_heard(bot), hears] if hears_first else [hears, _never_heard(bot)]
    share = Share(2)
    connections = SlackConnections(both.pop, share.ask, look_seconds=0.02)
    running = asyncio.create_task(connections.run())
    await bot.sandbox.until(lambda: connections.is_connected, "one of them hears")
    share.count = 1
    await bot.sandbox.until(lambda: connections.count == 1, "the other is closed")
    assert connections.is_connected
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


@pytest.mark.parametrize(
    ("processes", "each"), [(0, 2), (1, 2), (5, 2), (6, 1), (10, 1), (11, 1), (100, 1)]
)
def test_all_together_have_no_more_than_slack_allows(processes: int, each: int) -> None:
    assert share_of(processes) == each
    assert processes > ALL_TOGETHER or processes * each <= ALL_TOGETHER


async def test_who_is_one_too_many_asks_now_and_then_and_gets_what_becomes_free(bot: Bot) -> None:
    sandbox = bot.sandbox
    async with connected(bot, Share(ALL_TOGETHER - 1)):
        await sandbox.until(lambda: sockets(sandbox) == ALL_TOGETHER, "all are taken")
        asked = len(sandbox.calls("apps.connections.open"))
        one_more = SlackConnection(make_incoming(bot.services), "xapp-sandbox", sandbox.api_url)
        running = asyncio.create_task(one_more.run())
        await sandbox.until(
            lambda: len(sandbox.calls("apps.connections.open")) >= asked + 4, "it asks again"
        )
        at = [one["at"] for one in sandbox.calls("apps.connections.open")[asked:]]
        # Ever longer: so that it never asks as often as would keep others from connecting.
        assert at[2] - at[1] >= 0.9
        assert at[3] - at[2] >= 1.9
    await sandbox.until(lambda: one_more.is_connected, "it has its place")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_what_ends_one_of_them_by_a_fault_of_ours_ends_all(bot: Bot) -> None:
    class Faulty(SlackConnection):
        async def run(self) -> None:
            raise RuntimeError("a fault of ours")

    connections = SlackConnections(
        lambda: Faulty(make_incoming(bot.services), "xapp-sandbox", bot.sandbox.api_url),
        Share(2).ask,
    )
    with pytest.raises(RuntimeError, match="a fault of ours"):
        await connections.run()
