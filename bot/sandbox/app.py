"""The sandbox as a web application, and ways to run it."""

from __future__ import annotations

import asyncio
import errno
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from types import TracebackType

from aiohttp import web

from bot.sandbox.act.server import acting
from bot.sandbox.delivery.transport import Timing
from bot.sandbox.inspect import faulting, looking
from bot.sandbox.live import living
from bot.sandbox.page.server import showing
from bot.sandbox.reading import plain_refusals, same_machine_only
from bot.sandbox.response_endpoint import responding
from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.server import web_api

HOST = "127.0.0.1"
BODY_BYTES = 4 * 1024 * 1024


class PortTaken(Exception):
    """Another program listens there already."""

    def __init__(self, port: int) -> None:
        super().__init__(f"port {port} on {HOST} is taken")
        self.port = port


def make_app(sandbox: Sandbox) -> web.Application:
    """Everything the sandbox serves. The application starts and closes the sandbox."""
    app = web.Application(
        middlewares=[plain_refusals, same_machine_only], client_max_size=BODY_BYTES
    )
    for routes in (web_api, responding, acting, looking, faulting, living, showing):
        app.add_routes(routes(sandbox))
    app.router.add_get("/socket", sandbox.socket.serve)

    async def life(app: web.Application) -> AsyncIterator[None]:
        sandbox.start()
        yield
        await sandbox.close()

    app.cleanup_ctx.append(life)
    app.on_shutdown.append(_let_go(sandbox))
    return app


def _let_go(sandbox: Sandbox) -> Callable[[web.Application], Awaitable[None]]:
    async def let_go(app: web.Application) -> None:
        """End what would keep the server waiting: open sockets and long polls."""
        sandbox.record.wake()
        await sandbox.socket.close()

    return let_go


class RunningSandbox:
    """Serves a sandbox on loopback while the context is open; port 0 takes a free one.

    Raises `PortTaken`, or `StateFileUnreadable` where the state file is damaged.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        deliver: Sequence[str] = (),
        state_file: Path | None = None,
        clock: Callable[[], float] = time.time,
        timing: Timing | None = None,
    ) -> None:
        self.port = port
        self.sandbox = Sandbox(deliver=deliver, state_file=state_file, clock=clock, timing=timing)
        self._runner = web.AppRunner(make_app(self.sandbox), access_log=None, shutdown_timeout=1.0)

    @property
    def url(self) -> str:
        """The page's address, without a slash at the end."""
        return f"http://{HOST}:{self.port}"

    @property
    def api_url(self) -> str:
        """What goes into SLACK_API_URL."""
        return f"{self.url}/api/"

    async def __aenter__(self) -> RunningSandbox:
        await self._runner.setup()
        site = web.TCPSite(self._runner, HOST, self.port)
        try:
            await site.start()
        except OSError as error:
            await self._runner.cleanup()
            if error.errno == errno.EADDRINUSE:
                raise PortTaken(self.port) from error
            raise
        self.port = self._runner.addresses[0][1]
        self.sandbox.base_url = self.url
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._runner.cleanup()


async def run_sandbox(
    port: int,
    deliver: Sequence[str] = (),
    state_file: Path | None = None,
    started: Callable[[str], None] | None = None,
) -> None:
    """Serve until cancelled; `started` is told the page's address. Raises `PortTaken`."""
    async with RunningSandbox(port=port, deliver=deliver, state_file=state_file) as running:
        if started is not None:
            started(running.url)
        await asyncio.Event().wait()
