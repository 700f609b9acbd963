"""``pilothouse sandbox``: what its options do, and what it refuses."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from bot.sandbox.ids import Ids
from bot.sandbox.opened import OpenSandbox
from tests.cli.conftest import CommandLine


@asynccontextmanager
async def started(*options: str, ending: signal.Signals = signal.SIGINT) -> AsyncIterator[str]:
    """A sandbox process on a free port, as somebody starts and ends it; its address."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "sandbox", "--port", "0", *options),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), 30)
        yield line.decode().strip().rsplit(" ", 1)[1].rstrip("/")
        process.send_signal(ending)
        assert await asyncio.wait_for(process.wait(), 20) == 0
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_time_ids_and_rates_are_as_asked() -> None:
    options = ("--seed", "7", "--still-at", "1800000000", "--rates", "real")
    async with started(*options) as url, aiohttp.ClientSession() as http:

        async def call(method: str, token: str, **body: str) -> tuple[int, Any]:
            headers = {"Authorization": f"Bearer {token}"}
            async with http.post(f"{url}/api/{method}", json=body, headers=headers) as response:
                return response.status, await response.json()

        _, opened = await call("apps.connections.open", "xapp-sandbox")
        assert f"ticket={Ids(7).secret()}" in opened["url"]
        said = [
            await call("chat.postMessage", "xoxb-sandbox", channel="C0OPS", text="x")
            for _ in range(6)
        ]
    assert [status for status, _ in said] == [200] * 5 + [429]
    assert {body["ts"].split(".")[0] for _, body in said[:5]} == {"1800000000"}


async def test_sigterm_ends_it_in_good_order_also_with_a_socket_open() -> None:
    async with aiohttp.ClientSession() as http:
        async with started(ending=signal.SIGTERM) as url:
            headers = {"Authorization": "Bearer xapp-sandbox"}
            async with http.post(f"{url}/api/apps.connections.open", headers=headers) as response:
                ws = await http.ws_connect((await response.json())["url"])
            await ws.receive_json()
            reading = asyncio.create_task(ws.receive())
        assert (await reading).data == aiohttp.WSCloseCode.GOING_AWAY


async def test_it_says_where_bots_reach_it_when_others_may(pilothouse: CommandLine) -> None:
    async with started("--host", "0.0.0.0", "--expose", "sandbox.test") as url:
        assert url.startswith("http://sandbox.test:")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--host", "0.0.0.0"), "say by which name it is reached: --expose NAME"),
        (("--deliver", "localhost:3000"), "localhost:3000 is not a URL"),
        (("--expose", ""), "'' is no name of a host"),
        (("--expose", "http://x"), "'http://x' is no name of a host"),
        (("--still-at", "-1"), "greater than or equal to 0"),
        (("--rates", "some"), "'off', 'fast', 'real'"),
    ],
)
def test_wrong_use_is_said_and_nothing_is_started(
    pilothouse: CommandLine, options: tuple[str, ...], said: str
) -> None:
    ended = pilothouse.inside("sandbox", *options)
    assert ended.code == 2
    assert said in " ".join(ended.err.split())


async def test_a_taken_port_is_said(sandbox: OpenSandbox, pilothouse: CommandLine) -> None:
    ended = await asyncio.to_thread(pilothouse, "sandbox", "--port", str(sandbox.port))
    assert ended.code == 1
    assert ended.err.startswith(f"Port {sandbox.port} on 127.0.0.1 is taken. Nothing was started")


def test_an_address_that_is_not_ours_is_said(pilothouse: CommandLine) -> None:
    ended = pilothouse("sandbox", "--port", "0", "--host", "192.0.2.1", "--expose", "x")
    assert ended.code == 1
    assert ended.err.startswith("It can't listen on 192.0.2.1: ")


async def test_only_what_the_app_subscribed_to_is_delivered() -> None:
    async with (
        started("--events", "app_mention, message.im") as url,
        aiohttp.ClientSession() as http,
    ):
        told = []
        for channel in ("C0SUPPORT", "D0ALICE"):
            said = {"as": "U0ALICE", "do": "message", "channel": channel, "text": "hello"}
            async with http.post(f"{url}/sandbox/act", json=said) as response:
                told.append((await response.json())["why"])
    assert told[0] == "the app is not told of this"
    assert told[1] != told[0], "nobody is there to hear of it, but it is told"
