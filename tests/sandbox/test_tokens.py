"""Which tokens are taken, what each may do, and that a real one leaves no trace."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.opened import OpenSandbox
from bot.sandbox.tokens import APP_SCOPES, BOT_SCOPES
from bot.sandbox.webapi.methods import METHODS
from bot.sandbox.wire import Refusal
from tests.sandbox.driving import Driver, client_of

REAL = (
    "xoxb-2345678901-2345678901234-AbCdEfGhIjKlMnOpQrStUvWx",
    "xoxp-23456-23456-23456-abcdef",
    "xapp-1-A0123456789-2345678901-0123456789abcdef",
    "xoxe.xoxb-1-MS0yLTIzNDU2",
    "xoxe-1-My0xLTIzNDU2",
)


def client(sandbox: OpenSandbox, token: str) -> AsyncWebClient:
    found = client_of(sandbox)
    found.token = token
    return found


async def refused(call: Any) -> Any:
    with pytest.raises(SlackApiError) as error:
        await call
    return error.value.response


async def test_a_token_without_the_scope_is_told_what_it_needs_and_has(driver: Driver) -> None:
    body = {"token": "xoxb-reader", "scopes": ["users:read", "channels:read"]}
    status, answer = await driver.request("POST", "/sandbox/tokens", body)
    assert (status, answer) == (200, {"ok": True, "scopes": ["channels:read", "users:read"]})
    reader = client(driver.running, "xoxb-reader")
    assert (await reader.users_info(user="U0BOB"))["ok"]
    response = await refused(reader.chat_postMessage(channel="C0OPS", text="x"))
    assert (response["error"], response["needed"], response["provided"]) == (
        "missing_scope",
        "chat:write",
        "channels:read,users:read",
    )
    assert response.headers["X-OAuth-Scopes"] == "channels:read,users:read"
    assert driver.running.messages("C0OPS") == []


async def test_the_same_token_can_be_given_other_scopes(sandbox: OpenSandbox) -> None:
    sandbox.inside.tokens.add("xoxb-sandbox", ["users:read"])
    slack = client_of(sandbox)
    assert (await refused(slack.chat_postMessage(channel="C0OPS", text="x")))["error"] == (
        "missing_scope"
    )
    sandbox.inside.tokens.add("xoxb-sandbox", ["chat:write"])
    await slack.chat_postMessage(channel="C0OPS", text="x")


async def test_an_app_level_token_opens_connections_and_nothing_else(sandbox: OpenSandbox) -> None:
    slack = client(sandbox, "xapp-sandbox")
    assert (await slack.apps_connections_open(app_token="xapp-sandbox"))["ok"]
    assert (await refused(slack.auth_test()))["error"] == "not_allowed_token_type"
    assert (await refused(slack.apps_connections_open(app_token="xoxb-sandbox")))["error"] == (
        "not_allowed_token_type"
    )


@pytest.mark.parametrize("token", REAL)
async def test_a_token_that_looks_real_is_refused_and_leaves_no_trace(
    sandbox: OpenSandbox, token: str, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"{sandbox.api_url}auth.test"
    ways: list[dict[str, Any]] = [
        {"headers": {"Authorization": f"Bearer {token}"}},
        {"params": {"token": token}},
        {"data": {"token": token}},
        {"json": {"token": token}},
        {"json": {"token": token}, "headers": {"Authorization": "Bearer xoxb-sandbox"}},
    ]
    async with aiohttp.ClientSession() as http:
        for way in ways:
            async with http.post(url, **way) as response:
                said = await response.json()
            assert said["ok"] or said["error"] == "invalid_auth"
    (warning,) = [one for one in caplog.records if one.name == "bot.sandbox.tokens"]
    assert warning.levelname == "WARNING"
    kept = caplog.text + json.dumps(sandbox.inside.record.calls())
    assert not [part for part in token.split("-")[1:] if len(part) > 4 and part in kept]
    with pytest.raises(Refusal, match="looks like a real token") as why:
        sandbox.inside.tokens.add(token, ["chat:write"])
    assert token not in str(why.value)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"token": "xoxb-1", "scopes": ["chat:wrote"]}, "No scope chat:wrote. There are: app_"),
        ({"token": "xoxb-1", "scopes": "chat:write"}, "`scopes` as a list"),
        ({"token": "xoxb-1"}, "`scopes` as a list"),
        ({"token": "bot", "scopes": []}, "begins with xoxb-"),
        ({"token": "xapp-1", "scopes": ["chat:write"]}, "There are: connections:write"),
    ],
)
async def test_wrong_tokens_are_told_what_is_known(driver: Driver, body: Any, said: str) -> None:
    status, answer = await driver.request("POST", "/sandbox/tokens", body)
    assert status == 400
    assert said in answer["error"]


@pytest.mark.parametrize("error", ["token_revoked", "account_inactive", "invalid_auth"])
async def test_a_revoked_token_is_told_so_until_it_is_healed(driver: Driver, error: str) -> None:
    await driver.fault(revoke_token="xoxb-sandbox", error=error)
    assert (await refused(driver.slack.auth_test()))["error"] == error
    await driver.request("DELETE", "/sandbox/faults")
    assert (await driver.slack.auth_test())["ok"]


def test_every_scope_that_a_method_wants_can_be_had() -> None:
    for name, method in METHODS.items():
        if callable(method.scope):
            continue
        wanted = {method.scope} if isinstance(method.scope, str) else set(method.scope)
        assert wanted <= {*BOT_SCOPES, *APP_SCOPES}, name
