"""A sandbox and bot processes on one store, over either transport: what a team has, on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, overload

import aiohttp

from bot.demo.child import environment
from bot.sandbox.opened import OpenSandbox, open_sandbox
from bot.sandbox.rates import RateMode
from bot.sandbox.state import Sandbox
from bot.sandbox.workspace import SIGNING_SECRET
from bot.slack.requests import PATH
from bot.slack.subscribed import SHORTCUTS, SUBSCRIBED
from tests.acceptance.approvals import violations
from tests.store.database import ask

T = TypeVar("T")
Json = dict[str, Any]

#: Beyond the deadline of a call that a killed process had begun: five seconds, and five of margin.
PATIENCE_SECONDS = 30.0
SERVE = ("-m", "bot", "serve")
DEAD_PROXY = "http://127.0.0.1:9"
FILE_SOCKET, SERVER_HTTP = ("sqlite", "socket"), ("postgresql", "http")
#: Kinds of databases and transports, each in company of the other.
PLACES = (FILE_SOCKET, SERVER_HTTP)


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
    """Bots, people, one database and one data folder."""

    folder: Path
    #: As the bots reach it.
    database_url: str
    sandbox: OpenSandbox
    http: aiohttp.ClientSession
    #: Where the sandbox delivers to by HTTP; empty with Socket Mode.
    ports: list[int]
    bots: list[asyncio.subprocess.Process] = field(default_factory=list)
    #: Where the bots that were begun answer.
    urls: list[str] = field(default_factory=list)
    _listening: dict[asyncio.subprocess.Process, int] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        given = environment(os.environ, self.folder, self.sandbox.api_url)
        # No balancer looks, and no call takes longer.
        drain = {"PILOTHOUSE_DRAIN_SECONDS": "0.3"}
        return given | drain | {"PILOTHOUSE_DATABASE_URL": self.database_url}

    async def open_bots(self, count: int, program: Sequence[str] = SERVE) -> None:
        """Start them, and wait until each is ready. ``program``: what Python is to run."""
        begun = [await self._begin(program) for _ in range(count)]
        for url in await asyncio.gather(*(_address(bot) for bot in begun)):
            await self.until(partial(self.is_ready, url), f"{url} is ready")
            self.urls.append(url)

    async def _begin(self, program: Sequence[str]) -> asyncio.subprocess.Process:
        proxies = dict.fromkeys(
            ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), DEAD_PROXY
        )
        port = next((one for one in self.ports if one not in self._listening.values()), 0)
        with (self.folder / "bots.log").open("ab") as log:
            bot = await asyncio.create_subprocess_exec(
                *(sys.executable, *program),
                cwd=self.folder,
                env=self.environment | proxies | (_by_http(port) if port else {}),
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
            )
        self.bots.append(bot)
        self._listening[bot] = port
        return bot

    async def is_ready(self, url: str) -> bool:
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
        del self._listening[bot]

    async def stop(self, bot: asyncio.subprocess.Process) -> None:
        """SIGTERM; one that does not end by itself is killed."""
        bot.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(bot.wait(), PATIENCE_SECONDS)
        finally:
            if bot.returncode is None:
                await self.kill(bot)

    @overload
    async def until(self, look: Callable[[], Awaitable[T | None]], what: str) -> T: ...

    @overload
    async def until(self, look: Callable[[], T | None], what: str) -> T: ...

    async def until(self, look: Callable[[], Any], what: str) -> Any:
        return await self.sandbox.until(look, what, PATIENCE_SECONDS)

    async def act(self, user: str, do: str, **fields: Any) -> Json:
        return await self.sandbox.act(user, do, **fields)

    def thread(self, thread: Thread) -> list[Json]:
        return self.sandbox.messages(thread.channel, thread.ts)

    async def start(self, how: str, text: str) -> Thread:
        """As Alice, by ``command``, ``mention`` or ``direct`` message."""
        if how == "command":
            known = {m["ts"] for m in self.sandbox.messages("C0SUPPORT")}
            await self.act("U0ALICE", "command", channel="C0SUPPORT", command="/agent", text=text)

            def root() -> str | None:
                new = [m for m in self.sandbox.messages("C0SUPPORT") if m["ts"] not in known]
                return next((m["ts"] for m in new if m.get("bot_id")), None)

            return Thread("C0SUPPORT", await self.until(root, "the command's root message"))
        channel = "C0SUPPORT" if how == "mention" else "D0ALICE"
        mention = "@Pilothouse " if how == "mention" else ""
        said = await self.act("U0ALICE", "message", channel=channel, text=mention + text)
        return Thread(channel, said["ts"])

    async def card(self, thread: Thread) -> Json:
        """The approval message, once it is there."""

        def find() -> Json | None:
            found = self.thread(thread)
            return next((m for m in found if "approval.approve" in action_ids(m)), None)

        return await self.until(find, f"a card in {thread}")

    def message(self, thread: Thread, ts: str) -> Json:
        return next(m for m in self.thread(thread) if m["ts"] == ts)

    async def says(self, thread: Thread, text: str) -> Json:
        """The message with this text, once the thread has it."""

        def find() -> Json | None:
            return next((m for m in self.thread(thread) if text in m["text"]), None)

        return await self.until(find, f"{text!r} in {thread}")

    async def closed_card(self, thread: Thread, ts: str) -> Json:
        """The card, once it has no buttons."""

        def find() -> Json | None:
            card = self.message(thread, ts)
            return None if action_ids(card) else card

        return await self.until(find, f"the card {ts} is closed")

    async def click(self, user: str, thread: Thread, ts: str, action: str) -> Json:
        return await self.act(user, "click", channel=thread.channel, ts=ts, action_id=action)

    async def steer(self, user: str, thread: Thread, ts: str, **values: str) -> Json:
        """Open the form and send it."""
        known = {view["id"] for view in self.sandbox.views(user)}
        await self.click(user, thread, ts, "approval.steer")

        def opened() -> str | None:
            new = [view["id"] for view in self.sandbox.views(user) if view["id"] not in known]
            return new[0] if new else None

        view_id = await self.until(opened, "the form")
        named = {("guidance" if k == "guidance" else f"arg.{k}"): v for k, v in values.items()}
        return {**await self.act(user, "submit", view_id=view_id, values=named), "view_id": view_id}

    def told(self, user: str) -> list[str]:
        """What this person was told privately."""
        return [m["text"] for m in self.sandbox.ephemerals(user)]

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
        command = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", *words),
            cwd=self.folder,
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            out, _ = await asyncio.wait_for(command.communicate(), PATIENCE_SECONDS)
        finally:
            if command.returncode is None:
                command.kill()
        return json.loads(out)


def read_journals(url: str) -> list[list[Json]]:
    """Every run's, as the rows stand there, for an auditor."""
    found: dict[str, list[Json]] = {}
    for run_id, seq, body in ask(url, "SELECT run_id, seq, body FROM journal ORDER BY run_id, seq"):
        event = json.loads(body)
        row = {"run_id": run_id, "seq": seq, "at": event["at"], "event": event}
        found.setdefault(run_id, []).append(row)
    return list(found.values())


