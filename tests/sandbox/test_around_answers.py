"""What is around an answer of the Web API: headers, remarks on how it was asked, and how it is packed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.sandbox.driving import Driver


async def asked(driver: Driver, method: str, **how: Any) -> tuple[Any, Mapping[str, str]]:
    """The answer and its headers, asked without any SDK."""
    headers = {"Authorization": "Bearer xoxb-sandbox"} | how.pop("headers", {})
    url = driver.running.api_url + method
    async with driver.http.post(url, headers=headers, **how) as response:
        return await response.json(), response.headers


@pytest.mark.parametrize(
    ("content_type", "body", "warning"),
    [
        ("application/json", '{"user": "U0BOB"}', "missing_charset"),
        ("application/json; charset=utf-8", '{"user": "U0BOB"}', None),
        ("application/x-www-form-urlencoded", "user=U0BOB", None),
        ("application/x-www-form-urlencoded; charset=utf-8", "user=U0BOB", "superfluous_charset"),
    ],
)
async def test_it_is_remarked_on_how_a_call_names_its_charset(
    driver: Driver, content_type: str, body: str, warning: str | None
) -> None:
    answer, _ = await asked(driver, "users.info", data=body, headers={"Content-Type": content_type})
    assert answer["user"]["name"] == "bob"
    assert answer.get("warning") == warning
    assert answer.get("response_metadata", {}).get("warnings") == (warning and [warning])


async def test_a_remark_stands_beside_a_methods_own_warning(driver: Driver) -> None:
    said = {"Content-Type": "application/json"}
    answer, _ = await asked(
        driver, "conversations.join", data='{"channel": "C0SUPPORT"}', headers=said
    )
    assert answer["warning"] == "already_in_channel,missing_charset"
    assert answer["response_metadata"]["warnings"] == ["already_in_channel", "missing_charset"]


async def test_an_answer_says_which_scopes_the_token_has_and_which_would_do(driver: Driver) -> None:
    _, headers = await asked(driver, "users.info", data={"user": "U0BOB"})
    assert "users:read" in headers["X-OAuth-Scopes"].split(",")
    assert headers["X-Accepted-OAuth-Scopes"] == "users:read"
    await driver.request("POST", "/sandbox/tokens", {"token": "xoxb-few", "scopes": ["commands"]})
    few = {"Authorization": "Bearer xoxb-few"}
    refused, headers = await asked(driver, "users.info", headers=few)
    assert refused["error"] == "missing_scope"
    assert headers["X-Accepted-OAuth-Scopes"] == "users:read"
    _, other = await asked(driver, "auth.test")
    assert "X-Accepted-OAuth-Scopes" not in other
    assert headers["X-Slack-Req-Id"] != other["X-Slack-Req-Id"]


async def test_a_long_answer_is_packed_for_those_who_take_it_so(driver: Driver) -> None:
    for accepted, method, packed in (
        ("gzip", "users.list", "gzip"),
        ("gzip", "auth.test", None),
        ("identity", "users.list", None),
    ):
        answer, headers = await asked(driver, method, headers={"Accept-Encoding": accepted})
        assert answer["ok"]
        assert headers.get("Content-Encoding") == packed


async def test_api_test_says_what_it_was_asked_and_needs_no_token(driver: Driver) -> None:
    nobody = {"Authorization": ""}
    said, _ = await asked(driver, "api.test", data={"foo": "bar"}, headers=nobody)
    assert said == {"ok": True, "args": {"foo": "bar"}}
    failed, _ = await asked(driver, "api.test", data={"error": "my_error"}, headers=nobody)
    assert failed == {"ok": False, "error": "my_error", "args": {"error": "my_error"}}
