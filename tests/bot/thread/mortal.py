"""A client of Slack that ends whoever draws with it, in the middle of a call."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any, NoReturn

from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.clients import slack_client
from tests.bot.thread.scene import Scene


class Killed(BaseException):
    """The process is gone: nothing that it would do afterwards is done."""


class MortalClient(AsyncWebClient):
    """Dies at its nth call: before Slack has heard of it, or when it has done it."""

    def dies_at(self, number: int, *, is_done: bool) -> MortalClient:
        self._numbers, self._last, self._is_done = itertools.count(1), number, is_done
        self.died = asyncio.Event()
        return self

    async def api_call(self, *args: Any, **given: Any) -> Any:
        is_last = next(self._numbers) == self._last
        if is_last and not self._is_done:
            self._die()
        answer = await super().api_call(*args, **given)
        if is_last:
            self._die()
        return answer

    def _die(self) -> NoReturn:
        self.died.set()
        raise Killed


def mortal(scene: Scene, number: int, *, is_done: bool) -> MortalClient:
    usual = slack_client("xoxb-sandbox", scene.sandbox.api_url)
    client = MortalClient(
        token="xoxb-sandbox", base_url=usual.base_url, retry_handlers=[], logger=usual.logger
    )
    client.proxy = None
    return client.dies_at(number, is_done=is_done)