def read_control_journal(url: str) -> list[Json]:
    """What belongs to no run, in the same form."""
    rows = ask(url, "SELECT seq, body FROM control_journal ORDER BY seq")
    events = [(seq, json.loads(body)) for seq, body in rows]
    return [{"seq": seq, "at": event["at"], "event": event} for seq, event in events]


async def _address(bot: asyncio.subprocess.Process) -> str:
    assert bot.stdout is not None
    line = await asyncio.wait_for(bot.stdout.readline(), PATIENCE_SECONDS)
    return line.decode().strip().rsplit(" ", 1)[-1]


def _by_http(port: int) -> dict[str, str]:
    return {
        "SLACK_APP_TOKEN": "",
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
        "PILOTHOUSE_HTTP_PORT": str(port),
    }


@contextmanager
def _held_ports(count: int) -> Iterator[list[int]]:
    """Nobody else gets them meanwhile: bound and not listened on, they can be bound once more."""
    with ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in held:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind(("127.0.0.1", 0))
        yield [one.getsockname()[1] for one in held]


@asynccontextmanager
async def town(
    folder: Path,
    database_url: str,
    transport: str = "socket",
    *,
    bots: int = 2,
    allow_violations: bool = False,
    rates: RateMode = "off",
    through: str | None = None,
) -> AsyncIterator[Town]:
    """``transport``: ``socket`` or ``http``. By HTTP no more bots live at a time than at first. ``through``: another
    URL of the database, by which the bots reach it."""
    with _held_ports(bots if transport == "http" else 0) as ports:
        slack = Sandbox(
            deliver=[f"http://127.0.0.1:{port}{PATH}" for port in ports],
            rates=rates,
            events=SUBSCRIBED,
            shortcuts=SHORTCUTS,
        )
        async with (
            open_sandbox(slack, allow_violations=allow_violations) as sandbox,
            aiohttp.ClientSession() as http,
        ):
            built = Town(folder, through or database_url, sandbox, http, ports)
            try:
                await built.open_bots(bots)
                yield built
            finally:
                # In good order, so that what was just sent to one is not left unanswered.
                await asyncio.gather(*(built.stop(bot) for bot in list(built.bots)))
        groups = {one.id: one.members for one in sandbox.inside.workspace.groups.values()}
        journals, control = read_journals(database_url), read_control_journal(database_url)
        assert violations(journals, groups, control) == []
