"""What a server says beside its answers: it goes to the log, under its name, without secrets."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections import deque
from typing import TextIO

from agent.tools.mcp.settings import ServerSettings

log = logging.getLogger(__name__)

_LINE_LIMIT = 2_000
_READ_AT_ONCE = 65_536
#: Shorter ones stand in everything.
_SHORTEST_SECRET = 4
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_BREAKS = re.compile(r"\s*\n\s*")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")


class Said:
    """The log of one server."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._newest: deque[str] = deque(maxlen=1)

    @property
    def last(self) -> str:
        """The last line that it wrote; empty if there was none."""
        return self._newest[-1] if self._newest else ""

    def line(self, text: str, level: int = logging.INFO) -> None:
        if shown := clean(text, self._settings):
            self._newest.append(shown)
            log.log(level, "MCP server %s: %s", self._settings.name, shown)


def clean(text: str, settings: ServerSettings) -> str:
    """One line of it as it may be shown."""
    shown = _BREAKS.sub(" ", _CONTROLS.sub("", _COLOURS.sub("", text)).strip())
    for secret in settings.secrets:
        if len(secret) >= _SHORTEST_SECRET:
            shown = shown.replace(secret, "••••••••")
    shown = settings.mask(shown)
    return shown if len(shown) <= _LINE_LIMIT else f"{shown[:_LINE_LIMIT]} …"


class ErrorPipe:
    """A pipe for the standard error of a server; what comes out of it is logged line by line."""

    def __init__(self, said: Said) -> None:
        reading, writing = os.pipe()
        #: Given to the server as its standard error.
        self.file: TextIO = os.fdopen(writing, "w", encoding="utf-8")
        self._reading = os.fdopen(reading, "rb", buffering=0)
        self._said = said
        self._task = asyncio.create_task(self._read(), name="standard error of an MCP server")

    async def close(self) -> None:
        """Once the server has ended: what it has written is read to its end; not what a child of its own goes on to
        write."""
        self.file.close()
        done, _ = await asyncio.wait({self._task}, timeout=1.0)
        if not done:
            self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _read(self) -> None:
        stream = asyncio.StreamReader(limit=_READ_AT_ONCE)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), self._reading
        )
        try:
            rest = b""
            while some := await stream.read(_READ_AT_ONCE):
                *lines, rest = (rest + some).split(b"\n")
                if len(rest) > _READ_AT_ONCE:
                    lines, rest = [*lines, rest], b""
                for line in lines:
                    self._said.line(line.decode("utf-8", "replace"))
            self._said.line(rest.decode("utf-8", "replace"))
        finally:
            transport.close()
