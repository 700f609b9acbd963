"""A store, a local Slack and drawers, all by one clock that the test moves."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from agent.ports import Lease
from agent.rules.events import Event, RunStarted
from agent.rules.fold import fold
from agent.rules.ids import EventId, RunId, SessionId
from agent.rules.json_text import dump_text
from agent.rules.recorded import Stamped, dump_event, load_event
from agent.rules.state import RunState
from bot.sandbox.opened import OpenSandbox, open_sandbox
from bot.sandbox.rates import RateMode
from bot.sandbox.state import Sandbox
from bot.slack.cards.message import Announcement
from bot.slack.cards.message import Message as SlackMessage
from bot.slack.clients import slack_client
from bot.slack.ids import Place
from bot.slack.thread.desired import desired
from bot.slack.thread.draw import ThreadDrawer
from bot.slack.thread.edge import SlackThreads
from store.open import SqlStore, open_store
from store.wakeups import HeardWakeups
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
    blocked: dict[RunId, dict[str, str]] = field(default_factory=dict)
    _running: dict[ThreadDrawer, asyncio.Task[None]] = field(default_factory=dict)
    _channels: dict[RunId, str] = field(default_factory=dict)
    _stores: list[SqlStore] = field(default_factory=list)

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
        if (in_slack := Place.of(place)) is not None:
            self._channels[run_id] = in_slack.channel
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

    async def draw(
        self,
        name: str = "bot-1",
        store: SqlStore | None = None,
        client: AsyncWebClient | None = None,
    ) -> ThreadDrawer:
        """A drawer that draws until the test ends."""
        store = store or self.store
        client = client or slack_client("xoxb-sandbox", self.sandbox.api_url)
        drawer = ThreadDrawer(
            store,
            SlackThreads(client),
            why_blocked=self.why_blocked,
            process_id=name,
            term=TERM,
            monotonic=self.clock.seconds,
        )
        running = self._running[drawer] = asyncio.create_task(drawer.run())

        async def stop() -> None:
            if not running.done():
                await drawer.stop()
            await asyncio.gather(running, return_exceptions=True)

        self._stack.push_async_callback(stop)
        return drawer

    def kill(self, drawer: ThreadDrawer) -> None:
        """What it was doing is cut off; what it has sent is on its way."""
        self._running[drawer].cancel()

    async def ended(self, drawer: ThreadDrawer) -> None:
        """It is killed, and does nothing any more."""
        self.kill(drawer)
        await asyncio.gather(self._running[drawer], return_exceptions=True)

    def bury(self, name: str) -> None:
        """The dead hold nothing."""
        with closing(sqlite3.connect(self.path)) as database, database:
            database.execute(
                "update threads set holder = null, lease_expires_at = null, wake_at = 1 where holder = ?",
                (name,),
            )

    async def differs(self, run_id: RunId) -> list[str]:
        """The keys of what the thread shows otherwise than the run wants it to. What was posted and never
        edited may still ring whom it rang."""
        shown = self.messages(run_id)
        return [
            one.key
            for one in desired(await self.state(run_id))
            if [_plain(found) for found in shown.get(_LATER_ID.sub("_", one.key), [])]
            not in (
                [_plain(_as_sent(one.message))],
                [_plain(_as_sent(one.message.first))],
                # Nobody saw what it is to be put in place of.
                *([[]] if one.is_past else []),
            )
        ]

    async def why_blocked(self, state: RunState) -> dict[str, str] | None:
        """As the test has put it."""
        return self.blocked.get(state.run_id)

    async def second_store(self) -> SqlStore:
        """Another process's handle on the same file."""
        store = await open_store(f"sqlite:///{self.path}", clock=self.clock)
        self._stack.push_async_callback(store.close)
        self._stores.append(store)
        return store

    def wake(self) -> None:
        """Have everybody look at what has fallen due."""
        for store in (self.store, *self._stores):
            # A file's own look for what was committed, and that time has passed is not.
            HeardWakeups.moved(store.wakeups)

    async def claim(self, run_id: RunId) -> Lease:
        """The thread's lease, in the test's own hand."""
        (lease,) = await self.store.thread_leases.claim("test", TERM, 1)
        assert lease.run_id == run_id
        return lease

    def messages(self, run_id: RunId) -> dict[str, list[Message]]:
        """All of the run's messages by key, wherever in its channel they stand."""
        found: dict[str, list[Message]] = {}
        channel = self._channels.get(run_id, CHANNEL)
        for top in self.sandbox.messages(channel):
            for one in self.sandbox.messages(channel, top["ts"]):
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

    def overwrite_address(self, run_id: RunId, key: str, address: str) -> None:
        """Somebody has changed by hand where it stands."""
        with closing(sqlite3.connect(self.path)) as database, database:
            database.execute(
                "update thread_messages set address = ? where run_id = ? and key = ?",
                (address, run_id, key),
            )

    def lose_thread(self, run_id: RunId) -> None:
        """Nothing is left of its thread."""
        self.lose_messages(run_id, None)
        with closing(sqlite3.connect(self.path)) as database, database:
            database.execute("delete from threads where run_id = ?", (run_id,))

    async def until_drawn(self, run_id: RunId, *, step: float = 0) -> dict[str, list[Message]]:
        """Once the thread shows the run as it is; its messages by key.

        With a step, so many seconds pass whenever nothing more can be drawn at this time.
        """

        await eventually(lambda: self.is_drawn_by_now(run_id, step=step))
        return self.messages(run_id)

    async def state(self, run_id: RunId) -> RunState:
        return fold(await self.store.journal.read(run_id))

    async def is_drawn(self, run_id: RunId) -> bool:
        return await self.shown_seq(run_id) == self._events[run_id]

    async def is_drawn_by_now(self, run_id: RunId, *, step: float) -> bool:
        """If not, and nothing more can be drawn at this time, so many seconds pass."""
        if await self.is_drawn(run_id):
            return True
        if step and not self.is_busy():
            self.clock.advance(step)
            self.wake()
        return False

    def is_busy(self) -> bool:
        """Is any thread due at this time, or anybody at one?"""
        return _is_any_due(self.path, self.clock.now())

    async def settled(self) -> None:
        """Once no thread is due at this time, and nobody is at one."""
        await eventually(lambda: not self.is_busy())

    async def shown_seq(self, run_id: RunId) -> int | None:
        """How far the thread has been drawn; None while somebody is at it."""
        return await asyncio.to_thread(_shown_seq, self.path, run_id)


