"""What Slack holds against an app that doesn't acknowledge, on either transport."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import aiohttp
import pytest

from bot.sandbox.delivery.transport import Timing
from bot.sandbox.opened import OpenSandbox, open_sandbox
from bot.sandbox.state import Sandbox
from tests.sandbox.driving import client_of
from tests.sandbox.endpoint import dripping, listening
from tests.sandbox.passing import time_passes

SHORT = Timing(ack=0.1, socket_redelivery=0.2, retry_delays=(0.0, 60.0, 300.0))


@asynccontextmanager
async def over_http(timing: Timing) -> AsyncIterator[OpenSandbox]:
    async with listening() as endpoint:
        endpoint.answers = [dripping] * 10
        inside = Sandbox(deliver=[endpoint.url], timing=timing)
        async with open_sandbox(inside, allow_violations=True) as sandbox:
            yield sandbox


@asynccontextmanager
async def over_a_socket(timing: Timing) -> AsyncIterator[OpenSandbox]:
    async with (
        open_sandbox(Sandbox(timing=timing), allow_violations=True) as sandbox,
        over_one_more_socket(sandbox),
    ):
        yield sandbox


@asynccontextmanager
async def over_one_more_socket(
    sandbox: OpenSandbox,
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    opened = await client_of(sandbox).apps_connections_open(app_token="xapp-sandbox")
    async with aiohttp.ClientSession() as http, http.ws_connect(str(opened["url"])) as ws:
        assert (await ws.receive_json())["type"] == "hello"
        yield ws


WAYS = pytest.mark.parametrize("never_acknowledging", [over_http, over_a_socket])
Way = Callable[[Timing], AbstractAsyncContextManager[OpenSandbox]]


@WAYS
async def test_each_delivery_that_is_not_acknowledged_in_time_is_told_then(
    never_acknowledging: Way,
) -> None:
    async with never_acknowledging(SHORT) as sandbox:
        await sandbox.act("U0BOB", "message", channel="D0BOB", text="hello")
        await sandbox.until(lambda: len(sandbox.violations) == 2, "the retry is told, too")
        assert {one["kind"] for one in sandbox.violations} == {"late_acknowledgement"}


@WAYS
async def test_what_is_unanswered_at_the_end_is_told_and_not_waited_for(
    never_acknowledging: Way,
) -> None:
    timing = Timing(ack=600.0, socket_redelivery=600.0, retry_delays=(600.0,))
    async with asyncio.timeout(30), never_acknowledging(timing) as sandbox:
        await client_of(sandbox).chat_postMessage(channel="C0OPS", text="x")
        await sandbox.until(lambda: sandbox.deliveries("events_api"), "its own message is sent")
        sandbox.inside.judge.end()
        assert "still unanswered at the end" in sandbox.violations[0]["detail"]


async def test_the_fixture_ends_with_what_is_unanswered() -> None:
    async with listening() as endpoint:
        endpoint.answers = [dripping]

        async def test() -> None:
            inside = Sandbox(deliver=[endpoint.url], timing=Timing(ack=600.0))
            async with open_sandbox(inside) as sandbox:
                await client_of(sandbox).chat_postMessage(channel="C0OPS", text="x")
                await sandbox.until(lambda: endpoint.headers, "it is on its way")

        with pytest.raises(AssertionError, match="still unanswered at the end"):
            await test()


async def test_a_socket_that_its_app_closed_in_good_order_owes_nothing() -> None:
    async with open_sandbox() as sandbox, over_one_more_socket(sandbox) as ws:
        await client_of(sandbox).chat_postMessage(channel="C0OPS", text="x")
        await ws.receive()


@pytest.mark.parametrize("reason", ["warning", "refresh_requested", "link_disabled"])
async def test_whom_the_sandbox_asked_to_leave_owes_nothing(reason: str) -> None:
    async with open_sandbox(Sandbox(timing=Timing(ack=30.0))) as sandbox:
        async with over_one_more_socket(sandbox) as ws:
            await client_of(sandbox).chat_postMessage(channel="C0OPS", text="x")
            await ws.receive()
            leaving = asyncio.create_task(sandbox.faults.now(disconnect=reason))
            await ws.receive()
            await time_passes(30)
        await leaving


async def test_nobody_who_listens_owes_nothing() -> None:
    async with listening() as endpoint:
        pass
    timing = Timing(retry_delays=(0.0, 0.0, 0.0))
    async with open_sandbox(Sandbox(deliver=[endpoint.url], timing=timing)) as sandbox:
        said = await sandbox.act("U0BOB", "message", channel="D0BOB", text="hello")
        assert said["why"] == "connection_failed"


async def test_an_act_ends_in_time_though_its_delivery_is_late() -> None:
    timing = Timing(ack=0.3)
    async with (
        listening() as endpoint,
        open_sandbox(Sandbox(deliver=[endpoint.url], timing=timing)) as sandbox,
    ):
        sandbox.faults.add(method="slash_command", delay=60)
        said = await sandbox.act("U0BOB", "command", channel="C0OPS", command="/agent")
        assert not said["acknowledged"]
        assert 290 <= said["elapsed_ms"] < 30_000
        assert endpoint.headers == []
        await time_passes(60)
        await sandbox.until(lambda: endpoint.headers, "it comes all the same")
