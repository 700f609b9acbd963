"""How a socket begins and ends: tickets, its time, cuts, and a connection that is half open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import WSMsgType

from bot.sandbox.delivery import connection
from bot.sandbox.delivery.transport import Timing
from bot.sandbox.guesses import Guesses
from tests.sandbox.driving import Driver, bolt_app, connected, driving
from tests.sandbox.passing import time_passes

WebSocket = aiohttp.ClientWebSocketResponse
SHORT = Timing(debug_connection_life=0.2, warning=0.1, socket_redelivery=0.2, ack=0.5)


async def socket_url(driver: Driver) -> str:
    return str((await driver.slack.apps_connections_open(app_token="xapp-sandbox"))["url"])


@asynccontextmanager
async def socket(driver: Driver, query: str = "") -> AsyncIterator[WebSocket]:
    """A socket that acknowledges nothing by itself, and answers no ping."""
    url = await socket_url(driver)
    async with driver.http.ws_connect(url + query, autoping=False) as ws:
        assert (await ws.receive_json())["type"] == "hello"
        yield ws


def saying(driver: Driver, text: str = "hello") -> asyncio.Task[Any]:
    return asyncio.create_task(driver.act("U0ALICE", "message", channel="D0ALICE", text=text))


def commanding(driver: Driver) -> asyncio.Task[Any]:
    command = {"channel": "C0OPS", "command": "/agent", "text": ""}
    return asyncio.create_task(driver.act("U0ALICE", "command", **command))


async def acknowledge(ws: WebSocket, envelope: Any) -> None:
    await ws.send_json({"envelope_id": envelope["envelope_id"]})


async def test_a_ticket_opens_one_connection(driver: Driver) -> None:
    url = await socket_url(driver)
    async with driver.http.ws_connect(url) as ws:
        hello = await ws.receive_json()
        assert hello["connection_info"] == {"app_id": "A0PILOT"}
        assert hello["debug_info"]["approximate_connection_time"] > 0
        for used in (url, f"{driver.running.url}/socket", f"{driver.running.url}/socket?ticket=x"):
            with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
                await driver.http.ws_connect(used)


async def test_a_socket_is_warned_of_its_end_and_then_closed() -> None:
    async with driving(timing=SHORT) as driver, socket(driver, "&debug_reconnects=true") as ws:
        reasons = [(await ws.receive_json())["reason"] for _ in range(2)]
        assert reasons == ["warning", "refresh_requested"]
        assert (await ws.receive()).type is WSMsgType.CLOSE


async def test_a_socket_lives_long_unless_it_was_opened_for_debugging() -> None:
    async with driving(timing=SHORT) as driver, socket(driver) as ws:
        with pytest.raises(TimeoutError):
            await ws.receive(timeout=0.4)


async def test_a_dropped_socket_ends_without_a_closing_frame(driver: Driver) -> None:
    async with socket(driver) as ws:
        await driver.fault(drop_sockets=True)
        assert (await ws.receive()).type in (WSMsgType.ERROR, WSMsgType.CLOSED)
        assert ws.close_code == aiohttp.WSCloseCode.ABNORMAL_CLOSURE


async def test_bolt_comes_back_after_a_drop_and_the_event_is_not_lost() -> None:
    async with driving(timing=Timing.fast()) as driver:
        app, seen = bolt_app(driver.running), asyncio.Event()

        @app.event("message")
        async def message() -> None:
            seen.set()

        async with connected(app, ping_interval=0.2):
            await driver.fault(drop_sockets=True)
            said = saying(driver)
            await asyncio.wait_for(seen.wait(), 5)
            assert (await said)["ok"]


async def test_through_a_half_open_socket_nothing_passes_until_it_is_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # This one answers no ping, and is not to be given up for that, however slow the machine is.
    monkeypatch.setattr(connection, "PINGS_UNANSWERED", 10_000)
    async with driving(timing=Timing(ping=0.05)) as driver, socket(driver) as ws:
        await driver.fault(half_open=600)
        await ws.ping(b"anybody?")
        with pytest.raises(TimeoutError):
            await nothing_but_pings(ws)
        await driver.request("DELETE", "/sandbox/faults")
        pong = await until_type(ws, WSMsgType.PONG)
        assert pong.data == b"anybody?"


async def nothing_but_pings(ws: WebSocket) -> None:
    """Those that were sent before may still be on their way. Raises ``TimeoutError`` once none come."""
    while (await ws.receive(timeout=0.3)).type is WSMsgType.PING:
        pass


async def first_envelope(*sockets: WebSocket) -> tuple[WebSocket, Any]:
    """Whichever socket gets the next envelope, and that."""
    hearing = {asyncio.create_task(one.receive_json()): one for one in sockets}
    done, waiting = await asyncio.wait(hearing, timeout=5, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
    (task,) = done
    return hearing[task], task.result()


async def until_type(ws: WebSocket, kind: WSMsgType) -> aiohttp.WSMessage:
    while (frame := await ws.receive(timeout=5)).type is not kind:
        pass
    return frame


async def test_what_is_sent_into_a_half_open_socket_is_lost_and_comes_again_elsewhere() -> None:
    timing = Timing(ack=60.0, socket_redelivery=30.0, ping=600.0)
    async with driving(timing=timing) as driver, socket(driver) as half_open:
        await driver.fault(half_open=600)
        async with socket(driver) as sound:
            # In turn: this one to the sound socket, the next to the other.
            first = commanding(driver)
            await acknowledge(sound, await sound.receive_json(timeout=5))
            await first
            said = saying(driver)
            await driver.running.until(
                lambda: driver.running.deliveries("events_api"), "it is sent"
            )
            await time_passes(30)
            envelope = await sound.receive_json(timeout=5)
            await acknowledge(sound, envelope)
            assert (await said)["acknowledged"]
            assert (envelope["retry_attempt"], envelope["retry_reason"]) == (1, "timeout")
            with pytest.raises(TimeoutError):
                await half_open.receive(timeout=0.1)
        assert driver.violations == []


async def test_bolt_finds_out_by_its_own_pings_that_a_socket_is_half_open() -> None:
    async with driving(timing=Timing(ack=30.0)) as driver:
        app = bolt_app(driver.running)

        @app.command("/agent")
        async def command(ack: Any) -> None:
            await ack()

        async with connected(app, ping_interval=0.2):
            await driver.fault(half_open=600)

            async def came_anew() -> bool:
                calls = driver.sandbox.record.calls()
                return sum(bool(one["kind"] == "connected") for one in calls) > 1

            await driver.running.until(came_anew)
            # In turn to the dead socket and the live one.
            answers = [commanding(driver) for _ in range(2)]
            await driver.running.until(lambda: any(one.done() for one in answers), "one is heard")
            await driver.running.until(
                lambda: len(driver.running.deliveries("slash_commands")) == 2, "both are sent"
            )
            await time_passes(30)
            assert sorted([(await one)["acknowledged"] for one in answers]) == [False, True]
            await driver.request("DELETE", "/sandbox/faults")
        assert driver.violations == []


async def test_the_sandbox_ends_at_once_also_with_a_half_open_socket() -> None:
    loop = asyncio.get_running_loop()
    async with driving() as driver:
        url = await socket_url(driver)
        ws = await driver.http.ws_connect(url)
        await driver.fault(half_open=600)
        began = loop.time()
    assert loop.time() - began < 5
    await ws.close()


async def test_an_app_that_answers_no_ping_is_given_up() -> None:
    async with driving(timing=Timing(ping=0.05)) as driver, socket(driver) as ws:
        pings = 0
        while (frame := await ws.receive(timeout=5)).type is WSMsgType.PING:
            pings += 1
        assert (pings, frame.type in (WSMsgType.ERROR, WSMsgType.CLOSED)) == (2, True)


@pytest.mark.parametrize("anywhere", [True, False])
async def test_whether_another_socket_may_acknowledge_is_a_guess(anywhere: bool) -> None:
    guesses = Guesses(acknowledge_on_any_socket=anywhere)
    async with (
        driving(timing=Timing(ack=30.0), guesses=guesses) as driver,
        socket(driver) as one,
        socket(driver) as other,
    ):
        answer = commanding(driver)
        got, envelope = await first_envelope(one, other)
        await acknowledge(other if got is one else one, envelope)

        def came() -> bool:
            kinds = [one["kind"] for one in driver.sandbox.record.calls()]
            return "acknowledgement" in kinds

        await driver.running.until(came, "the acknowledgement")
        await time_passes(30)
        assert (await answer)["acknowledged"] is anywhere


async def test_envelopes_come_in_the_order_in_which_things_happened(driver: Driver) -> None:
    async with socket(driver) as ws:
        texts = [str(number) for number in range(30)]
        acting = [
            asyncio.create_task(driver.running.act("U0BOB", "message", channel="D0BOB", text=text))
            for text in texts
        ]
        heard = []
        for _ in texts:
            envelope = await ws.receive_json(timeout=5)
            heard.append(envelope["payload"]["event"]["text"])
            await acknowledge(ws, envelope)
        assert heard == texts
        assert all(one["acknowledged"] for one in await asyncio.gather(*acting))


async def test_an_event_acknowledged_too_late_is_taken_and_noted() -> None:
    timing = Timing(ack=0.1, socket_redelivery=60.0)
    async with driving(timing=timing) as driver, socket(driver) as ws:
        alice, place = (
            driver.sandbox.workspace.user("U0ALICE"),
            driver.sandbox.workspace.channel("D0ALICE"),
        )
        _, (event, *_) = driver.sandbox.posting.say(alice, place, "hello", [], None)
        delivering = driver.sandbox.outbox.publish(event)
        assert delivering is not None
        envelope = await ws.receive_json(timeout=5)

        # Not by the answer to who acts: they stop waiting before the app's own time is over.
        def is_noted() -> bool:
            return driver.violations == ["late_acknowledgement"]

        await driver.running.until(is_noted, "the late acknowledgement")
        await acknowledge(ws, envelope)
        assert (await asyncio.wait_for(delivering, 5)).acknowledged
        assert driver.violations == ["late_acknowledgement"]
        assert len(await driver.deliveries()) == 1


async def test_an_event_that_nobody_acknowledges_is_noted_at_each_try() -> None:
    timing = Timing(socket_redelivery=0.05, retry_delays=(0.0, 0.0, 0.0))
    async with driving(timing=timing) as driver, socket(driver) as ws:
        said = saying(driver)
        attempts = [(await ws.receive_json(timeout=5))["retry_attempt"] for _ in range(4)]
        await said
        assert attempts == [0, 1, 2, 3]

        async def noted() -> bool:
            return driver.violations == ["late_acknowledgement"] * 4

        await driver.running.until(noted)


async def test_who_connects_late_has_only_what_is_left_of_the_time() -> None:
    async with driving(timing=Timing(ack=40.0)) as driver:
        command = {"channel": "C0OPS", "command": "/agent", "text": ""}
        answer = asyncio.create_task(driver.running.act("U0ALICE", "command", **command))
        await time_passes(20)
        async with socket(driver) as ws:
            await ws.receive_json(timeout=5)
            assert not answer.done()
            await time_passes(20)
            assert not (await asyncio.wait_for(answer, 5))["acknowledged"]


async def test_only_what_can_be_answered_takes_an_answer(driver: Driver) -> None:
    async with socket(driver) as ws:
        accepts = {}
        for do, fields in {
            "command": {"channel": "C0OPS", "command": "/agent", "text": ""},
            "shortcut": {"callback_id": "x"},
            "message": {"channel": "D0ALICE", "text": "x"},
        }.items():
            acting = asyncio.create_task(driver.act("U0ALICE", do, **fields))
            envelope = await ws.receive_json()
            accepts[do] = envelope["accepts_response_payload"]
            await acknowledge(ws, envelope)
            assert (await acting)["acknowledged"]
        assert accepts == {"command": True, "shortcut": False, "message": False}
