"""One connection to an MCP server, by the model library's toolset. Importing this takes seconds."""

from __future__ import annotations

import logging
import shutil
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
from fastmcp.client.logging import LogMessage
from fastmcp.client.transports import ClientTransport, StreamableHttpTransport
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS, METHOD_NOT_FOUND
from pydantic import JsonValue
from pydantic_ai.mcp import MCPToolset

from agent.tools.mcp.library_log import keep_quiet
from agent.tools.mcp.offered import Offered
from agent.tools.mcp.pipes import MESSAGE_LIMIT, PipeTransport
from agent.tools.mcp.requests import directly, through_proxies
from agent.tools.mcp.said import ErrorPipe, Said
from agent.tools.mcp.settings import ServerSettings

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "notice": logging.INFO}
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
#: By these a server says that it carried nothing out. All other codes the client gives as well where it heard nothing.
_NOT_CARRIED_OUT = (INVALID_PARAMS, METHOD_NOT_FOUND)
keep_quiet()


class NotCarriedOut(Exception):
    """The server says that it has not begun with it; the message says why."""


class Connection:
    """Opened once and closed once. Whatever goes wrong with it is raised as the library raises it."""

    def __init__(self, settings: ServerSettings, said: Said) -> None:
        self._settings = settings
        self._said = said
        self._open = AsyncExitStack()
        self._toolset: MCPToolset[None] | None = None

    async def open(self, within: timedelta) -> None:
        """Start the server, or find it, and shake hands."""
        try:
            self._toolset = await self._open.enter_async_context(self._made(within))
        except BaseException:
            await self._open.aclose()
            raise

    async def close(self) -> None:
        """End the server that was started: its input is closed; one that does not end by that is killed."""
        await self._open.aclose()

    async def tools(self) -> list[Offered]:
        assert self._toolset is not None, "it is open"
        return [_offered(tool) for tool in await self._toolset.list_tools()]

    async def call(
        self, tool: str, arguments: Mapping[str, JsonValue], meta: Mapping[str, Any]
    ) -> dict[str, Any]:
        """What it answers, in the form that it has on the wire. Raises ``NotCarriedOut``; by anything else that it
        raises nobody knows whether it was."""
        assert self._toolset is not None, "it is open"
        try:
            answer = await self._toolset.client.call_tool_mcp(
                tool, dict(arguments), meta=dict(meta), progress_handler=self._progress
            )
        except MCPError as error:
            if error.code in _NOT_CARRIED_OUT:
                raise NotCarriedOut(error.message) from error
            raise
        return answer.model_dump(mode="json", by_alias=True, exclude_none=True)

    def _made(self, within: timedelta) -> MCPToolset[None]:
        return MCPToolset(
            self._transport(),
            id=self._settings.name,
            tool_error_behavior="error",
            # What it has is asked for when it matters.
            cache_tools=False,
            log_handler=self._log,
            init_timeout=within.total_seconds(),
            # Whoever calls bounds it; this is for what nobody waits for any more.
            read_timeout=self._settings.timeout.total_seconds() + 5,
        )

    def _transport(self) -> ClientTransport:
        settings = self._settings
        if settings.url is not None:
            return StreamableHttpTransport(
                settings.url,
                headers=dict(settings.headers),
                httpx_client_factory=directly if _is_loopback(settings.url) else through_proxies,
                max_sse_event_size=MESSAGE_LIMIT,
            )
        pipe = ErrorPipe(self._said)
        self._open.push_async_callback(pipe.close)
        program, *arguments = settings.command
        command = (_found(program), *arguments)
        return PipeTransport(
            settings.name, command, settings.environment, settings.folder, pipe.file
        )

    async def _log(self, message: LogMessage) -> None:
        level = _LEVELS.get(str(message.level), logging.WARNING)
        self._said.line(str(message.data)[:10_000], level)

    async def _progress(self, progress: float, total: float | None, message: str | None) -> None:
        of = f" of {total:g}" if total else ""
        self._said.line(f"{progress:g}{of} {message or ''}"[:10_000])


def is_lost(error: BaseException) -> bool:
    """Is there nothing more to be had by the connection that raised it? Not where one answer alone was wrong."""
    if isinstance(error, BaseExceptionGroup):
        return any(map(is_lost, error.exceptions))
    if isinstance(error, MCPError):
        return error.code == CONNECTION_CLOSED
    return isinstance(error, OSError | httpx2.HTTPError)


def _offered(tool: Any) -> Offered:
    says = tool.annotations
    return Offered(
        name=tool.name,
        title=tool.title or (says.title if says else None) or tool.name,
        description=tool.description or "",
        schema=tool.input_schema,
        says_it_reads=says.read_only_hint if says else None,
        says_it_destroys=says.destructive_hint if says else None,
    )


def _found(program: str) -> str:
    """Also beside the Python that runs us, which need not be on the path: what is installed with us stands there."""
    beside = Path(sys.executable).parent / program
    return program if shutil.which(program) or not beside.is_file() else str(beside)


def _is_loopback(url: str) -> bool:
    return urlsplit(url).hostname in _LOOPBACK
