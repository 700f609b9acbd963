"""Faults strike the calls that they are meant for, and no others."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

from bot.sandbox.interactions.response_urls import Origin
from bot.sandbox.opened import OpenSandbox, open_sandbox
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Refusal
from tests.sandbox.driving import MOMENT, Driver, client_of


async def post(sandbox: OpenSandbox, text: str = "x") -> str:
    """Whether it was posted, or what Slack said."""
    try:
        await client_of(sandbox).chat_postMessage(channel="C0OPS", text=text)
    except SlackApiError as error:
        response = error.response
        return response["error"] if response.status_code == 200 else str(response.status_code)
    return "ok"


async def test_answer_is_lost_after_the_message_was_posted(sandbox: OpenSandbox) -> None:
    slack = client_of(sandbox)
    slack.retry_handlers = []
    sandbox.faults.add(method="chat.postMessage", drop_after_commit=True)
    with pytest.raises(aiohttp.ClientError):
        await slack.chat_postMessage(channel="C0OPS", text="once")
    assert [one["text"] for one in sandbox.messages("C0OPS")] == ["once"]
    await slack.chat_postMessage(channel="C0OPS", text="again")
    assert len(sandbox.messages("C0OPS")) == 2


async def test_faults_strike_so_many_calls_of_one_method(driver: Driver) -> None:
    await driver.fault(method="chat.postMessage", error="fatal_error", times=2)
    await driver.fault(method="chat.postMessage", status=503, contains="unlucky")
    assert len(await driver.get("/sandbox/faults")) == 2
    assert (await driver.slack.auth_test())["ok"]
    said = [await post(driver.running, text) for text in ("x", "x", "lucky", "unlucky", "unlucky")]
    assert said == ["fatal_error", "fatal_error", "ok", "503", "ok"]
    assert await driver.get("/sandbox/faults") == []


async def test_a_fault_for_a_time_is_over_by_the_sandboxs_clock() -> None:
    async with open_sandbox(Sandbox(clock=MOMENT)) as sandbox:
        sandbox.faults.add(error="internal_error", for_seconds=30)
        assert [await post(sandbox) for _ in range(3)] == ["internal_error"] * 3
        sandbox.clock.forward(29.9)
        assert await post(sandbox) == "internal_error"
        sandbox.clock.forward(0.1)
        assert await post(sandbox) == "ok"
        assert sandbox.faults.waiting == []


async def test_a_share_of_the_calls_is_the_same_share_for_the_same_seed() -> None:
    async def struck(seed: int) -> list[str]:
        async with open_sandbox(Sandbox(seed=seed)) as sandbox:
            sandbox.faults.add(method="chat.postMessage", status=500, share=0.3)
            return [await post(sandbox) for _ in range(40)]

    first = await struck(1)
    assert 4 <= first.count("500") <= 20
    assert first == await struck(1)
    assert first != await struck(2)


async def test_a_share_may_have_an_end(sandbox: OpenSandbox) -> None:
    sandbox.faults.add(error="internal_error", share=1.0, times=2)
    assert [await post(sandbox) for _ in range(3)] == ["internal_error", "internal_error", "ok"]


async def test_a_slow_answer_comes_late(sandbox: OpenSandbox) -> None:
    loop = asyncio.get_running_loop()
    sandbox.faults.add(method="chat.postMessage", latency=0.2)
    begun = loop.time()
    assert await post(sandbox) == "ok"
    assert loop.time() - begun >= 0.2


async def test_one_call_may_suffer_several_at_once(sandbox: OpenSandbox) -> None:
    sandbox.faults.add(latency=0.1)
    sandbox.faults.add(error="fatal_error")
    begun = asyncio.get_running_loop().time()
    assert await post(sandbox) == "fatal_error"
    assert asyncio.get_running_loop().time() - begun >= 0.1


@pytest.mark.parametrize(("fault", "status"), [({"status": 503}, 503), ({"error": "x"}, 404)])
async def test_a_response_url_fails_too_and_nothing_is_said(
    sandbox: OpenSandbox, fault: dict[str, Any], status: int
) -> None:
    sandbox.faults.add(method="response_url", **fault)
    async with aiohttp.ClientSession() as http:
        assert (await respond(sandbox, http)).status == status
        assert sandbox.ephemerals("U0BOB") == []
        assert (await respond(sandbox, http)).status == 200
    assert len(sandbox.ephemerals("U0BOB")) == 1


@pytest.mark.sandbox(clock=MOMENT, allow_violations=True)
async def test_a_response_url_that_is_limited_is_so_until_the_time_is_over(
    sandbox: OpenSandbox,
) -> None:
    sandbox.faults.add(method="response_url", ratelimited=True, retry_after=7)
    async with aiohttp.ClientSession() as http:
        for left in (7, 6):
            response = await respond(sandbox, http)
            assert (response.status, response.headers["Retry-After"]) == (429, str(left))
            assert await response.json() == {"ok": False, "error": "ratelimited"}
            sandbox.clock.forward(1)
        assert [one["kind"] for one in sandbox.violations] == ["call_before_retry_after"]
        sandbox.clock.forward(5)
        assert (await respond(sandbox, http)).status == 200


async def respond(sandbox: OpenSandbox, http: aiohttp.ClientSession) -> aiohttp.ClientResponse:
    path = sandbox.inside.response_urls.issue(Origin("U0BOB", "C0OPS"))
    async with http.post(sandbox.url + path, json={"text": "x"}) as response:
        await response.read()
        return response


async def test_faults_of_deliveries_leave_calls_alone_and_wait_for_their_kind(
    sandbox: OpenSandbox,
) -> None:
    sandbox.faults.add(method="app_mention", lost=True)
    sandbox.faults.add(duplicate=True, contains="twice")
    assert await post(sandbox, "twice") == "ok"
    take = sandbox.inside.faults.take_delivery
    # The message's own event was the one that came twice.
    assert take("block_actions", {"said": "twice"}) == {}
    assert take("message", {"said": "once"}) == {}
    (lost,) = take("app_mention", {"said": "once"}).values()
    assert (lost.effect, lost.value) == ("lost", True)
    assert sandbox.faults.waiting == []


WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "Give exactly one of error, status"),
    ({"error": "x", "status": 500}, "Give exactly one of"),
    ({"eror": "x"}, "Unknown: eror. Known: error,"),
    ({"error": "x", "times": "?"}, "`times` is a whole number from 1"),
    ({"error": "x", "times": 0}, "`times` is a whole number from 1"),
    ({"error": 5}, "`error` is a text"),
    ({"status": 200}, "`status` is an HTTP status"),
    ({"status": True}, "`status` is an HTTP status"),
    ({"ratelimited": "yes"}, "`ratelimited` is true"),
    ({"latency": -1}, "`latency` is a number of seconds"),
    ({"latency": "1"}, "`latency` is a number of seconds"),
    ({"error": "x", "share": 0}, "`share` is a number above 0"),
    ({"error": "x", "share": 1.1}, "`share` is a number above 0"),
    (
        {"error": "x", "method": "chat.postMesage"},
        "`error` strikes no chat.postMesage. It strikes: ",
    ),
    ({"lost": True, "method": "chat.postMessage"}, "`lost` strikes no chat.postMessage"),
    (
        {"duplicate": True, "method": "app_mentoin"},
        "`duplicate` strikes no app_mentoin. It strikes",
    ),
    ({"expired_trigger": True, "method": "message"}, "It strikes: block_actions, view_submission"),
    ({"method": ["chat.update"], "error": "x"}, "`method` is a text"),
    ({"error": "x", "times": 10**400}, "`times` is a whole number"),
    ({"clock_ahead": -(10**300)}, "`clock_ahead` is a number of seconds"),
    ({"clock_ahead": -1_000_000_000_000}, "`clock_ahead` is a number of seconds"),
    ({"disconnect": "tomorrow"}, "`disconnect` is one of warning, "),
    ({"drop_sockets": 1}, "`drop_sockets` is true"),
    ({"half_open": "a while"}, "`half_open` is a number of seconds"),
    ({"revoke_token": "xoxb-none"}, "There are: xoxb-sandbox, xapp-sandbox"),
    ({"revoke_token": "xoxb-sandbox", "error": "oops"}, "`error` is one of token_revoked"),
    ({"delete_message": "1.1"}, "`delete_message` is {channel, ts}"),
    ({"delete_message": {"channel": "C0OPS", "ts": "1.1"}}, "No message 1.1 in C0OPS"),
    ({"archive": "C0NONE"}, "There are: C0SUPPORT, "),
    ({"archive": "D0BOB"}, "D0BOB is a conversation of people"),
    ({"remove_bot": "D0BOB"}, "D0BOB is a conversation of people"),
    ({"clock_ahead": "far"}, "`clock_ahead` is a number of seconds"),
    ({"clock_ahead": float("inf")}, "The body is no JSON"),
    ({"clock_ahead": 5, "times": 2}, "`clock_ahead` happens at once and goes without times"),
]


@pytest.mark.parametrize(("body", "said"), WRONG, ids=lambda one: str(one)[:40])
async def test_wrong_faults_are_told_what_is_known(
    driver: Driver, body: dict[str, Any], said: str
) -> None:
    status, answer = await driver.request("POST", "/sandbox/faults", body)
    assert status in (400, 404)
    assert said in answer["error"]
    assert await driver.get("/sandbox/faults") == []


async def test_what_happens_at_once_and_what_waits_are_not_taken_for_one_another(
    sandbox: OpenSandbox,
) -> None:
    with pytest.raises(Refusal, match="happens at once"):
        sandbox.faults.add(clock_ahead=5)
    with pytest.raises(Refusal, match="At once there are: disconnect, "):
        await sandbox.faults.now(error="x")
