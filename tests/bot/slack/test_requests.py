"""Slack over HTTP: signed, now, or 401 and nothing else."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlencode

import aiohttp
import pytest
from aiohttp import web

from bot.sandbox.delivery.http import signature
from bot.sandbox.opened import open_sandbox
from bot.sandbox.state import Sandbox
from bot.slack.app import make_incoming
from bot.slack.ids import APPROVE
from bot.slack.requests import slack_routes
from tests.bot.slack.workspace import Bot, bot_in

COMMAND = {
    "command": "/agent",
    "text": "refund ORD-3300 180",
    "user_id": "U0ALICE",
    "team_id": "T0PILOT",
    "channel_id": "C0SUPPORT",
    "trigger_id": "1.2.3",
    "response_url": "http://127.0.0.1:9/response/x",
}
BODY = urlencode(COMMAND).encode()


@asynccontextmanager
async def served(
    bot: Bot, port: int = 0, is_ending: Callable[[], bool] = lambda: False
) -> AsyncIterator[str]:
    """The address at which this bot takes Slack's requests."""
    app = web.Application()
    app.add_routes(
        slack_routes(
            make_incoming(bot.services, signing_secret="sandbox-secret"),
            "sandbox-secret",
            is_ending=is_ending,
        )
    )
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    finally:
        await runner.cleanup()


@pytest.fixture
async def address(bot: Bot) -> AsyncIterator[str]:
    async with served(bot) as url:
        yield url


async def post(
    bot: Bot,
    url: str,
    body: bytes = BODY,
    *,
    timestamp: str | None = None,
    signed: str | None = None,
    content_type: str = "application/x-www-form-urlencoded",
) -> tuple[int, str]:
    timestamp = str(int(time.time())) if timestamp is None else timestamp
    headers = {
        "X-Slack-Request-Timestamp": timestamp,
        "X-Slack-Signature": signature(timestamp, body) if signed is None else signed,
        "Content-Type": content_type,
    }
    async with (
        aiohttp.ClientSession() as http,
        http.post(url, data=body, headers=headers) as response,
    ):
        return response.status, await response.text()


async def test_a_signed_request_is_served(bot: Bot, address: str) -> None:
    assert await post(bot, address) == (200, "")
    assert len(await bot.runs()) == 1


async def test_a_replayed_request_starts_nothing_new(bot: Bot, address: str) -> None:
    for _ in range(3):
        assert await post(bot, address) == (200, "")
    assert len(await bot.runs()) == 1


@pytest.mark.parametrize("timestamp", ["-400", "400", "NaN", "", "1e9", "9" * 400, "\u0663"])
async def test_a_request_that_is_not_of_now_gets_401(
    bot: Bot, address: str, timestamp: str
) -> None:
    if timestamp.lstrip("-").isdecimal() and len(timestamp) <= 4 and timestamp.isascii():
        timestamp = str(int(time.time()) + int(timestamp))
    status, said = await post(bot, address, timestamp=timestamp)
    assert (status, json.loads(said)) == (401, {"error": "invalid request"})
    assert await bot.runs() == []


@pytest.mark.parametrize("signed", ["", "v0=", "v0=" + "0" * 64, "v1=x", "\u00e4"])
async def test_an_unsigned_request_gets_401(bot: Bot, address: str, signed: str) -> None:
    status, _ = await post(bot, address, signed=signed)
    assert status == 401
    assert await bot.runs() == []


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"payload={", b"\xff\xfe", b"ssl_check=1", b'{"type": "url_verification"}'],
)
async def test_garbage_without_a_signature_gets_401(bot: Bot, address: str, body: bytes) -> None:
    for content_type in ("application/json", "application/x-www-form-urlencoded"):
        status, _ = await post(bot, address, body, signed="v0=x", content_type=content_type)
        assert status == 401


async def test_a_request_without_the_headers_gets_401(bot: Bot, address: str) -> None:
    async with aiohttp.ClientSession() as http, http.post(address, data=BODY) as response:
        assert response.status == 401


async def test_a_body_changed_after_signing_gets_401(bot: Bot, address: str) -> None:
    timestamp = str(int(time.time()))
    signed = signature(timestamp, BODY)
    status, _ = await post(bot, address, BODY + b"0", timestamp=timestamp, signed=signed)
    assert status == 401


@pytest.mark.parametrize("body", [b"{", b"payload={", b"\xff\xfe", b'{"user": 5}', b"[]"])
async def test_signed_garbage_is_answered_and_does_nothing(
    bot: Bot, address: str, body: bytes
) -> None:
    timestamp = str(int(time.time()))
    try:
        signed = signature(timestamp, body)
    except UnicodeDecodeError:
        signed = ""
    status, _ = await post(
        bot, address, body, timestamp=timestamp, signed=signed, content_type="application/json"
    )
    assert status in (200, 400, 401)
    assert await bot.runs() == []


@pytest.mark.parametrize("view", ['{"callback_id": "x"}', "5", '"callback_id"'])
async def test_a_modal_that_can_not_be_read_is_answered_over_http_too(
    bot: Bot, address: str, view: str, caplog: pytest.LogCaptureFixture
) -> None:
    payload = f'{{"type": "view_submission", "user": {{"id": "U0BOB"}}, "view": {view}}}'
    status, said = await post(bot, address, urlencode({"payload": payload}).encode())
    assert status == 200
    assert "Nothing was done" in said
    assert "Traceback" not in caplog.text


async def test_a_process_that_ends_takes_nothing_more(bot: Bot) -> None:
    is_ending = False
    async with served(bot, is_ending=lambda: is_ending) as url:
        assert await post(bot, url) == (200, "")
        is_ending = True
        status, _ = await post(bot, url, BODY.replace(b"1.2.3", b"1.2.4"))
        assert status == 503
        status, _ = await post(bot, url, signed="v0=x")
        assert status == 401
    assert len(await bot.runs()) == 1


async def test_slack_finds_out_that_the_address_is_ours(bot: Bot, address: str) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "abc"}).encode()
    status, said = await post(bot, address, body, content_type="application/json")
    assert (status, json.loads(said)) == (200, {"challenge": "abc"})


async def test_an_empty_secret_serves_nobody(bot: Bot) -> None:
    with pytest.raises(ValueError, match="empty"):
        slack_routes(make_incoming(bot.services), " ")


async def test_the_story_over_http(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/slack/events"
    async with (
        open_sandbox(Sandbox(deliver=[url])) as sandbox,
        bot_in(sandbox, tmp_path) as bot,
        served(bot, port),
    ):
        said = await bot.say("U0ALICE", "<@U0PILOT> refund ORD-3300 180", "C0SUPPORT")
        assert said["acknowledged"]
        card, _, state = await bot.post_card()
        assert (await bot.click("U0BOB", card, "approval.steer"))["acknowledged"]
        said = await bot.submit("U0BOB", **{"arg.amount": "abc"})
        assert list(said["errors"]) == ["arg.amount"]
        assert (await bot.click("U0BOB", card, APPROVE))["acknowledged"]
        await bot.ended_run(state.run_id)
