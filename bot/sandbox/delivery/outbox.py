"""Everything on its way to the app: events until acknowledged, interactions once."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from bot.sandbox.delivery.subscriptions import Subscriptions
from bot.sandbox.delivery.transport import Kind, Reply, Retry, Timing, Transport
from bot.sandbox.record import Record
from bot.sandbox.wire import Json

#: More events than these do not wait: the oldest is given up.
WAITING_AT_MOST = 2000


@dataclass(frozen=True)
class Answer:
    """What the person who acted gets to know."""

    reply: Reply
    elapsed_ms: int = 0


class Outbox:
    def __init__(
        self, transport: Transport, record: Record, timing: Timing, subscriptions: Subscriptions
    ) -> None:
        self._transport = transport
        self._record = record
        self._timing = timing
        self._subscriptions = subscriptions
        self._under_way: dict[asyncio.Task[Reply], None] = {}

    def publish(self, payload: Json) -> asyncio.Task[Reply] | None:
        """Send an event, again and again as Slack does, in the background.

        None where the app has not subscribed to it.
        """
        if not self._subscriptions.want(payload):
            return None
        return self._begin(self._deliver(payload))

    async def publish_and_wait(self, payloads: Sequence[Json]) -> Answer:
        """Send events; return when all are acknowledged, or after three seconds."""
        tasks = [task for one in payloads if (task := self.publish(one)) is not None]
        if not tasks:
            return Answer(Reply(False, why="the app is not told of this"))
        return await self._answered(tasks)

    async def repeat(self, payload: Json, retry: int) -> Answer:
        """Deliver an event once more, and only once; above 0, `retry` says the how-manieth it is."""
        repeated = Retry(retry, self._transport.no_answer) if retry else None
        return await self._answered([self._begin(self._transport.event(payload, repeated))])

    async def _answered(self, tasks: Sequence[asyncio.Task[Reply]]) -> Answer:
        started = asyncio.get_running_loop().time()
        done, _ = await asyncio.wait(tasks, timeout=self._timing.ack)
        replies = [task.result() for task in done if not task.cancelled()]
        refused = next((one for one in replies if not one.acknowledged), None)
        if refused is None and len(replies) < len(tasks):
            refused = Reply(False, why="not acknowledged yet")
        return Answer(refused or Reply(True), self._milliseconds_since(started))

    async def interact(self, kind: Kind, payload: Json) -> Answer:
        """Send what a person did, once: they see an error when no answer comes."""
        started = asyncio.get_running_loop().time()
        reply = await self._transport.interaction(kind, payload)
        if not reply.acknowledged and reply.blames_app:
            what = payload.get("type") or payload.get("command")
            self._record.violation("unanswered_interaction", f"{what}: {reply.why}")
        return Answer(reply, self._milliseconds_since(started))

    async def close(self) -> None:
        tasks = list(self._under_way)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._transport.close()

    def _begin(self, delivering: Coroutine[Any, Any, Reply]) -> asyncio.Task[Reply]:
        task = asyncio.create_task(delivering)
        self._under_way[task] = None
        task.add_done_callback(lambda done: self._under_way.pop(done, None))
        if len(self._under_way) > WAITING_AT_MOST:
            next(iter(self._under_way)).cancel()
        return task

    async def _deliver(self, payload: Json) -> Reply:
        reply = await self._transport.event(payload, None)
        for number, delay in enumerate(self._timing.retry_delays, start=1):
            if reply.acknowledged or not reply.retry_wanted:
                return reply
            await asyncio.sleep(delay)
            reply = await self._transport.event(payload, Retry(number, reply.why))
        return reply

    def _milliseconds_since(self, started: float) -> int:
        return round((asyncio.get_running_loop().time() - started) * 1000)
