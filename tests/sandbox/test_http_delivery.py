"""Signed HTTP delivery to real Bolt apps."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp

from bot.sandbox.app import RunningSandbox
from bot.sandbox.delivery.http import signature
from bot.sandbox.delivery.transport import Timing
from tests.sandbox.driving import bolt_app, buttons, driving, modal, text_input, until

QUICK = Timing(retry_delays=(0.0, 0.0))


class Endpoint:
    """An app's URL, there before the app is: the sandbox wants it first."""

    def __init__(self) -> None:
        self.app: AsyncApp | None = None
        self.url = ""
        self.statuses: list[int] = []
        self.headers: list[dict[str, str]] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.headers.append(dict(request.headers))
        if self.statuses:
            return web.Response(status=self.statuses.pop(0))
        if self.app is None:
            return web.Response()
        bolt_request = await to_bolt_request(request)
        return await to_aiohttp_response(await self.app.async_dispatch(bolt_request))


@asynccontextmanager
async def listening() -> AsyncIterator[Endpoint]:
    endpoint = Endpoint()
    web_app = web.Application()
    web_app.router.add_post("/slack/events", endpoint.answer)
    runner = web.AppRunner(web_app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    endpoint.url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    try:
        yield endpoint
    finally:
        await runner.cleanup()


def counting(running: RunningSandbox, seen: list[str]) -> AsyncApp:
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


async def test_failed_event_is_sent_again_and_says_so() -> None:
    async with (
        listening() as endpoint,
        driving(deliver=[endpoint.url], timing=QUICK) as driver,
    ):
        endpoint.statuses = [500]
        said = await driver.act("U0BOB", "message", channel="D0BOB", text="hello")
        assert said["acknowledged"]
    first, again = endpoint.headers
    assert "X-Slack-Retry-Num" not in first
    assert (again["X-Slack-Retry-Num"], again["X-Slack-Retry-Reason"]) == ("1", "http_error")


async def test_where_nobody_listens_the_next_url_gets_it() -> None:
    async with listening() as closed:
        pass
    async with listening() as endpoint, driving(deliver=[closed.url, endpoint.url]) as driver:
        for _ in range(2):
            answer = await driver.act(
                "U0BOB", "command", channel="C0OPS", command="/agent", text=""
            )
            assert answer["acknowledged"]


async def test_app_that_does_not_answer_leaves_a_violation() -> None:
    async with listening() as endpoint, driving(deliver=[endpoint.url]) as driver:
        endpoint.statuses = [404]
        answer = await driver.act("U0BOB", "command", channel="C0OPS", command="/agent", text="")
        assert not answer["acknowledged"]

        async def violations() -> Any:
            return await driver.get("/sandbox/violations")

        (found,) = await until(violations)
        assert found["kind"] == "unanswered_interaction"


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
