"""``pilothouse demo`` in real processes: what dies is started again, and nothing outlives it."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from bot import process
from bot.demo import child
from bot.demo.child import environment
from bot.demo.folder import FolderInUse, FolderUnusable, held_folder
from bot.demo.supervisor import END_SECONDS
from bot.http.listen import SHUTDOWN_SECONDS
from bot.slack.connection import LAST_WORDS_SECONDS

BOT = re.compile(r"bot (\d): (proc_\w+) \(pid (\d+)\) on (http://127\.0\.0\.1:\d+)")
READY = re.compile(r"Pilothouse is ready: (http://\S+)/ ")


class RunningDemo:
    """A demo as its user sees it: lines, and addresses."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.said: list[str] = []

    async def until_said(self, pattern: re.Pattern[str], times: int = 1) -> list[re.Match[str]]:
        """The matches among all that it has said, once there are so many."""
        assert self.process.stdout is not None
        while len(found := [m for line in self.said if (m := pattern.search(line))]) < times:
            line = await asyncio.wait_for(self.process.stdout.readline(), 30)
            assert line, f"it ended, having said {self.said}"
            self.said.append(line.decode())
        return found


@asynccontextmanager
async def running_demo(
    folder: Path, *more: str, config: Path | None = None
) -> AsyncIterator[RunningDemo]:
    own = {} if config is None else {"PILOTHOUSE_CONFIG": str(config)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "demo", "--port", "0", "--data", str(folder)),
        *("--no-browser", *more),
        cwd=folder.parent,
        # What a developer's shell may hold: none of it may reach the bots.
        env=os.environ | {"SLACK_BOT_TOKEN": "xoxb-real", "HTTP_PROXY": "http://127.0.0.1:9"} | own,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    demo = RunningDemo(process)
    try:
        yield demo
    finally:
        # Its bots end with it.
        if process.returncode is None:
            process.kill()
        await demo.process.communicate()


async def until(is_so: Callable[[], Awaitable[bool]], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while True:
            if await is_so():
                return
            await asyncio.sleep(0.05)


def answers(session: aiohttp.ClientSession, url: str, status: int) -> Callable[[], Awaitable[bool]]:
    async def is_so() -> bool:
        try:
            async with session.get(url) as answer:
                return answer.status == status
        except aiohttp.ClientError:
            return False

    return is_so


def is_gone(session: aiohttp.ClientSession, url: str) -> Callable[[], Awaitable[bool]]:
    async def is_so() -> bool:
        try:
            async with session.get(url):
                return False
        except aiohttp.ClientConnectorError:
            return True
        except aiohttp.ClientError:
            return False

    return is_so


async def test_a_killed_bot_is_started_again_and_a_killed_demo_leaves_nothing(
    tmp_path: Path,
) -> None:
    async with running_demo(tmp_path / "d") as demo, aiohttp.ClientSession() as session:
        (ready,) = await demo.until_said(READY)
        first, second = await demo.until_said(BOT, 2)
        for bot in (first, second):
            assert await answers(session, f"{bot[4]}/readyz", 200)()

        os.kill(int(first[3]), signal.SIGKILL)
        (died,) = await demo.until_said(re.compile(r"bot (\d) \((proc_\w+)\) was killed by"))
        assert (died[1], died[2]) == (first[1], first[2])
        *_, again = await demo.until_said(BOT, 3)
        assert again[1] == first[1]
        assert again[2] != first[2]
        await until(answers(session, f"{again[4]}/readyz", 200))

        demo.process.kill()
        for address in (ready[1], second[4], again[4]):
            await until(is_gone(session, f"{address}/healthz"))


async def test_a_demo_that_is_told_to_end_ends_its_bots_first(tmp_path: Path) -> None:
    async with running_demo(tmp_path / "d") as demo, aiohttp.ClientSession() as session:
        await demo.until_said(READY)
        bots = await demo.until_said(BOT, 2)
        demo.process.send_signal(signal.SIGINT)
        await demo.until_said(re.compile("The demo has ended"))
        assert await demo.process.wait() == 0
        for bot in bots:
            assert await is_gone(session, f"{bot[4]}/healthz")()
        # They left in good order: nobody has to bury them.
        assert list((tmp_path / "d" / "processes").iterdir()) == []


async def test_a_taken_port_is_said_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", "demo", "--port", str(port)),
            *("--data", str(tmp_path / "d"), "--no-browser"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
    assert process.returncode == 1
    assert out == b""
    said = f"Port {port} on 127.0.0.1 is taken. Nothing was started; choose another, for example: "
    assert err.decode() == f"{said}--port {port + 1}\n"


def test_a_bot_has_the_time_to_end_in_order() -> None:
    takes = (
        LAST_WORDS_SECONDS,
        process.ANSWER_SECONDS,
        child.DRAIN_SECONDS,
        process.DRAW.total_seconds(),
        process.LAST_ANSWER_SECONDS,
        SHUTDOWN_SECONDS,
    )
    assert sum(takes) < END_SECONDS


def test_one_demo_at_a_time_uses_a_folder(tmp_path: Path) -> None:
    with held_folder(tmp_path), pytest.raises(FolderInUse), held_folder(tmp_path, fresh=True):
        pass


def test_fresh_deletes_what_a_demo_made_and_nothing_else(tmp_path: Path) -> None:
    for name in ("pilothouse.db", "sandbox.json", "ledger.json", "bot-1.log", "thesis.txt"):
        (tmp_path / name).write_text("{}")
    with held_folder(tmp_path):
        assert (tmp_path / "pilothouse.db").exists()
    with held_folder(tmp_path, fresh=True):
        assert {path.name for path in tmp_path.iterdir()} == {"thesis.txt", "demo.lock"}


def test_nothing_inherited_leads_a_bot_to_a_real_workspace(tmp_path: Path) -> None:
    inherited = {
        "PATH": "/bin",
        "SLACK_BOT_TOKEN": "xoxb-real",
        "SLACK_SIGNING_SECRET": "real",
        "PILOTHOUSE_DATABASE_URL": "postgresql://production",
        "PILOTHOUSE_CONFIG": "/etc/pilothouse.yml",
        "PILOTHOUSE_MODEL": "anthropic:claude-sonnet-5-5",
    }
    given = environment(inherited, tmp_path, "http://127.0.0.1:1/api/", tmp_path / "own.yml")
    assert given["PATH"] == "/bin"
    assert given["SLACK_BOT_TOKEN"] == "xoxb-sandbox"
    assert given["SLACK_API_URL"] == "http://127.0.0.1:1/api/"
    assert "SLACK_SIGNING_SECRET" not in given
    assert given["PILOTHOUSE_DATABASE_URL"] == f"sqlite:///{tmp_path / 'pilothouse.db'}"
    assert given["PILOTHOUSE_CONFIG"] == str(tmp_path / "own.yml"), "only where it was asked for"
    assert "PILOTHOUSE_MODEL" not in given


def test_a_bot_has_the_keys_that_commands_beside_it_have(tmp_path: Path) -> None:
    """Else the one could not open what the other has written."""
    keys = {"PILOTHOUSE_ENCRYPTION_KEYS": "2026:…", "PILOTHOUSE_AUDIT_KEY": "…"}
    given = environment(keys, tmp_path, "http://127.0.0.1:1/api/")
    assert given.items() >= keys.items()


def test_a_folder_that_can_not_be_one_is_said_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for wrong in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(FolderUnusable, match="Nothing was started"), held_folder(wrong):
            pass
