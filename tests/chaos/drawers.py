"""Who draws, as a process of its own that nothing ends but SIGKILL: ``python -m tests.chaos.drawers URL API CLOCK
NAME``. Each line that it is sent wakes it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from subprocess import PIPE, Popen

from agent.rules.state import RunState
from bot.slack.clients import slack_client
from bot.slack.people import People
from bot.slack.thread.draw import ThreadDrawer
from bot.slack.thread.edge import SlackThreads
from store.open import open_store
from store.wakeups import HeardWakeups
from tests.bot.thread.clocks import SharedClock
from tests.bot.thread.scene import TERM, Scene


class DrawingProcess:
    """One of them, begun."""

    def __init__(self, scene: Scene, name: str, clock: Path, said: Path) -> None:
        arguments = [scene.url, scene.sandbox.api_url, str(clock), name]
        with said.open("wb") as file:
            self._process = Popen(
                [sys.executable, "-m", "tests.chaos.drawers", *arguments],
                stdin=PIPE,
                stdout=PIPE,
                stderr=file,
            )
        self._scene = scene
        scene.wakers.append(self._wake)

    async def ready(self) -> None:
        """Once it draws."""
        assert self._process.stdout is not None
        await asyncio.to_thread(self._process.stdout.readline)

    async def kill(self) -> None:
        """With SIGKILL, in the middle of whatever it does."""
        self._scene.wakers.remove(self._wake)
        self._process.kill()
        await asyncio.to_thread(self._process.communicate)

    def _wake(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()


async def _why_blocked(_: RunState) -> Mapping[str, str] | None:
    return None


async def _draw(url: str, api: str, clock: SharedClock, name: str) -> None:
    store = await open_store(url, clock=clock)
    loop = asyncio.get_running_loop()

    def woken() -> None:
        if not os.read(sys.stdin.fileno(), 4096):
            loop.remove_reader(sys.stdin)
        HeardWakeups.moved(store.wakeups)

    loop.add_reader(sys.stdin, woken)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    client = slack_client("xoxb-sandbox", api)
    await ThreadDrawer(
        store,
        SlackThreads(client),
        people=People(client),
        why_blocked=_why_blocked,
        process_id=name,
        term=TERM,
        monotonic=clock.seconds,
    ).run()


if __name__ == "__main__":
    asyncio.run(_draw(sys.argv[1], sys.argv[2], SharedClock(Path(sys.argv[3])), sys.argv[4]))
