"""The store can't be used for a while, as a team meets it: people are told, nothing is lost or done twice, and a bot
goes on by itself afterwards."""

from __future__ import annotations

import resource
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.acceptance.town import Thread, Town, town
from tests.store.database import locked, path_of
from tests.store.server import Server

pytestmark = [pytest.mark.usefixtures("kind"), pytest.mark.timeout(180)]

NOT_DECIDED = "Not decided: our store can't be reached right now. Nothing has changed"
NO_LIMIT = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


@pytest.fixture
async def team(tmp_path: Path, url: str) -> AsyncIterator[Town]:
    # A message that can't be taken is left to Slack to be delivered again.
    async with town(tmp_path, url, bots=1, allow_violations=True) as team:
        yield team


async def asked(team: Town, order: str) -> tuple[Thread, str]:
    """A run whose card waits."""
    thread = await team.start("mention", f"refund {order} 180")
    return thread, (await team.card(thread))["ts"]


async def is_refused(team: Town, thread: Thread, card: str) -> None:
    """A click is told that nothing has changed."""
    before = len(team.told("U0BOB"))
    await team.click("U0BOB", thread, card, "approval.approve")

    def last() -> str | None:
        return next(iter(team.told("U0BOB")[before:]), None)

    assert (await team.until(last, "an answer")).startswith(NOT_DECIDED)


async def decided_and_done(team: Town, thread: Thread, card: str) -> None:
    await team.click("U0BOB", thread, card, "approval.approve")
    await is_done(team, thread, card)


async def is_done(team: Town, thread: Thread, card: str) -> None:
    assert "Approved by" in (await team.closed_card(thread, card))["text"]
    await team.says(thread, "is complete")


async def until_ready(team: Town, is_ready: bool) -> None:
    (url,) = team.urls

    async def is_so() -> bool | None:
        return (await team.is_ready(url) is is_ready) or None

    await team.until(is_so, "ready" if is_ready else "not ready")


async def until_told(team: Town, *words: str) -> None:
    """The log has a line with some of these."""

    def is_so() -> bool | None:
        log = (team.folder / "bots.log").read_text()
        return any(one in log for one in words) or None

    await team.until(is_so, f"one of {words} in the log")


async def all_is_whole(team: Town, *orders: str) -> None:
    """Each run ended, each order refunded once, every chain whole; and it was one process all the time."""
    assert team.ledger() == dict.fromkeys(orders, 180.0)
    runs = await team.command("runs", "--json")
    assert [one["status"] for one in runs] == ["finished"] * len(orders)
    assert (await team.command("verify", "--json"))["whole"]
    assert [bot.returncode for bot in team.bots] == [None]


@contextmanager
def moved_away(url: str) -> Iterator[None]:
    """The database file and what SQLite has beside it are somewhere else."""
    path = Path(path_of(url))
    aside = path.parent / "aside"
    aside.mkdir()
    files = [one for one in path.parent.glob(f"{path.name}*") if one.is_file()]
    for one in files:
        one.rename(aside / one.name)
    try:
        yield
    finally:
        for one in files:
            (aside / one.name).rename(one)
        aside.rmdir()


@contextmanager
def full(bot: Process) -> Iterator[None]:
    """No file of this process grows any more, as on a full disk."""
    resource.prlimit(bot.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.prlimit(bot.pid, resource.RLIMIT_FSIZE, NO_LIMIT)


@contextmanager
def killed(server: Server) -> Iterator[None]:
    server.kill()
    try:
        yield
    finally:
        server.start()


async def test_a_bot_outlives_it(team: Town, url: str, server_of_kind: Server | None) -> None:
    (bot,) = team.bots
    if server_of_kind is None:
        takes_nothing, is_away = full(bot), moved_away(url)
    else:
        takes_nothing, is_away = killed(server_of_kind), killed(server_of_kind)

    thread, card = await asked(team, "ORD-1")
    with takes_nothing:  # while a card waits
        await is_refused(team, thread, card)
        await until_ready(team, False)
    await until_ready(team, True)
    await decided_and_done(team, thread, card)

    thread, card = await asked(team, "ORD-2")
    await team.click("U0BOB", thread, card, "approval.approve")
    await team.until(lambda: "ORD-2" in team.ledger() or None, "the refund")
    with is_away:  # while what came of a call is on its way into the journal
        await until_told(team, "can't be recorded yet", "goes on soon", "can't be drawn now")
    await is_done(team, thread, card)

    thread, card = await asked(team, "ORD-3")
    with locked(url) as let_go:
        await team.click("U0BOB", thread, card, "approval.approve")
        saving = "Still saving your decision"
        await team.until(lambda: any(saving in one for one in team.told("U0BOB")) or None, saving)
        let_go()
        await is_done(team, thread, card)
    await all_is_whole(team, "ORD-1", "ORD-2", "ORD-3")
