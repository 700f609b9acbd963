"""The pipes to a server that is started here: what it may write before it says something is bounded.

The library's own transport collects a line of any length, ever slower.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TextIO, TypeAlias

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from fastmcp.client.transports import ClientTransport
from fastmcp.client.transports.base import TransportOptions
from mcp import ClientSession
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

log = logging.getLogger(__name__)

#: Bytes of one message of a server's. One that writes more without an end is given up.
MESSAGE_LIMIT = 10_000_000
#: Seconds that a server has to end, once its input has ended and again after each signal.
_END_WITHIN = 2.0
_READ_AT_ONCE = 65_536

_FromServer: TypeAlias = SessionMessage | Exception


class PipeTransport(ClientTransport):
    """A program that is started for one session, and ends with it."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        errors: TextIO,
    ) -> None:
        self._name = name
        self._command = command
        self._environment = environment
        self._folder = folder
        self._errors = errors

    @asynccontextmanager
    async def connect_session(
        self, *, transport_options: TransportOptions | None = None, **session: Any
    ) -> AsyncGenerator[ClientSession, None]:
        """Raises ``OSError`` where it can't be started."""
        options = transport_options or TransportOptions()
        async with self._started() as process:
            to_session, from_server = anyio.create_memory_object_stream[_FromServer](0)
            to_server, from_session = anyio.create_memory_object_stream[SessionMessage](0)
            async with (
                anyio.create_task_group() as pipes,
                to_session,
                from_server,
                to_server,
                from_session,
            ):
                pipes.start_soon(_read, self._name, process, to_session)
                pipes.start_soon(_write, process, from_session, to_session)
                try:
                    async with options.session_class(from_server, to_server, **session) as made:
                        yield made
                finally:
                    # Whoever waits no more must not leave it behind: each wait is bounded.
                    with anyio.CancelScope(shield=True):
                        # What it still writes is read past, so that it can get to its end.
                        from_server.close()
                        await _ended(self._name, process)
                    pipes.cancel_scope.cancel()

    @asynccontextmanager
    async def _started(self) -> AsyncGenerator[Process, None]:
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.subprocess_exec(
            lambda: SubprocessStreamProtocol(limit=MESSAGE_LIMIT, loop=loop),
            *self._command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=self._errors,
            env=get_default_environment() | dict(self._environment),
            cwd=self._folder,
            # All that it starts is ended with it.
            start_new_session=True,
        )
        try:
            yield Process(transport, protocol, loop)
        finally:
            transport.close()


async def _read(
    name: str, process: Process, to_session: MemoryObjectSendStream[_FromServer]
) -> None:
    """Line by line, until it ends, or nobody listens any more."""
    assert process.stdout is not None, "it has a pipe"
    async with to_session:
        try:
            while line := await process.stdout.readline():
                await to_session.send(_message(line))
        except ValueError:
            log.warning(
                "MCP server %s has written more than %s bytes without an end; it is given up",
                name,
                f"{MESSAGE_LIMIT:,}",
            )
            # It need not be asked: nothing that it says from here on is a message.
            _signal(process, signal.SIGKILL)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            log.debug("the pipe from MCP server %s has ended", name)
    with suppress(OSError):
        while await process.stdout.read(_READ_AT_ONCE):
            pass


def _message(line: bytes) -> _FromServer:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    # The session deals with it; an error of pydantic's is one of these.
    except ValueError as error:
        return error


async def _write(
    process: Process,
    from_session: MemoryObjectReceiveStream[SessionMessage],
    to_session: MemoryObjectSendStream[_FromServer],
) -> None:
    assert process.stdin is not None, "it has a pipe"
    try:
        async for one in from_session:
            text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(f"{text}\n".encode())
            await process.stdin.drain()
    except OSError:
        # It may live on; but nobody is to wait for an answer to what it never got.
        await to_session.aclose()


async def _ended(name: str, process: Process) -> None:
    """Its input is closed; if that does not end it, it is told to, and then killed, with all that it has started."""
    assert process.stdin is not None, "it has a pipe"
    process.stdin.close()
    for sent in (None, signal.SIGTERM, signal.SIGKILL):
        if sent is not None:
            _signal(process, sent)
        with anyio.move_on_after(_END_WITHIN):
            await process.wait()
            return
    log.warning("MCP server %s does not end; its process id is %d", name, process.pid)


def _signal(process: Process, sent: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, sent)
