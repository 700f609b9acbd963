"""One socket of an app: what goes over it, and how it can fail."""

from __future__ import annotations

import asyncio
from asyncio import FIRST_COMPLETED
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from aiohttp import WSMessage, WSMsgType, web

from bot.sandbox.wire import Json, parse_json

#: So many pings in a row without a pong, and the app is thought to be gone.
PINGS_UNANSWERED = 2
#: So long an app may take to answer a closing frame.
CLOSING_SECONDS = 1.0
ENDS = (WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED, WSMsgType.ERROR)


class Connection:
    """Made of a prepared WebSocket without aiohttp's own pings, which would go on while frozen."""

    def __init__(self, id: str, ws: web.WebSocketResponse, transport: asyncio.Transport) -> None:
        self.id = id
        #: True once the sandbox has kept something from the app, or has asked it to come anew.
        self.has_failed = False
        #: In good order: what it has not acknowledged goes to another.
        self.was_closed_by_app = False
        self._ws = ws
        self._transport = transport
        self._is_frozen = False
        self._pings_unanswered = 0
        self._closing: asyncio.Future[tuple[int, bytes]] = asyncio.Future()
        self._ended = asyncio.Event()

    async def send(self, message: Json) -> None:
        """To a socket that just closed nothing is sent, and its end is noticed elsewhere."""
        if self._is_frozen:
            return
        with suppress(ConnectionError):
            await self._ws.send_json(message)

    async def heard(self) -> AsyncIterator[Json]:
        """The JSON objects that the app sends, until the socket has ended on both sides."""
        while (frame := await self._next_frame()) is not None:
            if frame.type is WSMsgType.PING:
                await self._pong(frame.data)
            elif frame.type is WSMsgType.PONG:
                self._pings_unanswered = 0
            elif frame.type is WSMsgType.TEXT and (message := _object_in(frame.data)):
                yield message
        if self._closing.done():
            # Here, in the task that reads: only so the app's own closing frame is waited for.
            code, reason = self._closing.result()
            await self._ws.close(code=code, message=reason)

    def end(self) -> None:
        """Nobody reads from it any more."""
        self._ended.set()

    async def ping(self, seconds: float) -> None:
        """Ping for ever; cut the connection when nothing comes back."""
        while True:
            await asyncio.sleep(seconds)
            if self._is_frozen:
                continue
            if self._pings_unanswered >= PINGS_UNANSWERED:
                self._transport.abort()
                return
            self._pings_unanswered += 1
            try:
                await self._ws.ping()
            except ConnectionError:
                return

    def freeze(self) -> None:
        """Nothing passes in either direction, not even a pong, and both ends stay open."""
        self._is_frozen = self.has_failed = True
        self._transport.pause_reading()

    def thaw(self) -> None:
        """What the app sent meanwhile arrives; what went to it is lost."""
        if not self._is_frozen:
            return
        self._is_frozen = False
        if not self._transport.is_closing():
            self._transport.resume_reading()

    def cut(self) -> None:
        """Break the connection without a word, as a failing network does."""
        self.has_failed = True
        self._transport.abort()

    async def ask_to_leave(self, message: Json, patience: float) -> None:
        """Give the app time to read it and to close by itself."""
        self.has_failed = True
        await self.send(message)
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._ended.wait()

    async def close(self, code: int = 1000, reason: bytes = b"") -> None:
        """Returns when both sides have closed, or the app did not within `CLOSING_SECONDS`."""
        self.has_failed = True
        if self._is_frozen:
            # A frozen peer would not answer the closing, and we would wait for it.
            self._transport.abort()
        elif not self._closing.done():
            self._closing.set_result((code, reason))
        await self._ended.wait()

    async def _next_frame(self) -> WSMessage | None:
        """None: the socket has ended, or the sandbox ends it."""
        receiving = asyncio.ensure_future(self._ws.receive())
        try:
            either: list[asyncio.Future[Any]] = [receiving, self._closing]
            await asyncio.wait(either, return_when=FIRST_COMPLETED)
        finally:
            if not receiving.done():
                receiving.cancel()
                await asyncio.wait([receiving])
        if receiving.cancelled():
            return None
        frame = receiving.result()
        self.was_closed_by_app = frame.type is WSMsgType.CLOSE
        return None if frame.type in ENDS else frame

    async def _pong(self, data: bytes) -> None:
        if not self._is_frozen:
            with suppress(ConnectionError):
                await self._ws.pong(data)


def _object_in(text: str) -> Json | None:
    """An object that isn't empty; nothing else means anything."""
    try:
        message = parse_json(text)
    except ValueError:
        return None
    return message if isinstance(message, dict) else None
