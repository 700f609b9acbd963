"""A way to the app on which deliveries are lost, late or doubled on request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from bot.sandbox.delivery.transport import Kind, Reply, Retry, Transport
from bot.sandbox.faults.fault import Fault
from bot.sandbox.faults.waiting import Faults
from bot.sandbox.wire import Json


class FaultyTransport:
    """Each delivery, a retry too, suffers the faults that wait for its kind."""

    def __init__(
        self,
        transport: Transport,
        faults: Faults,
        *,
        expire_trigger: Callable[[str], None],
        patience: float,
    ) -> None:
        """`patience`: after so many seconds Slack thinks that a lost delivery is unanswered."""
        self.no_answer = transport.no_answer
        self._transport = transport
        self._faults = faults
        self._expire_trigger = expire_trigger
        self._patience = patience
        self._under_way: set[asyncio.Task[Reply]] = set()

    async def event(self, payload: Json, retry: Retry | None) -> Reply:
        suffered = self._faults.take_delivery(payload["event"]["type"], payload)
        return await self._suffer(suffered, lambda: self._transport.event(payload, retry))

    async def interaction(self, kind: Kind, payload: Json) -> Reply:
        what = payload.get("type", "") if kind == "interactive" else "slash_command"
        suffered = self._faults.take_delivery(what, payload)
        if "expired_trigger" in suffered:
            self._expire_trigger(payload["trigger_id"])
        delivering = asyncio.create_task(
            self._suffer(suffered, lambda: self._transport.interaction(kind, payload))
        )
        self._under_way.add(delivering)
        delivering.add_done_callback(self._under_way.discard)
        # What comes late still comes; the person who acted has been shown an error by then.
        patience = self._patience if "delay" in suffered else None
        done, _ = await asyncio.wait([delivering], timeout=patience)
        if done:
            return delivering.result()
        return Reply(False, why=self.no_answer, blames_app=False)

    async def close(self) -> None:
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)
        await self._transport.close()

    async def _suffer(
        self, suffered: dict[str, Fault], deliver: Callable[[], Awaitable[Reply]]
    ) -> Reply:
        if "delay" in suffered:
            await asyncio.sleep(suffered["delay"].value)
        if "lost" in suffered:
            await asyncio.sleep(self._patience)
            return Reply(False, why=self.no_answer, blames_app=False)
        if "duplicate" in suffered:
            return await _first_acknowledged(deliver(), deliver())
        return await deliver()


async def _first_acknowledged(*deliveries: Awaitable[Reply]) -> Reply:
    answers = await asyncio.gather(*deliveries)
    return next((one for one in answers if one.acknowledged), answers[0])
