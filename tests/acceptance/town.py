"""A sandbox and bot processes on one store: what a team has, on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import aiohttp

from bot.demo.child import environment
from bot.sandbox.app import RunningSandbox

T = TypeVar("T")
Json = dict[str, Any]

#: Beyond the deadline of a call that a killed process had begun: five seconds, and five of margin.
PATIENCE_SECONDS = 30.0
DEAD_PROXY = "http://127.0.0.1:9"


async def until(find: Callable[[], Awaitable[T | None]], what: str) -> T:
    """Ask again and again; the first answer that is something."""
    deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
    while asyncio.get_running_loop().time() < deadline:
        if answer := await find():
            return answer
        await asyncio.sleep(0.03)
    raise TimeoutError(f"not within {PATIENCE_SECONDS:g} s: {what}")


def action_ids(message: Json) -> list[str]:
    rows = [block for block in message.get("blocks", []) if block["type"] == "actions"]
    return [element["action_id"] for row in rows for element in row["elements"]]


@dataclass(frozen=True)
class Thread:
    """Where a run is shown."""

    channel: str
    ts: str


@dataclass
class Town:
    """Bots, people and one data folder."""

    folder: Path
    sandbox: RunningSandbox
    http: aiohttp.ClientSession
    bots: list[asyncio.subprocess.Process] = field(default_factory=list)

    async def open_bots(self, count: int) -> None:
        """Start them, and wait until each is ready."""
        begun = [await self._begin() for _ in range(count)]
        for url in await asyncio.gather(*(_address(bot) for bot in begun)):
            await until(partial(self._is_ready, url), f"{url} is ready")

    async def _begin(self) -> asyncio.subprocess.Process:
        given = environment(os.environ, self.folder, self.sandbox.api_url)
        proxies = dict.fromkeys(
            ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), DEAD_PROXY
        )
        with (self.folder / "bots.log").open("ab") as log:
            bot = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "bot", "serve"),
                cwd=self.folder,
                env=given | proxies,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
            )
        self.bots.append(bot)
        return bot

    async def _is_ready(self, url: str) -> bool:
        try:
            async with self.http.get(f"{url}/readyz") as answer:
                return answer.status == 200
        except aiohttp.ClientError:
            return False

    async def kill(self, bot: asyncio.subprocess.Process) -> None:
        """SIGKILL: no last words."""
        bot.send_signal(signal.SIGKILL)
        await bot.wait()
        self.bots.remove(bot)

    async def get(self, path: str) -> Any:
        async with self.http.get(self.sandbox.url + path) as answer:
            assert answer.status == 200, await answer.text()
            return await answer.json()

    async def act(self, user: str, do: str, **fields: Any) -> Json:
        body = {"as": user, "do": do, **fields}
        async with self.http.post(f"{self.sandbox.url}/sandbox/act", json=body) as answer:
            assert answer.status == 200, await answer.text()
            found: Json = await answer.json()
            return found

    async def messages(self, channel: str, thread_ts: str = "") -> list[Json]:
        query = f"?thread_ts={thread_ts}" if thread_ts else ""
        found: list[Json] = await self.get(f"/sandbox/channels/{channel}/messages{query}")
        return found

    async def start(self, how: str, text: str) -> Thread:
        """As Alice, by ``command``, ``mention`` or ``direct`` message."""
        if how == "command":
            known = {m["ts"] for m in await self.messages("C0SUPPORT")}
            await self.act("U0ALICE", "command", channel="C0SUPPORT", command="/agent", text=text)

            async def root() -> str | None:
                new = [m for m in await self.messages("C0SUPPORT") if m["ts"] not in known]
                return next((m["ts"] for m in new if m.get("bot_id")), None)

            return Thread("C0SUPPORT", await until(root, "the command's root message"))
        channel = "C0SUPPORT" if how == "mention" else "D0ALICE"
        mention = "@Pilothouse " if how == "mention" else ""
        said = await self.act("U0ALICE", "message", channel=channel, text=mention + text)
        return Thread(channel, said["ts"])

    async def card(self, thread: Thread) -> Json:
        """The approval message, once it is there."""

        async def find() -> Json | None:
            found = await self.messages(thread.channel, thread.ts)
            return next((m for m in found if "approval.approve" in action_ids(m)), None)

        return await until(find, f"a card in {thread}")

    async def message(self, thread: Thread, ts: str) -> Json:
        return next(m for m in await self.messages(thread.channel, thread.ts) if m["ts"] == ts)

    async def says(self, thread: Thread, text: str) -> Json:
        """The message with this text, once the thread has it."""

        async def find() -> Json | None:
            found = await self.messages(thread.channel, thread.ts)
            return next((m for m in found if text in m["text"]), None)

        return await until(find, f"{text!r} in {thread}")

    async def closed_card(self, thread: Thread, ts: str) -> Json:
        """The card, once it has no buttons."""

        async def find() -> Json | None:
            card = await self.message(thread, ts)
            return None if action_ids(card) else card

        return await until(find, f"the card {ts} is closed")

    async def click(self, user: str, thread: Thread, ts: str, action: str) -> Json:
        return await self.act(user, "click", channel=thread.channel, ts=ts, action_id=action)

    async def steer(self, user: str, thread: Thread, ts: str, **values: str) -> Json:
        """Open the form and send it."""
        known = {view["id"] for view in await self.get(f"/sandbox/views?as={user}")}
        await self.click(user, thread, ts, "approval.steer")

        async def opened() -> str | None:
            views = await self.get(f"/sandbox/views?as={user}")
            return next((view["id"] for view in views if view["id"] not in known), None)

        view_id = await until(opened, "the form")
        named = {("guidance" if k == "guidance" else f"arg.{k}"): v for k, v in values.items()}
        return {**await self.act(user, "submit", view_id=view_id, values=named), "view_id": view_id}

    async def told(self, user: str) -> list[str]:
        """What this person was told privately."""
        return [m["text"] for m in await self.get(f"/sandbox/ephemerals?as={user}")]

    def ledger(self) -> dict[str, float]:
        path = self.folder / "ledger.json"
        found: dict[str, float] = json.loads(path.read_text()) if path.exists() else {}
        return found

    async def journals(self) -> list[list[Json]]:
        """The events of every run, by the command line."""
        runs = await self.command("runs", "--json", "--limit", "100")
        return [await self.command("journal", run["id"], "--json") for run in runs]

    async def command(self, *words: str) -> Any:
        """What a command line in the same data folder answers with ``--json``."""
        given = environment(os.environ, self.folder, self.sandbox.api_url)
        command = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", *words),
            cwd=self.folder,
            env=given,
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await command.communicate()
        return json.loads(out)


async def _address(bot: asyncio.subprocess.Process) -> str:
    assert bot.stdout is not None
    line = await asyncio.wait_for(bot.stdout.readline(), PATIENCE_SECONDS)
    return line.decode().strip().rsplit(" ", 1)[-1]


@asynccontextmanager
async def town(folder: Path, *, bots: int = 2) -> AsyncIterator[Town]:
    async with RunningSandbox() as sandbox, aiohttp.ClientSession() as http:
        built = Town(folder, sandbox, http)
        try:
            await built.open_bots(bots)
            yield built
        finally:
            for bot in list(built.bots):
                await built.kill(bot)
