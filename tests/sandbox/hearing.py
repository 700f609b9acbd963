"""A Bolt app that acknowledges everything and notes what it heard."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.response import BoltResponse

from tests.sandbox.driving import Driver, bolt_app, connected

Json = dict[str, Any]
ANY = re.compile(".*")


class Hearing:
    """`answers` go, in turn, into the acknowledgements."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.heard: list[Json] = []
        self.answers: list[Json] = []
        self.app: AsyncApp = bolt_app(driver.running)
        app = self.app
        for listen in (
            *(app.event, app.command, app.shortcut, app.options),
            *(app.action, app.view, app.view_closed),
        ):
            listen(ANY)(self.hear)

    async def hear(self, ack: Any, body: Json) -> None:
        self.heard.append(body)
        # As `ack(…)` does, which would refuse what Slack refuses.
        ack.response = BoltResponse(status=200, body=self.answers.pop(0) if self.answers else "")

    async def post(self, blocks: list[Json], **more: Any) -> Json:
        posted = await self.driver.slack.chat_postMessage(
            **{"channel": "C0OPS", "text": "?", "blocks": blocks, **more}
        )
        return {"channel": "C0OPS", "ts": posted["ts"]}

    async def open(self, view: Json, user: str = "U0BOB") -> str:
        trigger_id = self.driver.sandbox.triggers.issue(user)
        opened = await self.driver.slack.views_open(trigger_id=trigger_id, view=view)
        return str(opened["view"]["id"])

    async def push(self, view: Json) -> str:
        trigger_id = self.driver.sandbox.triggers.issue("U0BOB")
        pushed = await self.driver.slack.views_push(trigger_id=trigger_id, view=view)
        return str(pushed["view"]["id"])

    async def act(self, do: str, user: str = "U0BOB", **what: Any) -> Json:
        answer: Json = await self.driver.act(user, do, **what)
        return answer

    @property
    def violations(self) -> list[str]:
        return self.driver.violations


@asynccontextmanager
async def hearing(driver: Driver) -> AsyncIterator[Hearing]:
    app = Hearing(driver)
    async with connected(app.app):
        yield app
