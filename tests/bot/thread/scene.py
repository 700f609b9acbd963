"""A store, a local Slack and drawers, all by one clock that the test moves."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agent.ports import Lease
from agent.rules.events import Event, RunStarted
from agent.rules.fold import fold
from agent.rules.ids import EventId, RunId, SessionId
from agent.rules.json_text import dump_text
from agent.rules.recorded import Stamped, dump_event, load_event
from agent.rules.state import RunState
from bot.sandbox.opened import OpenSandbox, open_sandbox
from bot.sandbox.state import Sandbox
from bot.slack.clients import slack_client
from bot.slack.ids import Place
from bot.slack.thread.draw import ThreadDrawer
from bot.slack.thread.edge import SlackThreads
from store.open import SqlStore, open_store
from tests.agent.rules.histories import History
from tests.store.files import with_tables

TERM = timedelta(seconds=30)
TEAM, CHANNEL = "T0PILOT", "C0SUPPORT"
DEADLINE = 15.0

Message = dict[str, Any]
_LATER_ID = re.compile(r"_\d+x")


class SteppedClock:
    """Stands still until it is moved; the store's, the sandbox's and the drawers'."""

    def __init__(self) -> None:
        self._now = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self._now

    def seconds(self) -> float:
        return self._now.timestamp()

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


@dataclass
class Scene:
    """What a test acts on and looks at."""

    clock: SteppedClock
    sandbox: OpenSandbox
    path: Path
    store: SqlStore
    _stack: AsyncExitStack
    _runs: int = 0
    _events: dict[RunId, int] = field(default_factory=dict)

    async def begin(
        self, history: History, *, thread_ts: str | None = None, place: str | None = None
    ) -> RunId:
        """A run with this history, to be shown in the channel or in a thread of it, or at a place
        that is none of Slack's."""
        self._runs += 1
        run_id = RunId(f"run_{self._runs}")
        started = history.recorded[0].event
        assert isinstance(started, RunStarted)
        place = place or str(Place(TEAM, CHANNEL, thread_ts))
        session = SessionId(f"session_{self._runs}")
        event = started.model_copy(update={"place": place, "session": session})
        await self.store.journal.start(run_id, self._stamp(run_id, event))
        await self.go_on(run_id, history)
        return run_id

    async def go_on(self, run_id: RunId, history: History) -> None:
        """Append what is new in this longer history."""
        done = self._events[run_id]
        new = [self._stamp(run_id, one.event) for one in history.recorded[done:]]
        if new:
            await self.store.journal.intend(run_id, new, expected_seq=done)

    def _stamp(self, run_id: RunId, event: Event) -> Stamped:
        number = self._events[run_id] = self._events.get(run_id, 0) + 1
        return Stamped(EventId(f"{run_id}-{number}"), self.clock.now(), _of_run(run_id, event))

    async def draw(self, name: str = "bot-1", store: SqlStore | None = None) -> ThreadDrawer:
        """A drawer that draws until the test ends."""
        store = store or self.store
        drawer = ThreadDrawer(
            store,
            reader(store),
            SlackThreads(slack_client("xoxb-sandbox", self.sandbox.api_url)),
            process_id=name,
            term=TERM,
            monotonic=self.clock.seconds,
        )
        running = asyncio.create_task(drawer.run())

        async def stop() -> None:
            await drawer.stop()
            await running

        self._stack.push_async_callback(stop)
        return drawer

    async def second_store(self) -> SqlStore:
        """Another process's handle on the same file."""
        store = await open_store(f"sqlite:///{self.path}", clock=self.clock)
        self._stack.push_async_callback(store.close)
        return store

    async def claim(self, run_id: RunId) -> Lease:
        """The thread's lease, in the test's own hand."""
        (lease,) = await self.store.thread_leases.claim("test", TERM, 1)
        assert lease.run_id == run_id
        return lease

    def messages(self, run_id: RunId) -> dict[str, list[Message]]:
        """All of the run's messages by key, wherever in the channel they stand."""
        found: dict[str, list[Message]] = {}
        for top in self.sandbox.messages(CHANNEL):
            for one in self.sandbox.messages(CHANNEL, top["ts"]):
                payload = one.get("metadata", {}).get("event_payload", {})
                if payload.get("run_id") == run_id:
                    found.setdefault(_LATER_ID.sub("_", payload["key"]), []).append(one)
        return found

    def lose_messages(self, run_id: RunId, key: str | None) -> None:
        """The rows of this message, or of all, are gone, as by a restored table."""
        with closing(sqlite3.connect(self.path)) as database, database:
            database.execute(
                "delete from thread_messages where run_id = ? and key glob ?",
                (run_id, f"{key}*" if key else "*"),
            )

    def lose_thread(self, run_id: RunId) -> None:
        """Nothing is left of its thread."""
        self.lose_messages(run_id, None)
        with closing(sqlite3.connect(self.path)) as database, database:
            database.execute("delete from threads where run_id = ?", (run_id,))

    async def until_drawn(self, run_id: RunId) -> dict[str, list[Message]]:
        """Once the thread shows the run as it is; its messages by key."""
        await eventually(lambda: self.is_drawn(run_id))
        return self.messages(run_id)

    async def is_drawn(self, run_id: RunId) -> bool:
        return await self.shown_seq(run_id) == self._events[run_id]

    async def shown_seq(self, run_id: RunId) -> int | None:
        """How far the thread has been drawn; None while somebody is at it."""
        return await asyncio.to_thread(_shown_seq, self.path, run_id)


def _of_run(run_id: RunId, event: Event) -> Event:
    """The ids of a history are its own; those of a second run must differ: ``apr_2x1``."""
    if run_id == "run_1":
        return event
    number = run_id.removeprefix("run_")
    renamed = re.sub(r'"(op|apr)_(\d+)"', rf'"\1_{number}x\2"', dump_text(dump_event(event)))
    return load_event(json.loads(renamed))


def reader(store: SqlStore) -> Callable[[RunId], Awaitable[RunState]]:
    async def read_state(run_id: RunId) -> RunState:
        return fold(await store.journal.read(run_id))

    return read_state


async def eventually(holds: Callable[[], Any]) -> None:
    """Wait until it holds; fail at the deadline."""
    async with asyncio.timeout(DEADLINE):
        while True:
            found = holds()
            if asyncio.iscoroutine(found):
                found = await found
            if found:
                return
            await asyncio.sleep(0.02)


def _shown_seq(path: Path, run_id: RunId) -> int | None:
    with closing(sqlite3.connect(path)) as database:
        row = database.execute(
            "select shown_seq from threads where run_id = ? and holder is null", (run_id,)
        ).fetchone()
    return None if row is None else int(row[0])


@asynccontextmanager
async def open_scene(folder: Path) -> AsyncIterator[Scene]:
    clock, path = SteppedClock(), folder / "pilothouse.db"
    async with AsyncExitStack() as stack:
        inside = Sandbox(clock=clock.seconds)
        sandbox = await stack.enter_async_context(open_sandbox(inside))
        store = await open_store(with_tables(path), clock=clock)
        stack.push_async_callback(store.close)
        yield Scene(clock, sandbox, path, store, stack)
