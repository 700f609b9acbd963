"""A store, a local Slack and drawers, all by one clock that the test moves."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
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
from bot.sandbox.workspace import Channel
from bot.slack.cards.message import Announcement
from bot.slack.cards.message import Message as SlackMessage
from bot.slack.clients import slack_client
from bot.slack.ids import Place
from bot.slack.people import People
from bot.slack.subscribed import SUBSCRIBED
from bot.slack.thread.desired import desired
from bot.slack.thread.draw import ThreadDrawer
from bot.slack.thread.edge import SlackThreads
from bot.slack.thread.keys import STATUS_KEY
from store.open import SqlStore, open_store
from store.wakeups import HeardWakeups
from tests.agent.rules.histories import History
from tests.bot.thread.clocks import SteppedClock
from tests.bot.thread.rows import Rows, rows_of
from tests.store.files import with_tables

TERM = timedelta(seconds=30)
TEAM, CHANNEL = "T0PILOT", "C0SUPPORT"
DEADLINE, PAUSE = 15.0, 0.02

Message = dict[str, Any]
_LATER_ID = re.compile(r"_\d+x")


@dataclass
class Scene:
    """What a test acts on and looks at."""

    clock: SteppedClock
    sandbox: OpenSandbox
    url: str
    rows: Rows
    store: SqlStore
    _stack: AsyncExitStack
    _runs: int = 0
    _events: dict[RunId, int] = field(default_factory=dict)
    blocked: dict[RunId, dict[str, str]] = field(default_factory=dict)
    _running: dict[ThreadDrawer, asyncio.Task[None]] = field(default_factory=dict)
    _channels: dict[RunId, str] = field(default_factory=dict)
    _stores: list[SqlStore] = field(default_factory=list)
    #: How to wake who draws in another process.
    wakers: list[Callable[[], None]] = field(default_factory=list)
    #: Who died: what the last of their statements took nobody is at.
    _dead: set[str] = field(default_factory=set)

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
            people=People(client, seconds=self.clock.seconds),
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
        self._dead.add(name)
        self.rows.ask(
            "update threads set holder = null, lease_expires_at = null, wake_at = 1 where holder = ?",
            name,
        )

    async def differs(self, run_id: RunId) -> list[str]:
        """The keys of what the thread shows otherwise than the run wants it to. What was posted and never
        edited may still ring whom it rang; where that does not say all, it is edited."""
        shown, wanted = self.messages(run_id), desired(await self.state(run_id))
        roots = [one["ts"] for one in shown.get(STATUS_KEY, [])]
        channel = self._channels.get(run_id, CHANNEL)
        attached = [name for root in roots for name in self._attached(channel, root)]
        missing = [
            one.key for one in wanted if one.file is not None and attached.count(one.file.name) != 1
        ]
        return missing + [
            one.key
            for one in wanted
            if one.file is None
            and [_plain(found) for found in shown.get(_LATER_ID.sub("_", one.key), [])]
            not in (
                [_plain(_as_sent(one.message))],
                *([[_plain(_as_sent(one.message.first))]] if one.message.first.is_complete else []),
                # Nobody saw what it is to be put in place of.
                *([[]] if one.is_past else []),
            )
        ]

    def _attached(self, channel: str, thread_ts: str) -> list[str]:
        """The names of the files that stand in a thread."""
        said = self.sandbox.messages(channel, thread_ts)
        files = [file for one in said for file in one.get("files", [])]
        return [file["name"] for file in files if file["mode"] != "tombstone"]

    async def why_blocked(self, state: RunState) -> dict[str, str] | None:
        """As the test has put it."""
        return self.blocked.get(state.run_id)

    async def second_store(self) -> SqlStore:
        """Another process's handle on the same database."""
        store = await open_store(self.url, clock=self.clock)
        self._stack.push_async_callback(store.close)
        self._stores.append(store)
        return store

    async def close(self, store: SqlStore) -> None:
        """Whoever had it is gone: a server has only so many connections."""
        self._stores.remove(store)
        await store.close()

    def wake(self) -> None:
        """Have everybody look at what has fallen due."""
        for store in (self.store, *self._stores):
            # A file's own look for what was committed, and that time has passed is not.
            HeardWakeups.moved(store.wakeups)
        for wake in self.wakers:
            wake()

    async def claim(self, run_id: RunId) -> Lease:
        """The thread's lease, in the test's own hand."""
        (lease,) = await self.store.thread_leases.claim("test", TERM, 1)
        assert lease.run_id == run_id
        return lease

    def refused(self, method: str) -> list[Message]:
        """The calls of this method to which Slack has said no."""
        return [one for one in self.sandbox.calls(method) if one.get("ok") is False]

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
        self.rows.ask(
            "delete from thread_messages where run_id = ? and substr(key, 1, ?) = ?",
            run_id,
            len(key or ""),
            key or "",
        )

    def overwrite_address(self, run_id: RunId, key: str, address: str) -> None:
        """Somebody has changed by hand where it stands."""
        self.rows.ask(
            "update thread_messages set address = ? where run_id = ? and key = ?",
            address,
            run_id,
            key,
        )

    def lose_thread(self, run_id: RunId) -> None:
        """Nothing is left of its thread."""
        self.lose_messages(run_id, None)
        self.rows.ask("delete from threads where run_id = ?", run_id)

    async def until_drawn(self, run_id: RunId, *, step: float = 0) -> dict[str, list[Message]]:
        """Once the thread shows the run as it is; its messages by key.

        With a step, so many seconds pass whenever nothing more can be drawn at this time.
        """

        # Where time is stepped, it passes only while nobody has anything to do: no need to be patient.
        pause = 0.002 if step else PAUSE
        await eventually(lambda: self.is_drawn_by_now(run_id, step=step), pause)
        return self.messages(run_id)

    async def state(self, run_id: RunId) -> RunState:
        return fold(await self.store.journal.read(run_id))

    async def is_drawn(self, run_id: RunId) -> bool:
        return await self.shown_seq(run_id) == self._events[run_id]

    async def is_drawn_by_now(self, run_id: RunId, *, step: float) -> bool:
        """If not, and nothing more can be drawn at this time, so many seconds pass."""
        if await self.is_drawn(run_id):
            return True
        if step:
            self.pass_time(step)
        return False

    async def until_all_drawn(self, runs: Iterable[RunId], *, step: float) -> None:
        """However long that takes: time passes only while nobody has anything to do."""
        while not set(runs) <= self.drawn():
            self.pass_time(step)
            await asyncio.sleep(0.001)

    def pass_time(self, seconds: float) -> None:
        """Unless somebody has something to do."""
        if not self.is_busy():
            self.clock.advance(seconds)
            self.wake()

    def drawn(self) -> set[RunId]:
        """Those whose threads show them as they are."""
        found = self.rows.ask(
            "select run_id from threads where shown_seq = wanted_seq and holder is null"
        )
        return {RunId(run_id) for (run_id,) in found}

    def is_busy(self) -> bool:
        """Is any thread due at this time, or anybody at one?"""
        found = self.rows.ask(
            "select holder from threads where holder is not null or wake_at <= ?",
            int(self.clock.seconds() * 1_000_000),
        )
        return any(holder not in self._dead for (holder,) in found)

    async def settled(self) -> None:
        """Once no thread is due at this time, and nobody is at one."""
        await eventually(lambda: not self.is_busy())

    async def shown_seq(self, run_id: RunId) -> int | None:
        """How far the thread has been drawn; None while somebody is at it."""
        found = self.rows.ask(
            "select shown_seq from threads where run_id = ? and holder is null", run_id
        )
        return found[0][0] if found else None


