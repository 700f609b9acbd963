"""Socket Mode that comes back, and a proxy that is not in its way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from slack_bolt.context.async_context import AsyncBoltContext
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.delivery.socket import Reason
from bot.sandbox.delivery.transport import Timing
from bot.sandbox.opened import OpenSandbox, open_sandbox
from bot.sandbox.state import Sandbox
from bot.slack.app import make_incoming
from bot.slack.clients import is_loopback, slack_client, without_proxy
from bot.slack.connection import SlackConnection, pause_after
from bot.slack.ids import APPROVE
from tests.bot.slack.workspace import Bot, bot_in

DEAD_PROXY = "http://127.0.0.1:9"


@pytest.mark.parametrize("reason", ["refresh_requested", "warning"])
async def test_slack_may_ask_for_a_new_connection(bot: Bot, reason: Reason) -> None:
    await bot.sandbox.faults.now(disconnect=reason)
    said = await bot.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", "C0SUPPORT")
    assert said["acknowledged"]
    assert len(await bot.runs()) == 1


async def test_a_connection_lives_its_time_and_nothing_is_lost_at_its_end(tmp_path: Path) -> None:
    timing = Timing(connection_life=0.3, warning=0.1)
    async with (
        open_sandbox(Sandbox(timing=timing)) as sandbox,
        bot_in(sandbox, tmp_path, settled_seconds=0.1) as bot,
    ):
        started = 0
        while _connections(sandbox) < 4:
            started += 1
            said = await bot.say("U0ALICE", f"<@U0PILOT> refund ORD-{started} 180", "C0SUPPORT")
            assert said["acknowledged"]
        assert len(await bot.runtime.runs(limit=1000)) == started


async def test_a_connection_that_is_cut_is_made_anew_and_the_mention_is_taken(bot: Bot) -> None:
    cut = await bot.sandbox.faults.now(drop_sockets=True)
    assert cut["connections"] == 1
    await bot.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", "C0SUPPORT")
    await bot.waiting_run()
    assert len(await bot.runs()) == 1


def _connections(sandbox: OpenSandbox) -> int:
    return sum(bool(one["kind"] == "connected") for one in sandbox.inside.record.calls())


async def test_failed_attempts_to_reconnect_are_not_the_last(bot: Bot) -> None:
    bot.sandbox.faults.add(method="apps.connections.open", status=500, times=3)
    await bot.sandbox.faults.now(disconnect="link_disabled")

    await bot.sandbox.until(lambda: not bot.connection.is_connected, "the connection is lost")
    await bot.sandbox.until(lambda: bot.connection.is_connected, "the connection is back")
    await bot.command("U0ALICE", "refund ORD-3300 180")
    assert len(await bot.runs()) == 1


async def test_frames_that_make_no_sense_are_acknowledged_and_outlived(bot: Bot) -> None:
    frames = [
        "not json",
        "{",
        "[]",
        json.dumps({"type": "interactive"}),
        json.dumps({"envelope_id": 5, "type": "interactive", "payload": {}}),
        json.dumps({"envelope_id": "e1", "type": "interactive", "payload": []}),
        json.dumps({"envelope_id": "e2", "type": "interactive"}),
        json.dumps({"envelope_id": "e3", "type": "interactive", "payload": "text"}),
        json.dumps({"envelope_id": "e4", "type": ["?"], "payload": {"user": 5}}),
        json.dumps({"envelope_id": "e5", "type": "events_api", "payload": {"team": [1]}}),
    ]
    acknowledged: asyncio.Queue[str] = asyncio.Queue()

    async def talk(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        for frame in frames:
            await socket.send_str(frame)
        async for message in socket:
            await acknowledged.put(message.json()["envelope_id"])
        return socket

    async with slack_that(talk) as api_url:
        connection = SlackConnection(make_incoming(bot.services), "xapp-sandbox", api_url)
        connecting = asyncio.create_task(connection.run())
        async with asyncio.timeout(10):
            answered = {await acknowledged.get() for _ in range(5)}
        connecting.cancel()
        await asyncio.gather(connecting, return_exceptions=True)
    assert answered == {"e1", "e2", "e3", "e4", "e5"}


@pytest.mark.parametrize(
    "says",
    [
        *(
            [{"type": "disconnect", "reason": reason}]
            for reason in ("link_disabled", "refresh_requested", "too_many_websockets")
        ),
        [{"type": "disconnect", "reason": ["?"]}],
        [{"type": "disconnect", "reason": one} for one in ("warning", "refresh_requested")],
    ],
    ids=lambda says: "-".join(str(one.get("reason")) for one in says),
)
async def test_whoever_is_sent_away_at_once_comes_again_later_and_later(
    bot: Bot, says: list[dict[str, str]]
) -> None:
    async def greet(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        for one in ({"type": "hello"}, *says):
            await socket.send_json(one)
        async for _ in socket:
            pass
        return socket

    asked = await _asked_for_connections(bot, greet, enough=3)
    assert asked[1] - asked[0] >= 0.5
    assert asked[2] - asked[1] >= 1


async def test_whoever_is_dropped_right_after_hello_comes_again_later_and_later(bot: Bot) -> None:
    async def drop(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "hello"})
        await socket.close()
        return socket

    asked = await _asked_for_connections(bot, drop, enough=3)
    assert asked[1] - asked[0] >= 0.5
    assert asked[2] - asked[1] >= 1


async def _asked_for_connections(
    bot: Bot, talks: Callable[[web.Request], Awaitable[web.StreamResponse]], *, enough: int
) -> list[float]:
    """When ``apps.connections.open`` was called, until it was called so often."""
    asked: list[float] = []
    all_asked = asyncio.Event()

    def note() -> None:
        asked.append(asyncio.get_running_loop().time())
        if len(asked) >= enough:
            all_asked.set()

    async with slack_that(talks, note) as api_url:
        connection = SlackConnection(make_incoming(bot.services), "xapp-sandbox", api_url)
        connecting = asyncio.create_task(connection.run())
        async with asyncio.timeout(30):
            await all_asked.wait()
        connecting.cancel()
        await asyncio.gather(connecting, return_exceptions=True)
    return asked


@asynccontextmanager
async def slack_that(
    talks: Callable[[web.Request], Awaitable[web.StreamResponse]],
    note: Callable[[], None] = lambda: None,
) -> AsyncIterator[str]:
    """A Slack that only has a socket. ``note`` is called where one is asked for."""
    port = 0

    async def open_connection(request: web.Request) -> web.Response:
        note()
        return web.json_response({"ok": True, "url": f"ws://127.0.0.1:{port}/socket"})

    app = web.Application()
    app.router.add_post("/api/apps.connections.open", open_connection)
    app.router.add_get("/socket", talks)
    runner = web.AppRunner(app, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = runner.addresses[0][1]
        yield f"http://127.0.0.1:{port}/api/"
    finally:
        await runner.cleanup()


async def test_a_dead_proxy_in_the_environment_changes_nothing(
    sandbox: OpenSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, DEAD_PROXY)
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-sandbox")
    async with bot_in(sandbox, tmp_path) as bot:
        await bot.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", "C0SUPPORT")
        card, _, state = await bot.post_card()
        await bot.click("U0ALICE", card, APPROVE)
        await bot.whispered("U0ALICE", "Not decided")
        await bot.click("U0BOB", card, APPROVE)
        await bot.ended_run(state.run_id)


def test_towards_slack_itself_the_proxy_of_the_environment_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", DEAD_PROXY)
    assert slack_client("xoxb-x").proxy == DEAD_PROXY
    assert slack_client("xoxb-x", "http://127.0.0.1:3333/api/").proxy is None


async def test_the_client_of_a_request_has_no_proxy_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", DEAD_PROXY)
    context = AsyncBoltContext(
        {"client": AsyncWebClient(token="xoxb-x", base_url="http://localhost:3333/api/")}
    )
    went_on = False

    async def next() -> None:
        nonlocal went_on
        went_on = True

    await without_proxy(context, next)
    assert context.client is not None
    assert context.client.proxy is None
    assert went_on


def test_connections_that_were_cut_together_come_back_at_different_times() -> None:
    pauses = [pause_after(3) for _ in range(20)]
    assert len(set(pauses)) > 10
    assert all(4 <= one <= 5 for one in pauses)
    assert max(pause_after(1000) for _ in range(20)) <= 20


def test_a_write_is_never_repeated_silently() -> None:
    assert slack_client("xoxb-x").retry_handlers == []


@pytest.mark.parametrize(
    ("url", "is_local"),
    [
        ("http://127.0.0.1:3333/api/", True),
        ("http://localhost:3333/api/", True),
        ("http://[::1]:3333/api/", True),
        ("https://slack.com/api/", False),
        ("https://127.0.0.1.example.com/api/", False),
        ("https://localhost.example.com/", False),
    ],
)
def test_only_this_machine_is_local(url: str, is_local: bool) -> None:
    assert is_loopback(url) is is_local
