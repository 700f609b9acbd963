"""A bot in the sandbox's workspace: real store, real runtime, real wires, and people who act."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from agent import Agent, Runtime
from agent.rules.ids import RunId
from agent.rules.state import Approval, RunState
from bot.sandbox.opened import OpenSandbox
from bot.sandbox.workspace import Group
from bot.slack.app import make_drawer, make_incoming, make_services
from bot.slack.cards.card import card_of
from bot.slack.clients import PING_SECONDS, slack_client
from bot.slack.connection import SETTLED_SECONDS, SlackConnection
from bot.slack.directory import SlackDirectory
from bot.slack.ids import Place
from bot.slack.people import KEPT_SECONDS, People
from bot.slack.services import Services
from store import SqlStore, open_store
from tests.bot.slack.agents import refunds
from tests.store.files import with_tables

DEADLINE_SECONDS = 10.0
#: Whoever acts is not told to wait because a machine is slow.
PATIENT_SECONDS = 15.0
Json = dict[str, Any]


@dataclass
class Seconds:
    """The clock by which answers about people are kept; it can be put forward."""

    ahead: float = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self.ahead


@dataclass
class Bot:
    """One bot process, and the workspace that it is in."""

    sandbox: OpenSandbox
    store: SqlStore
    runtime: Runtime
    services: Services
    connection: SlackConnection
    #: Of the store's database.
    url: str
    seconds: Seconds = field(default_factory=Seconds)

    def deactivate(self, user: str) -> None:
        """They have left the company, and we have had the time to learn of it."""
        users = self.sandbox.inside.workspace.users
        users[user] = replace(users[user], deleted=True)
        self.seconds.ahead += KEPT_SECONDS

    def put_into(self, group: str, *users: str) -> None:
        """These, and nobody else, are in the group, and we have had the time to learn of it."""
        self.sandbox.inside.workspace.groups[group] = Group(group, group.lower(), group, users)
        self.seconds.ahead += KEPT_SECONDS

    async def act(self, user: str, do: str, **what: Any) -> Json:
        """What a person does; the sandbox's answer to it."""
        return await self.sandbox.act(user, do, **what)

    async def command(self, user: str, text: str, channel: str = "C0SUPPORT") -> Json:
        return await self.act(user, "command", channel=channel, command="/agent", text=text)

    async def say(self, user: str, text: str, channel: str, thread_ts: str | None = None) -> Json:
        thread = {"thread_ts": thread_ts} if thread_ts else {}
        return await self.act(user, "message", channel=channel, text=text, **thread)

    async def click(self, user: str, card: Json, action_id: str, **what: Any) -> Json:
        place = {"channel": card["channel"], "ts": card["ts"]}
        return await self.act(user, "click", **place, action_id=action_id, **what)

    async def submit(self, user: str, **values: str) -> Json:
        """Send off the modal that this person has open."""
        view = self.view(user)
        assert view is not None, f"{user} has no modal open"
        return await self.act(user, "submit", view_id=view["id"], values=values)

    def whispers(self, user: str) -> list[str]:
        """What this person was told privately."""
        return [one["text"] for one in self.sandbox.ephemerals(user)]

    async def whispered(self, user: str, part: str) -> str:
        """The private answer with these words in it, as soon as it is there."""

        def found() -> str | None:
            return next((one for one in self.whispers(user) if part in one), None)

        return await self.sandbox.until(found, f"{user} is told {part!r}")

    async def runs(self) -> list[RunState]:
        return await self.runtime.runs()

    async def waiting_run(self) -> tuple[Approval, RunState]:
        """The run that waits for a decision, as soon as it does."""
        return (await self.waiting_runs(1))[0]

    async def waiting_runs(self, count: int) -> list[tuple[Approval, RunState]]:
        """As soon as there are so many."""

        async def found() -> list[tuple[Approval, RunState]] | None:
            asked = [one for one in await self.runtime.approvals() if one[0].status == "pending"]
            return asked if len(asked) >= count else None

        return await self.sandbox.until(found, f"{count} runs wait")

    async def ended_run(self, run_id: RunId) -> RunState:
        async def found() -> RunState | None:
            state = await self.runtime.state(run_id)
            return state if state.is_ended else None

        return await self.sandbox.until(found, "the run has ended")

    async def post_card(self, channel: str = "C0SUPPORT") -> tuple[Json, Approval, RunState]:
        """The card of the run that waits, as the thread's drawer would post it."""
        approval, state = await self.waiting_run()
        card = card_of(approval, state)
        place = Place.of(state.place)
        said = await self.services.slack.chat_postMessage(
            channel=channel,
            text=card.text,
            blocks=list(card.blocks),
            thread_ts=place.thread_ts if place else None,
        )
        return {"channel": str(said["channel"]), "ts": str(said["ts"])}, approval, state

    async def message(self, card: Json) -> Json:
        """The card as it stands in Slack now."""
        said = await self.services.slack.conversations_replies(
            channel=card["channel"], ts=card["ts"]
        )
        return next(one for one in said["messages"] if one["ts"] == card["ts"])

    def view(self, user: str) -> Json | None:
        """The topmost modal of this person's."""
        views = self.sandbox.views(user)
        return views[-1] if views else None


@contextmanager
def nobody_else_writes(folder: Path) -> Iterator[None]:
    """Another process holds the database's write lock."""
    other = sqlite3.connect(folder / "pilothouse.db", isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")
    finally:
        other.close()


@asynccontextmanager
async def bot_in(
    sandbox: OpenSandbox,
    folder: Path,
    *,
    agent: Agent | None = None,
    others: Sequence[Agent] = (),
    patience: float = PATIENT_SECONDS,
    store_patience: timedelta = timedelta(seconds=10),
    settled_seconds: float = SETTLED_SECONDS,
    ping_seconds: float = PING_SECONDS,
) -> AsyncIterator[Bot]:
    """A bot that is connected by Socket Mode and works its runs."""
    url = with_tables(folder / "pilothouse.db")
    store = await open_store(url, patience=store_patience)
    slack, seconds = slack_client("xoxb-sandbox", sandbox.api_url), Seconds()
    people = People(slack, seconds=seconds)
    runtime = Runtime([agent or refunds(), *others], store, directory=SlackDirectory(people))
    services = make_services(runtime, slack, people=people, patience=patience)
    connection = SlackConnection(
        make_incoming(services),
        "xapp-sandbox",
        sandbox.api_url,
        settled_seconds=settled_seconds,
        ping_seconds=ping_seconds,
    )
    connecting = asyncio.create_task(connection.run())
    worker = runtime.worker()
    working = asyncio.create_task(worker.run())
    try:
        await sandbox.until(lambda: connection.is_connected, "the bot is connected")
        yield Bot(sandbox, store, runtime, services, connection, url, seconds)
        await services.answering.drain(DEADLINE_SECONDS)
    finally:
        connecting.cancel()
        await worker.stop(timedelta(seconds=DEADLINE_SECONDS))
        await asyncio.gather(connecting, working, return_exceptions=True)
        await store.close()


@asynccontextmanager
async def drawing(bot: Bot) -> AsyncIterator[Bot]:
    """It draws threads, too."""
    drawer = make_drawer(
        bot.runtime,
        bot.services.slack,
        people=bot.services.people,
        process_id="drawer",
        term=timedelta(seconds=30),
    )
    running = asyncio.create_task(drawer.run())
    try:
        yield bot
    finally:
        await drawer.stop()
        await running
