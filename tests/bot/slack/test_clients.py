"""What is read out of Slack's refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.sandbox.interactions.response_urls import Origin
from bot.sandbox.opened import OpenSandbox
from bot.slack.clients import (
    ResponseUrls,
    error_name,
    http_session,
    is_passing,
    retry_after,
    slack_client,
)


def refusal(data: Any, status: int = 200, headers: dict[str, str] | None = None) -> SlackApiError:
    response = AsyncSlackResponse(
        client=AsyncWebClient(),
        http_verb="POST",
        api_url="http://127.0.0.1/api/x",
        req_args={},
        data=data,
        headers=headers or {},
        status_code=status,
    )
    make: Callable[[str, AsyncSlackResponse], SlackApiError] = SlackApiError
    return make("refused", response)


@pytest.mark.parametrize(
    ("data", "status", "headers", "seconds"),
    [
        ({"error": "ratelimited"}, 429, {"Retry-After": "7"}, 7.0),
        ({"error": "ratelimited"}, 429, {"retry-after": "1.5"}, 1.5),
        ({"error": "ratelimited"}, 200, {}, 1.0),
        ({"error": "message_limit_exceeded"}, 200, {"Retry-After": "soon"}, 1.0),
        ("too much", 429, {"Retry-After": "0"}, 1.0),
        ("too much", 429, {"Retry-After": "999999"}, 3600.0),
        ({"error": "internal_error"}, 500, {"Retry-After": "7"}, None),
        ({"error": "channel_not_found"}, 200, {}, None),
    ],
)
def test_slack_says_when_to_come_back_only_when_it_was_too_much(
    data: Any, status: int, headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(refusal(data, status, headers)) == seconds


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (refusal({"error": "missing_scope"}), "SlackApiError (missing_scope)"),
        (refusal({"error": "Bearer xoxb-secret"}), "SlackApiError"),
        (refusal("xoxb-secret"), "SlackApiError"),
        (TimeoutError("xoxb-secret"), "TimeoutError"),
    ],
)
def test_a_log_has_slacks_word_for_an_error_and_nothing_else_of_it(
    error: Exception, name: str
) -> None:
    assert error_name(error) == name


@pytest.mark.parametrize(
    ("error", "may_go_well"),
    [
        (TimeoutError(), True),
        (refusal({"error": "ratelimited"}, 429), True),
        (refusal({"error": "internal_error"}), True),
        (refusal("down", 503), True),
        (refusal({"error": "missing_scope"}), False),
        (refusal({"error": "token_revoked"}), False),
    ],
)
def test_only_what_may_go_well_in_a_minute_is_worth_asking_again(
    error: Exception, may_go_well: bool
) -> None:
    assert is_passing(error) is may_go_well


async def test_what_one_process_sends_goes_by_connections_that_are_kept() -> None:
    """A burst of clicks would else make a connection for each card."""
    peers = []

    async def took(request: web.Request) -> web.Response:
        assert request.transport is not None
        peers.append(request.transport.get_extra_info("peername"))
        return web.json_response({"ok": True}, headers={"Set-Cookie": "d=1"})

    app = web.Application()
    app.router.add_route("*", "/{what:.*}", took)
    async with TestServer(app) as server, http_session() as session:
        url = str(server.make_url("/api/"))
        for _ in range(2):
            assert await ResponseUrls(url, session=session).send(url, {"text": "done"})
        await slack_client("xoxb", url, session=session).auth_test()
        assert len(peers) == 3
        assert len(set(peers)) == 1
        assert not len(session.cookie_jar)


async def test_a_response_url_that_does_not_answer_in_time_has_taken_nothing(
    sandbox: OpenSandbox,
) -> None:
    path = sandbox.inside.response_urls.issue(Origin("U0BOB", "C0OPS"))
    url = sandbox.url + path
    sandbox.faults.add(method="response_url", latency=0.5)
    message = {"text": "late"}
    assert not await ResponseUrls(sandbox.api_url, answer_within=0.05).send(url, message)
    assert await ResponseUrls(sandbox.api_url).send(url, message)
