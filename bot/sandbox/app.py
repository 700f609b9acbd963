"""The sandbox as a web application, and ways to run it."""

from __future__ import annotations

import errno
import ipaddress
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from email.utils import formatdate
from types import TracebackType

from aiohttp import web

from bot.sandbox.act.server import acting
from bot.sandbox.face_endpoint import facing
from bot.sandbox.file_endpoint import filing
from bot.sandbox.inspecting.server import inspecting
from bot.sandbox.live import living
from bot.sandbox.looking import looking
from bot.sandbox.ordering.server import faulting
from bot.sandbox.page.server import showing
from bot.sandbox.policy_endpoint import setting
from bot.sandbox.reading import is_loopback, known_names_only, plain_refusals
from bot.sandbox.response_endpoint import responding
from bot.sandbox.state import Sandbox
from bot.sandbox.token_endpoint import taking
from bot.sandbox.webapi.server import web_api

HOST = "127.0.0.1"
BODY_BYTES = 4 * 1024 * 1024


class PortTaken(Exception):
    """Another program listens there already."""

    def __init__(self, port: int, host: str = HOST) -> None:
        super().__init__(f"port {port} on {host} is taken")
        self.port = port
        self.host = host


class NotLoopback(Exception):
    """Other machines would reach this address, and nothing said that they may."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"{host} is reached from other machines. Whoever reaches a sandbox reads all that is in "
            "it and acts as anybody in it: there is no password."
        )
        self.host = host


class NotAName(Exception):
    """What is to be the sandbox's name is neither a host's name nor an address."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} is no name of a host, such as sandbox.local, and no address.")
        self.name = name


def make_app(sandbox: Sandbox, name: str | None = None) -> web.Application:
    """Everything the sandbox serves. The application starts and closes the sandbox."""
    app = web.Application(
        middlewares=[plain_refusals, known_names_only(name)], client_max_size=BODY_BYTES
    )
    for routes in (
        web_api,
        responding,
        acting,
        looking,
        faulting,
        living,
        inspecting,
        showing,
        facing,
        filing,
        setting,
        taking,
    ):
        app.add_routes(routes(sandbox))
    app.router.add_get("/socket", sandbox.socket.serve)

    async def life(app: web.Application) -> AsyncIterator[None]:
        sandbox.start()
        yield
        await sandbox.close()

    app.cleanup_ctx.append(life)
    app.on_shutdown.append(_let_go(sandbox))
    app.on_response_prepare.append(_date(sandbox))
    return app


def _date(sandbox: Sandbox) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    async def date(request: web.Request, response: web.StreamResponse) -> None:
        """An answer is of the time of which its messages are."""
        response.headers["Date"] = formatdate(sandbox.clock(), usegmt=True)

    return date


def _let_go(sandbox: Sandbox) -> Callable[[web.Application], Awaitable[None]]:
    async def let_go(app: web.Application) -> None:
        """End what would keep the server waiting: open sockets and long polls."""
        sandbox.record.wake()
        await sandbox.socket.close()

    return let_go


class RunningSandbox:
    """Serves a sandbox while the context is open; port 0 takes a free one.

    `name`: under which others reach it, where they do. Raises `NotLoopback` for a `host` that isn't
    this machine's own without a `name`, `NotAName`, `PortTaken`, or `StateFileUnreadable` where the
    state file is damaged.
    """

    def __init__(
        self, sandbox: Sandbox, *, port: int = 0, host: str = HOST, name: str | None = None
    ) -> None:
        if name is None and not is_loopback(host):
            raise NotLoopback(host)
        if name is not None and not _is_name(name):
            raise NotAName(name)
        self.port = port
        self.sandbox = sandbox
        self._host = host
        self._name = name or host
        app = make_app(sandbox, name)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)

    @property
    def url(self) -> str:
        """The page's address, without a slash at the end."""
        return f"http://{f'[{self._name}]' if ':' in self._name else self._name}:{self.port}"

    @property
    def api_url(self) -> str:
        """What goes into SLACK_API_URL."""
        return f"{self.url}/api/"

    async def __aenter__(self) -> RunningSandbox:
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self.port)
        try:
            await site.start()
        except OSError as error:
            await self._runner.cleanup()
            if error.errno == errno.EADDRINUSE:
                raise PortTaken(self.port, self._host) from error
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


def _is_name(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return re.fullmatch(r"[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?", name) is not None
    return True
