"""How a socket ends on the wire, seen by a client that does nothing by itself."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest

from bot.sandbox.delivery import socket
from bot.sandbox.delivery.transport import Timing
from tests.sandbox.driving import Driver, driving
from tests.sandbox.passing import time_passes

TEXT, CLOSE = 0x1, 0x8
#: A client's frame: masked with zeros, which changes nothing.
CLOSE_OF_A_CLIENT = bytes([0x80 | CLOSE, 0x82, 0, 0, 0, 0]) + (1000).to_bytes(2, "big")


class Raw:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def frame(self) -> tuple[int, bytes]:
        """The kind of the next one and what is in it."""
        first, length = await asyncio.wait_for(self.reader.readexactly(2), 5)
        if length == 126:
            length = int.from_bytes(await self.reader.readexactly(2), "big")
        return first & 0xF, await self.reader.readexactly(length)

    async def message(self) -> str:
        kind, content = await self.frame()
        assert kind == TEXT
        said = json.loads(content)
        return str(said.get("reason") or said["type"])

    async def is_open(self, seconds: float) -> bool:
        """Nothing comes for so long, not even the end."""
        try:
            await asyncio.wait_for(self.reader.read(1), seconds)
        except TimeoutError:
            return True
        return False


@asynccontextmanager
async def raw_socket(driver: Driver, query: str = "") -> AsyncIterator[Raw]:
    opened = await driver.slack.apps_connections_open(app_token="xapp-sandbox")
    address = urlsplit(str(opened["url"]))
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    key = base64.b64encode(bytes(16)).decode()
    writer.write(
        f"GET {address.path}?{address.query}{query} HTTP/1.1\r\nHost: {address.netloc}\r\n"
        f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
        "Sec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    await reader.readuntil(b"\r\n\r\n")
    raw = Raw(reader, writer)
    assert await raw.message() == "hello"
    try:
        yield raw
    finally:
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize("reason", ["refresh_requested", "link_disabled"])
async def test_an_app_has_time_to_read_why_and_closes_first(reason: str) -> None:
    async with driving(timing=Timing(farewell=60.0)) as driver, raw_socket(driver) as raw:
        leaving = asyncio.create_task(driver.fault(disconnect=reason))
        assert await raw.message() == reason
        assert await raw.is_open(0.3)
        raw.writer.write(CLOSE_OF_A_CLIENT)
        assert (await raw.frame())[0] == CLOSE
        assert await asyncio.wait_for(raw.reader.read(1), 5) == b""
        await leaving


async def test_a_socket_that_the_app_leaves_open_is_closed_frame_first_and_then_for_good(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket, "CLOSING_SECONDS", 30.0)
    async with (
        driving(timing=Timing(farewell=0.1, ping=600.0)) as driver,
        raw_socket(driver) as raw,
    ):
        leaving = asyncio.create_task(driver.fault(disconnect="refresh_requested"))
        assert await raw.message() == "refresh_requested"
        assert (await raw.frame())[0] == CLOSE
        assert await raw.is_open(0.3)
        await time_passes(30)
        assert await asyncio.wait_for(raw.reader.read(1), 5) == b""
        await leaving


async def test_so_does_one_at_the_end_of_its_time() -> None:
    timing = Timing(debug_connection_life=0.2, warning=0.1, farewell=60.0)
    async with (
        driving(timing=timing) as driver,
        raw_socket(driver, "&debug_reconnects=true") as raw,
    ):
        assert [await raw.message(), await raw.message()] == ["warning", "refresh_requested"]
        assert await raw.is_open(0.3)


async def test_who_is_leaving_gets_nothing_more() -> None:
    async with driving() as driver, raw_socket(driver) as old:
        leaving = asyncio.create_task(driver.fault(disconnect="refresh_requested"))
        assert await old.message() == "refresh_requested"
        async with raw_socket(driver) as new:
            saying = asyncio.create_task(driver.act("U0BOB", "home"))
            assert await new.message() == "events_api"
            saying.cancel()
        await leaving