def _as_sent(form: SlackMessage | Announcement) -> Message:
    return {"text": form.text, "blocks": list(form.blocks)}


def _plain(message: Message) -> str:
    """What of it is ours: Slack gives each block an id."""
    blocks = [{k: v for k, v in one.items() if k != "block_id"} for one in message["blocks"]]
    return json.dumps([message["text"], blocks], sort_keys=True)


def _of_run(run_id: RunId, event: Event) -> Event:
    """The ids of a history are its own; those of a second run must differ: ``apr_2x1``."""
    if run_id == "run_1":
        return event
    number = run_id.removeprefix("run_")
    renamed = re.sub(r'"(op|apr)_(\d+)"', rf'"\1_{number}x\2"', dump_text(dump_event(event)))
    return load_event(json.loads(renamed))


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


def _is_any_due(path: Path, now: datetime) -> bool:
    with closing(sqlite3.connect(path)) as database:
        (due,) = database.execute(
            "select count(*) from threads where holder is not null or wake_at <= ?",
            (int(now.timestamp() * 1_000_000),),
        ).fetchone()
    return bool(due)


@asynccontextmanager
async def open_scene(folder: Path, *, rates: RateMode = "off") -> AsyncIterator[Scene]:
    clock, path = SteppedClock(), folder / "pilothouse.db"
    async with AsyncExitStack() as stack:
        inside = Sandbox(clock=clock.seconds, rates=rates)
        sandbox = await stack.enter_async_context(open_sandbox(inside))
        store = await open_store(with_tables(path), clock=clock)
        stack.push_async_callback(store.close)
        yield Scene(clock, sandbox, path, store, stack)
