"""An app's URL that answers as a test wants, with the real app behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp

from bot.sandbox.delivery.transport import Timing
from tests.sandbox.driving import Driver, driving
from tests.sandbox.passing import time_passes

#: Slack is in no hurry for the answer, and sends again at once.
QUICK = Timing(ack=30.0, retry_delays=(0.0, 0.0, 0.0))
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Endpoint:
    """An app's URL, there before the app is: the sandbox wants it first."""

    def __init__(self) -> None:
        self.app: AsyncApp | None = None
        self.url = ""
        #: What it answers to the next requests, before the app is asked.
        self.answers: list[Answer] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[bytes] = []
        #: Set by an answer that does not end.
        self.drips = asyncio.Event()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.headers.append(dict(request.headers))
        self.bodies.append(await request.read())
        if self.answers[:1] == [dripping]:
            self.drips.set()
        if self.answers:
            return await self.answers.pop(0)(request)
        if self.app is None:
            return web.Response()
        bolt_request = await to_bolt_request(request)
        return await to_aiohttp_response(await self.app.async_dispatch(bolt_request))

    @property
    def retries(self) -> list[tuple[str | None, str | None]]:
        """Number and reason, of each request."""
        names = ("X-Slack-Retry-Num", "X-Slack-Retry-Reason")
        return [(one.get(names[0]), one.get(names[1])) for one in self.headers]


def answering(status: int = 200, text: str = "", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=status, text=text, headers=named)

    return answer


async def dripping(request: web.Request) -> web.StreamResponse:
    """The head at once, and a body that doesn't end in time."""
    response = web.StreamResponse()
    await response.prepare(request)
    with suppress(ConnectionError):
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.02)
    return response


async def dropping(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


@asynccontextmanager
async def listening() -> AsyncIterator[Endpoint]:
    endpoint = Endpoint()
    web_app = web.Application()
    web_app.router.add_post("/slack/events", endpoint.answer)
    runner = web.AppRunner(web_app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    endpoint.url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    try:
        yield endpoint
    finally:
        await runner.cleanup()


@asynccontextmanager
async def one_endpoint(**settings: Any) -> AsyncIterator[tuple[Endpoint, Driver]]:
    async with listening() as endpoint:
        settings = {"deliver": [endpoint.url], "timing": QUICK, **settings}
        async with driving(**settings) as driver:
            yield endpoint, driver


async def in_vain(endpoint: Endpoint, doing: Coroutine[Any, Any, Any]) -> Any:
    """What comes of it when the next answer is `dripping`: until then Slack's time passes."""
    done = asyncio.create_task(doing)
    await asyncio.wait_for(endpoint.drips.wait(), 10)
    await time_passes(QUICK.ack)
    return await done


async def say(driver: Driver) -> Any:
    return await driver.act("U0BOB", "message", channel="D0BOB", text="hello")


async def command(driver: Driver) -> Any:
    return await driver.act("U0BOB", "command", channel="C0OPS", command="/agent", text="a & b")
