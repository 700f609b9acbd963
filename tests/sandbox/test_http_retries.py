"""Events over HTTP that fail, and come again as Slack sends them."""

from __future__ import annotations

import asyncio
import json

import pytest
from aiohttp import web

from bot.sandbox.delivery.http import signature
from bot.sandbox.delivery.transport import Timing
from tests.sandbox.driving import driving
from tests.sandbox.endpoint import (
    Answer,
    Endpoint,
    answering,
    dripping,
    dropping,
    in_vain,
    listening,
    one_endpoint,
    say,
)

REASONS = [
    (answering(500), "http_error"),
    (answering(404), "http_error"),
    (answering(304), "http_error"),
    (dropping, "http_error"),
    (dripping, "http_timeout"),
]


@pytest.mark.parametrize(("answer", "reason"), REASONS)
async def test_failed_event_is_sent_again_and_says_why(answer: Answer, reason: str) -> None:
    async with one_endpoint() as (endpoint, driver):
        endpoint.answers = [answer]
        await (in_vain(endpoint, say(driver)) if answer is dripping else say(driver))
        await driver.running.until(lambda: len(endpoint.headers) >= 2)
        assert endpoint.retries == [(None, None), ("1", reason)]
        assert len({json.loads(body)["event_id"] for body in endpoint.bodies}) == 1


async def test_a_redirect_is_followed_twice_and_signed_all_the_same() -> None:
    redirect = answering(307, Location="/slack/events")
    async with one_endpoint() as (endpoint, driver):
        endpoint.answers = [redirect, redirect]
        assert (await say(driver))["acknowledged"]
        assert endpoint.retries == [(None, None)] * 3
        for headers, body in zip(endpoint.headers, endpoint.bodies, strict=True):
            signed = signature(headers["X-Slack-Request-Timestamp"], body)
            assert headers["X-Slack-Signature"] == signed

        endpoint.answers = [redirect, redirect, redirect]
        assert (await say(driver))["acknowledged"]
        assert endpoint.retries[-1] == ("1", "too_many_redirects")


async def test_an_event_is_tried_four_times_and_then_given_up() -> None:
    async with one_endpoint() as (endpoint, driver):
        endpoint.answers = [answering(500)] * 4
        assert not (await say(driver))["acknowledged"]
        assert [number for number, _ in endpoint.retries] == [None, "1", "2", "3"]
        assert driver.violations == ["unacknowledged_event"] * 4


async def test_an_app_can_ask_for_no_retry() -> None:
    async with one_endpoint() as (endpoint, driver):
        endpoint.answers = [answering(500, X_Slack_No_Retry="1")]
        said = await say(driver)
        assert (said["acknowledged"], said["why"]) == (False, "http_error")
        assert len(endpoint.headers) == 1
        assert driver.violations == ["unacknowledged_event"]


async def test_an_event_that_finds_nobody_is_sent_when_somebody_listens_again() -> None:
    async with listening() as closed:
        pass
    # Often enough until somebody listens, however long a busy machine takes for it.
    timing = Timing(ack=30.0, retry_delays=(0.0,) + (0.05,) * 500)
    async with driving(deliver=[closed.url], timing=timing) as driver:
        saying = asyncio.create_task(say(driver))

        async def was_tried() -> bool:
            return len(await driver.deliveries()) > 1

        await driver.running.until(was_tried)
        endpoint = Endpoint()
        web_app = web.Application()
        web_app.router.add_post("/slack/events", endpoint.answer)
        runner = web.AppRunner(web_app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", int(closed.url.split(":")[2].split("/")[0])).start()
        assert (await saying)["acknowledged"]
        await runner.cleanup()
    assert endpoint.retries[0][1] == "connection_failed"


async def test_an_event_answered_too_late_is_late_and_sent_again() -> None:
    async with one_endpoint() as (endpoint, driver):
        endpoint.answers = [dripping]
        await in_vain(endpoint, say(driver))
        await driver.running.until(lambda: len(endpoint.headers) >= 2)
        assert driver.violations == ["late_acknowledgement"]


def test_times_are_slacks_own_or_sped_up_and_the_apps_stay_as_they_are() -> None:
    real, fast = Timing.real(), Timing.fast(60)
    assert (real.ack, real.trigger, real.retry_delays) == (3.0, 3.0, (0.0, 60.0, 300.0))
    assert (fast.ack, fast.trigger, fast.retry_delays) == (3.0, 3.0, (0.0, 1.0, 5.0))
    assert fast.debug_connection_life == real.debug_connection_life / 60
