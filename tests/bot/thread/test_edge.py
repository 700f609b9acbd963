"""What comes back from Slack, or from something before it, is never taken for a fault of ours."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from bot.slack.clients import SLACK_ERRORS, is_passing, slack_client
from bot.slack.ids import METADATA_TYPE, Address
from bot.slack.people import People
from bot.slack.thread.edge import AnswerLost, Posted, RateLimited, SlackThreads

JSON, HTML, TEXT = "application/json", "text/html", "text/plain"
#: Whether it was done can't be known: each of these may stand before a Slack that has done it.
UNREADABLE = [
    (502, JSON, b"<html>bad gateway"),
    (200, JSON, b'{"ok": tru'),
    (200, JSON, b"\xff\xfe"),
    (200, JSON, b"[]"),
    (200, JSON, b"[1]"),
    (200, JSON, b"null"),
    (200, JSON, b"5"),
    (200, JSON, b'"ok"'),
    (200, JSON, b""),
    (200, TEXT, b"upstream connect error"),
    (200, TEXT, b"\xff"),
    (200, HTML, b"<h1>"),
    (503, TEXT, b"no"),
    (503, HTML, b"<h1>"),
]
TOO_MUCH = [(429, JSON, b"<html>slow down"), (429, HTML, b"<h1>"), (429, TEXT, b"slow down")]


@asynccontextmanager
async def slack_that_says(status: int, content_type: str, body: bytes) -> AsyncIterator[str]:
    """The same to everybody, with a ``Retry-After`` of seven seconds."""

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(
            status=status, content_type=content_type, body=body, headers={"Retry-After": "7"}
        )

    app = web.Application()
    app.router.add_route("*", "/{method}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


async def post(url: str) -> Address:
    threads = SlackThreads(slack_client("xoxb-sandbox", url))
    return (await threads.post("C1", None, "x", (), run_id="run_1", key="status")).address


@pytest.mark.parametrize(("status", "content_type", "body"), UNREADABLE)
async def test_an_answer_that_can_not_be_read_is_lost(
    status: int, content_type: str, body: bytes
) -> None:
    async with slack_that_says(status, content_type, body) as url:
        with pytest.raises(AnswerLost):
            await post(url)


@pytest.mark.parametrize(("status", "content_type", "body"), TOO_MUCH)
async def test_too_much_is_understood_whatever_it_is_said_in(
    status: int, content_type: str, body: bytes
) -> None:
    async with slack_that_says(status, content_type, body) as url:
        with pytest.raises(RateLimited) as refused:
            await post(url)
    assert refused.value.retry_after == 7


@pytest.mark.parametrize(("status", "content_type", "body"), [*UNREADABLE, *TOO_MUCH])
async def test_whoever_asks_slack_who_somebody_is_meets_nothing_unforeseen_either(
    status: int, content_type: str, body: bytes
) -> None:
    async with slack_that_says(status, content_type, body) as url:
        with pytest.raises(SLACK_ERRORS) as failed:
            await People(slack_client("xoxb-sandbox", url)).home()
    assert is_passing(failed.value)


@pytest.mark.parametrize("said", [{"messages": {"a": 1}}, {"messages": "none"}, {"messages": 5}])
async def test_a_page_without_messages_is_lost(said: dict[str, Any]) -> None:
    async with slack_that_says(200, JSON, json.dumps({"ok": True} | said).encode()) as url:
        with pytest.raises(AnswerLost):
            await SlackThreads(slack_client("xoxb-sandbox", url)).page(
                "C1", "1.0", oldest="0", latest=None, cursor=None
            )


async def test_a_page_is_read_whatever_others_wrote_into_their_metadata() -> None:
    ours = {"event_type": METADATA_TYPE, "event_payload": {"run_id": "run_1", "key": "status"}}
    metadata: list[Any] = [
        ours,
        None,
        "text",
        [1],
        {"event_type": METADATA_TYPE, "event_payload": "text"},
        {"event_type": METADATA_TYPE, "event_payload": {"run_id": 5, "key": ["status"]}},
        {"event_type": "another", "event_payload": [1]},
    ]
    messages = [{"ts": f"{at}.0", "metadata": one} for at, one in enumerate(metadata)]
    said = {"ok": True, "messages": [*messages, "text"], "response_metadata": "text"}
    async with slack_that_says(200, JSON, json.dumps(said).encode()) as url:
        page = await SlackThreads(slack_client("xoxb-sandbox", url)).page(
            "C1", "1.0", oldest="0", latest=None, cursor=None
        )
    assert page.cursor is None
    assert page.messages[0] == Posted(Address("C1", "0.0"), "run_1", "status")
    assert [(one.run_id, one.key) for one in page.messages[1:]] == [(None, None)] * (
        len(metadata) - 1
    )
