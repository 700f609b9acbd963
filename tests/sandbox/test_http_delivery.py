"""Signed HTTP delivery to real Bolt apps, and to endpoints that answer badly."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any
from urllib.parse import parse_qs

import pytest
from aiohttp import web
from slack_bolt.async_app import AsyncApp

from bot.sandbox.delivery.http import signature
from bot.sandbox.delivery.transport import Timing
from bot.sandbox.opened import OpenSandbox
from tests.sandbox.driving import bolt_app, buttons, driving, modal, text_input
from tests.sandbox.endpoint import (
    answering,
    command,
    dripping,
    dropping,
    in_vain,
    listening,
    one_endpoint,
    say,
)


def counting(running: OpenSandbox, seen: list[str]) -> AsyncApp:
    app = bolt_app(running)

    @app.event("message")
    async def message(event: Any) -> None:
        seen.append(event["text"])

    @app.command("/agent")
    async def command(ack: Any, body: Any, client: Any) -> None:
        await client.views_open(trigger_id=body["trigger_id"], view=modal(text_input("a")))
        await ack("done")

    @app.view("steer")
    async def submitted(ack: Any) -> None:
        await ack(response_action="errors", errors={"a": "No."})

    @app.action("go")
    async def go(ack: Any) -> None:
        await ack()

    return app


async def test_events_reach_two_apps_in_turn() -> None:
    async with (
        listening() as first,
        listening() as second,
        driving(deliver=[first.url, second.url]) as driver,
    ):
        seen: tuple[list[str], list[str]] = ([], [])
        first.app = counting(driver.running, seen[0])
        second.app = counting(driver.running, seen[1])
        for text in ("1", "2"):
            said = await driver.act("U0BOB", "message", channel="D0BOB", text=text)
            assert said["acknowledged"]
    assert seen == (["1"], ["2"])


async def test_events_come_in_the_order_in_which_they_happened() -> None:
    async with one_endpoint(timing=Timing()) as (endpoint, driver):
        texts = [str(number) for number in range(30)]
        saying = [
            asyncio.create_task(driver.running.act("U0BOB", "message", channel="D0BOB", text=text))
            for text in texts
        ]
        await asyncio.gather(*saying)
        assert [json.loads(body)["event"]["text"] for body in endpoint.bodies] == texts


async def test_commands_modals_and_clicks_are_signed_and_answered() -> None:
    async with listening() as endpoint, driving(deliver=[endpoint.url]) as driver:
        endpoint.app = counting(driver.running, [])
        opened = await driver.act(
            "U0BOB", "command", channel="C0OPS", command="/agent", text="help"
        )
        assert opened["response"] == {"text": "done"}
        refused = await driver.act("U0BOB", "submit", view_id=opened["view_id"], values={"a": "x"})
        assert refused["errors"] == {"a": "No."}
        posted = await driver.slack.chat_postMessage(
            channel="D0BOB", text="?", blocks=buttons("go")
        )
        click = {"channel": "D0BOB", "ts": posted["ts"], "action_id": "go"}
        assert (await driver.act("U0BOB", "click", **click))["acknowledged"]
        assert await driver.get("/sandbox/violations") == []


async def test_an_event_may_be_acknowledged_with_any_2xx_and_an_interaction_may_not() -> None:
    async with one_endpoint() as (endpoint, driver):
        endpoint.answers = [answering(202), answering(202)]
        assert (await say(driver))["acknowledged"]
        assert not (await command(driver))["acknowledged"]


async def test_what_a_person_does_is_sent_once_however_it_ends() -> None:
    async with one_endpoint() as (endpoint, driver):
        for answer in (answering(500), dropping):
            endpoint.answers = [answer]
            assert not (await command(driver))["acknowledged"]
        endpoint.answers = [dripping]
        assert not (await in_vain(endpoint, command(driver)))["acknowledged"]
        assert len(endpoint.headers) == 3
        assert driver.violations == ["unanswered_interaction"] * 3


async def test_a_command_is_a_form_and_its_answer_may_be_plain_text() -> None:
    async with one_endpoint() as (endpoint, driver):
        endpoint.answers = [answering(text="not { JSON")]
        assert (await command(driver))["response"] == {"text": "not { JSON"}
        (shown,) = await driver.get("/sandbox/ephemerals?as=U0BOB")
        assert shown["text"] == "not { JSON"
        assert endpoint.headers[0]["Content-Type"] == "application/x-www-form-urlencoded"
        assert endpoint.headers[0]["User-Agent"].startswith("Slackbot 1.0 ")
        form = parse_qs(endpoint.bodies[0].decode(), strict_parsing=True)
        assert (form["text"], form["command"]) == (["a &amp; b"], ["/agent"])
        assert form["is_enterprise_install"] == ["false"]
        assert "thread_ts" not in form


@pytest.mark.parametrize("text", ["ok", '{"response_action": "dance"}', '["a"]', '{"text": "x"}'])
async def test_an_answer_to_a_submission_that_slack_would_refuse_leaves_the_modal_open(
    text: str,
) -> None:
    async with one_endpoint() as (endpoint, driver):
        trigger_id = driver.sandbox.triggers.issue("U0BOB")
        opened = await driver.slack.views_open(trigger_id=trigger_id, view=modal())
        endpoint.answers = [answering(text=text)]
        answer = await driver.act("U0BOB", "submit", view_id=opened["view"]["id"], values={})
        assert answer["error"] == "invalid_arguments"
        assert len(await driver.get("/sandbox/views?as=U0BOB")) == 1
        assert driver.violations == ["refused_acknowledgement"]


CHALLENGED = [
    ("{challenge}", True),
    ("challenge={challenge}", True),
    ('{"challenge": "{challenge}"}', True),
    ("something else", False),
    ("", False),
]


@pytest.mark.parametrize(("answer", "is_verified"), CHALLENGED)
async def test_urls_are_verified_by_their_challenge(answer: str, is_verified: bool) -> None:
    async def challenged(request: web.Request) -> web.Response:
        body = await request.json()
        assert body["type"] == "url_verification"
        return web.Response(text=answer.replace("{challenge}", body["challenge"]))

    async with one_endpoint() as (endpoint, driver):
        endpoint.answers = [challenged]
        asked = await driver.act("U0ALICE", "verify_urls")
        assert asked["acknowledged"] is is_verified
        why = "" if is_verified else "challenge_failed"
        assert asked["urls"] == [{"url": endpoint.url, "verified": is_verified, "why": why}]


async def test_bolt_answers_the_challenge_by_itself() -> None:
    async with one_endpoint() as (endpoint, driver):
        endpoint.app = bolt_app(driver.running)
        assert (await driver.act("U0ALICE", "verify_urls"))["acknowledged"]


async def test_a_signature_is_of_the_sandboxs_time() -> None:
    async with one_endpoint() as (endpoint, driver):
        driver.sandbox.clock.forward(-400)
        endpoint.app = bolt_app(driver.running)
        assert not (await command(driver))["acknowledged"]
        sent_at = int(endpoint.headers[0]["X-Slack-Request-Timestamp"])
        assert time.time() - sent_at > 390


async def test_where_nobody_listens_the_next_url_gets_it() -> None:
    async with listening() as closed:
        pass
    async with listening() as endpoint, driving(deliver=[closed.url, endpoint.url]) as driver:
        at_once = await asyncio.gather(*(command(driver) for _ in range(6)))
        assert all(answer["acknowledged"] for answer in at_once)


def test_signature_is_the_one_of_slacks_own_example() -> None:
    body = (
        b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&"
        b"channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&"
        b"command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2F"
        b"commands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&"
        b"trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    signed = signature("1531420618", body, "8f742231b10e8888abcd99yyyzzz85a5")
    assert signed == "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
