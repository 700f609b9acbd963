"""One place where HTTP listens."""

from __future__ import annotations

import errno
import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from aiohttp import web

from agent.errors import PilothouseError

BODY_BYTES = 1024 * 1024
SHUTDOWN_SECONDS = 3.0


class CannotListen(PilothouseError):
    """The address is taken, or may not be used."""

    code = "cannot_listen"

    def __init__(self, host: str, port: int, error: OSError) -> None:
        why = "is taken" if error.errno == errno.EADDRINUSE else f"can't be used: {_words(error)}"
        super().__init__(
            f"Port {port} on {host} {why}. Nothing was started; "
            "choose another with --port or PILOTHOUSE_HTTP_PORT (0 takes a free one)."
        )
        self.host = host
        self.port = port


@asynccontextmanager
async def listening(
    routes: Iterable[web.AbstractRouteDef], host: str, port: int
) -> AsyncIterator[int]:
    """Serve the routes; gives the port, which is a free one for 0. Raises ``CannotListen``."""
    app = web.Application(client_max_size=BODY_BYTES)
    app.add_routes(routes)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_SECONDS)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            raise CannotListen(host, port, error) from error
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def _words(error: OSError) -> str:
    # For some failures asyncio puts a sentence of its own into strerror.
    return os.strerror(error.errno) if error.errno is not None and error.errno > 0 else str(error)
