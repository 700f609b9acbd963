"""A pooler in front of a server: the one that most people use, where it is installed."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
from sqlalchemy import make_url

from tests.store.network import network

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")

_SETTINGS = (
    "lock_timeout,idle_in_transaction_session_timeout,"
    "tcp_keepalives_idle,tcp_keepalives_interval,tcp_keepalives_count,tcp_user_timeout"
)


@asynccontextmanager
async def pooler(url: str, *, mode: str, ignores_settings: bool) -> AsyncIterator[str]:
    """The URL that leads through it. It refuses the settings of a connection, as it comes, or ignores
    them."""
    assert PROGRAM is not None, "asked for only where it is installed"
    async with network(url) as (_, through):
        with tempfile.TemporaryDirectory(prefix="pilothouse-pooler-") as name:
            server, port = make_url(through), await _free_port()
            config = Path(name) / "pooler.ini"
            config.write_text(
                f"[databases]\n"
                f"* = host={server.host} port={server.port} user={server.username}\n"
                f"[pgbouncer]\n"
                f"listen_addr = 127.0.0.1\n"
                f"listen_port = {port}\n"
                f"unix_socket_dir =\n"
                f"auth_type = any\n"
                f"pool_mode = {mode}\n"
                f"default_pool_size = 10\n"
                f"ignore_startup_parameters = {_SETTINGS if ignores_settings else ''}\n"
            )
            if os.geteuid() == 0:
                shutil.chown(name, "nobody", "nogroup")
                shutil.chown(config, "nobody", "nogroup")
            process = await asyncio.create_subprocess_exec(
                *_as_nobody(),
                PROGRAM,
                "-q",
                str(config),
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
            try:
                pooled = server.set(host="127.0.0.1", port=port)
                where = pooled.render_as_string(hide_password=False)
                await _until_it_answers(where)
                yield where
            finally:
                process.kill()
                await process.wait()


def _as_nobody() -> list[str]:
    """It refuses to run as root."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]


async def _free_port() -> int:
    listener = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = int(listener.sockets[0].getsockname()[1])
    listener.close()
    await listener.wait_closed()
    return port


async def _until_it_answers(url: str) -> None:
    async with asyncio.timeout(20):
        while True:
            try:
                await (await asyncpg.connect(url, statement_cache_size=0)).close()
                return
            except OSError:
                await asyncio.sleep(0.01)
