"""Deliveries that are lost, late or doubled on request, over both transports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from bot.sandbox.delivery.transport import Timing
from tests.sandbox.driving import Driver, bolt_app, buttons, modal
from tests.sandbox.passing import time_passes
from tests.sandbox.serving import TRANSPORTS, Served, served

TIMING = Timing(ack=30.0, socket_redelivery=60.0, trigger=60.0)


class Place:
    """A sandbox with an app that notes what it hears."""

    def __init__(self, running: Served) -> None:
        self.driver: Driver = running.driver
        self.texts: list[str] = []
        self.retries: list[Any] = []
        self.clicks: list[str] = []
        self.opened: list[str] = []
        self._register(running)

    def _register(self, running: Served) -> None:
        app = running.app

        @app.event("message")
        async def message(event: Any, request: Any) -> None:
            self.texts.append(event["text"])
            self.retries.append(request.headers.get("x-slack-retry-num"))

        @app.action("go")
        async def go(ack: Any, action: Any, body: Any, client: Any) -> None:
            await ack()
            self.clicks.append(action["value"])
            try:
                await client.views_open(trigger_id=body["trigger_id"], view=modal())
            except SlackApiError as error:
                self.opened.append(error.response["error"])
            else:
                self.opened.append("opened")

    async def say(self, text: str) -> Any:
        return await self.driver.act("U0BOB", "message", channel="D0BOB", text=text)

    async def click(self) -> Any:
        ts = self.driver.sandbox.messages.top_level("C0OPS")[0]["ts"]
        return await self.driver.act("U0BOB", "click", channel="C0OPS", ts=ts, action_id="go")

    async def losing(self, doing: Coroutine[Any, Any, Any]) -> Any:
        """What comes of it once Slack has waited long enough for the answer to what it lost."""
        done = asyncio.create_task(doing)
        faults = self.driver.running.faults
        await self.driver.running.until(lambda: not faults.waiting, "the fault has struck")
        await time_passes(TIMING.ack)
        return await done

    async def until(self, count: int, heard: list[Any]) -> None:
        await self.driver.running.until(lambda: len(heard) >= count)


@pytest.fixture(params=TRANSPORTS)
async def place(request: pytest.FixtureRequest) -> AsyncIterator[Place]:
    async with served(request.param, bolt_app, timing=TIMING, connections=2) as running:
        await running.driver.slack.chat_postMessage(channel="C0OPS", text="?", blocks=buttons("go"))
        yield Place(running)


async def test_an_event_arrives_twice_on_two_ways_with_one_id(place: Place) -> None:
    await place.driver.fault(method="message", contains="twice", duplicate=True)
    assert (await place.say("twice"))["acknowledged"]
    await place.until(2, place.texts)
    assert (await place.say("once"))["acknowledged"]
    assert place.texts == ["twice", "twice", "once"]
    first, second = [
        one for one in await place.driver.deliveries() if "twice" in str(one["payload"])
    ]
    assert first["event_id"] == second["event_id"]
    assert first["connection"] != second["connection"]
    assert all(one in (None, ["0"]) for one in place.retries), "neither is a retry"


async def test_a_lost_event_is_sent_again_and_blames_nobody(place: Place) -> None:
    await place.driver.fault(method="message", lost=True)
    await place.losing(place.say("hello"))
    await place.until(1, place.texts)
    assert place.retries == [["1"]]
    assert place.driver.violations == []


async def test_a_delayed_event_is_overtaken(place: Place) -> None:
    await place.driver.fault(method="message", contains="slow", delay=20)
    saying = asyncio.create_task(place.say("slow"))

    await place.driver.running.until(lambda: place.driver.running.messages("D0BOB"))
    await place.say("quick")
    await time_passes(20)
    await saying
    await place.until(2, place.texts)
    assert place.texts == ["quick", "slow"]


async def test_a_lost_click_shows_an_error_and_is_not_the_apps_fault(place: Place) -> None:
    await place.driver.fault(method="block_actions", lost=True)
    assert not (await place.losing(place.click()))["acknowledged"]
    assert place.clicks == []
    assert place.driver.violations == []
    assert (await place.click())["acknowledged"]


async def test_a_click_arrives_twice_and_its_trigger_opens_one_view(place: Place) -> None:
    await place.driver.fault(method="block_actions", duplicate=True)
    assert (await place.click())["acknowledged"]
    await place.until(2, place.opened)
    assert sorted(place.opened) == ["exchanged_trigger_id", "opened"]


async def test_an_expired_trigger_opens_nothing(place: Place) -> None:
    await place.driver.fault(method="block_actions", expired_trigger=True)
    await place.click()
    await place.until(1, place.opened)
    await place.click()
    await place.until(2, place.opened)
    assert place.opened == ["expired_trigger_id", "opened"]
