"""A real server, started for a test, and what was done with it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from agent.rules.ids import OperationId
from agent.tools.context import Committed
from agent.tools.mcp.server import McpServer
from agent.tools.mcp.settings import ServerSettings

SCRIPT = Path(__file__).with_name("notes.py")
KEY = "k3y-of-this-test"


def notes(folder: Path, **more: Any) -> McpServer:
    """Through its standard input."""
    settings: dict[str, Any] = {
        "name": "notes",
        "command": (sys.executable, str(SCRIPT), str(folder)),
        "folder": folder,
        "environment": {"NOTES_KEY": KEY},
        "timeout": timedelta(seconds=20),
    }
    return McpServer(ServerSettings(**settings | more))


@asynccontextmanager
async def running(server: McpServer) -> AsyncIterator[McpServer]:
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


async def call(server: McpServer, tool: str, **arguments: Any) -> Committed:
    """As the engine calls it."""
    declared = server.tools[f"{server.name}.{tool}"]
    return await declared.send(declared, declared.check(arguments).root, OperationId("op_1"))


def written(folder: Path) -> list[str]:
    file = folder / "notes.txt"
    return file.read_text().split("\n")[:-1] if file.exists() else []


async def until(is_so: Callable[[], Any]) -> None:
    """Look again and again, for half a minute at most."""
    async with asyncio.timeout(30):
        # Nothing tells when another process has come so far.
        while not is_so():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def raised(work: Awaitable[Any]) -> Exception:
    try:
        found = await work
    except Exception as error:
        return error
    raise AssertionError(f"it gave {found!r}")