def many_channels(sandbox: OpenSandbox, count: int) -> list[str]:
    """So many more of them, with the bot in each."""
    ids = [f"C0MANY{number:02}" for number in range(count)]
    for one in ids:
        channel = Channel(one, one.lower(), "public", ["U0ALICE", "U0PILOT"])
        sandbox.inside.workspace.channels[one] = channel
    return ids


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


async def eventually(holds: Callable[[], Any], pause: float = PAUSE) -> None:
    """Wait until it holds; fail at the deadline."""
    async with asyncio.timeout(DEADLINE):
        while True:
            found = holds()
            if asyncio.iscoroutine(found):
                found = await found
            if found:
                return
            await asyncio.sleep(pause)


@asynccontextmanager
async def open_scene(
    folder: Path,
    *,
    rates: RateMode = "off",
    url: str | None = None,
    allow_violations: bool = False,
) -> AsyncIterator[Scene]:
    """On a file of the folder, unless a database of this ``url`` is given, which has its tables."""
    clock, url = SteppedClock(), url or with_tables(folder / "pilothouse.db")
    async with AsyncExitStack() as stack:
        inside = Sandbox(clock=clock.seconds, rates=rates, events=SUBSCRIBED)
        sandbox = await stack.enter_async_context(
            open_sandbox(inside, allow_violations=allow_violations)
        )
        rows = rows_of(url)
        stack.callback(rows.close)
        store = await open_store(url, clock=clock)
        stack.push_async_callback(store.close)
        yield Scene(clock, sandbox, url, rows, store, stack)
