"""A Bolt app against a running sandbox, over either transport, just as an app would run."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from slack_bolt.async_app import AsyncApp

from bot.sandbox.opened import OpenSandbox
from tests.sandbox.driving import Driver, connected, driving

TRANSPORTS = ("socket", "http")


@dataclass(frozen=True)
class Served:
    driver: Driver
    app: AsyncApp


@asynccontextmanager
async def served(
    transport: str,
    make_app: Callable[[OpenSandbox], AsyncApp],
    *,
    connections: int = 1,
    **settings: Any,
) -> AsyncIterator[Served]:
    """The app is reached on so many sockets, or at so many URLs."""
    listening = [_free_port() for _ in range(connections if transport == "http" else 0)]
    urls = [f"http://127.0.0.1:{one.getsockname()[1]}/slack/events" for one in listening]
    async with driving(deliver=urls, **settings) as driver, AsyncExitStack() as stack:
        app = make_app(driver.running)
        for one in listening:
            # As in `app.start()`; an application of aiohttp's serves at one place.
            runner = web.AppRunner(app.server(path="/slack/events").web_app)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            await web.SockSite(runner, one).start()
        for _ in range(0 if listening else connections):
            await stack.enter_async_context(connected(app))
        yield Served(driver, app)


def _free_port() -> socket.socket:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    return listening
