"""Whoever dies in the middle of drawing, no key is posted twice and the newest is what stays."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any, NoReturn

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from agent.engine.guard import LeaseGuard
from agent.errors import LeaseLost
from agent.rules.ids import RunId
from bot.slack.clients import slack_client
from bot.slack.limiter import Limiter, editing
from bot.slack.thread.asking import Asking
from tests.agent.rules.histories import approved, waiting
from tests.bot.thread.scene import TEAM, TERM, Scene, eventually
from tests.bot.thread.test_drawing import CARD, finished


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


def has_landed(scene: Scene, words: str) -> bool:
    """Has Slack made the edit that says so? Whoever sees it may have drawn over it by now."""
    edits = scene.sandbox.calls("chat.update")
    return any(one.get("ok") and words in str(one["arguments"]) for one in edits)


async def is_shown_by_another(scene: Scene, run_id: RunId) -> None:
    """The dead one's lease is over, and somebody else draws."""

    async def is_shown() -> bool:
        scene.clock.advance(0.5)
        scene.bury("bot-1")
        return await scene.is_drawn(run_id)

    await eventually(is_shown)


@pytest.mark.parametrize("is_done", [False, True], ids=["before Slack", "after Slack"])
@pytest.mark.parametrize("call", range(1, 6))
async def test_whatever_call_it_dies_at_the_next_one_shows_all_of_it_once(
    scene: Scene, call: int, is_done: bool
) -> None:
    run_id = await scene.begin(waiting())
    client = mortal(scene, call, is_done=is_done)
    dying = await scene.draw("bot-1", client=client)
    if call > 2:
        await scene.until_drawn(run_id)
        await scene.go_on(run_id, finished())
    await client.died.wait()
    scene.kill(dying)
    await scene.draw("bot-2", await scene.second_store())
    await is_shown_by_another(scene, run_id)
    if call <= 2:
        await scene.go_on(run_id, finished())
        await is_shown_by_another(scene, run_id)
    assert await scene.differs(run_id) == []
    assert {key: len(found) for key, found in scene.messages(run_id).items()} == {
        "status": 1,
        CARD: 1,
        "answer": 1,
    }


async def test_an_edit_of_the_dead_that_lands_late_does_not_stay(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    dying = await scene.draw("bot-1")
    await scene.until_drawn(run_id)
    scene.sandbox.faults.add(method="chat.update", latency=1.0, contains="about to start")
    await scene.go_on(run_id, waiting().then(approved(1)))
    await eventually(lambda: scene.sandbox.calls("chat.update"))
    scene.kill(dying)
    await scene.go_on(run_id, finished())
    await scene.draw("bot-2", await scene.second_store())
    scene.bury("bot-1")
    await eventually(lambda: "*Done*" in str(scene.messages(run_id)["status"]))
    # The older one lands.
    await eventually(lambda: has_landed(scene, "about to start"))
    assert not await scene.is_drawn(run_id)
    await scene.until_drawn(run_id, step=0.5)
    assert await scene.differs(run_id) == []


async def test_an_edit_of_whoever_was_replaced_meanwhile_is_drawn_over(scene: Scene) -> None:
    """It is not dead, only late: what it did it doubts itself."""
    run_id = await scene.begin(waiting())
    await scene.draw("bot-1")
    await scene.until_drawn(run_id)
    scene.sandbox.faults.add(method="chat.update", latency=1.0, contains="about to start")
    await scene.go_on(run_id, waiting().then(approved(1)))
    await eventually(lambda: scene.sandbox.calls("chat.update"))
    await scene.go_on(run_id, finished())
    await scene.draw("bot-2", await scene.second_store())
    scene.bury("bot-1")
    await eventually(lambda: "*Done*" in str(scene.messages(run_id)["status"]))
    await eventually(lambda: has_landed(scene, "about to start"))

    async def is_right() -> bool:
        scene.clock.advance(0.5)
        return await scene.is_drawn(run_id) and await scene.differs(run_id) == []

    await eventually(is_right)


async def test_what_lands_after_all_doubt_is_over_is_doubted_by_whoever_sent_it(
    scene: Scene,
) -> None:
    """It was frozen for so long that nobody expected it any more; it is alive, and learns of it."""
    run_id = await scene.begin(waiting())
    await scene.draw("bot-1")
    await scene.until_drawn(run_id)
    scene.sandbox.faults.add(method="chat.update", latency=2.0, contains="about to start")
    await scene.go_on(run_id, waiting().then(approved(1)))
    await eventually(lambda: scene.sandbox.calls("chat.update"))
    await scene.go_on(run_id, finished())
    await scene.draw("bot-2", await scene.second_store())
    scene.bury("bot-1")
    await scene.until_drawn(run_id, step=1.0)
    assert await scene.differs(run_id) == []
    await eventually(lambda: has_landed(scene, "about to start"))

    async def is_right() -> bool:
        return await scene.is_drawn(run_id) and await scene.differs(run_id) == []

    await eventually(is_right)


async def test_whose_lease_is_over_asks_slack_nothing(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    lease = await scene.claim(run_id)
    guard = LeaseGuard(lease, TERM, monotonic=scene.clock.seconds)
    asking = Asking(Limiter(scene.store.allowances, scene.clock.seconds), guard)
    scene.clock.advance(TERM.total_seconds())
    asked: list[str] = []

    async def ask() -> None:
        asked.append("Slack")

    with pytest.raises(LeaseLost):
        await asking.call(editing(TEAM), ask)
    assert asked == []


class Losing(AsyncWebClient):
    """Loses edits of the first message on their way: they may land yet."""

    lost = 0
    last_ts = ""

    async def chat_update(self, **given: Any) -> Any:
        if self.lost and given["ts"] == self.last_ts:
            self.lost -= 1
            raise TimeoutError
        return await super().chat_update(**given)


async def test_of_several_edits_that_were_lost_each_is_drawn_over(scene: Scene) -> None:
    client = Losing(token="xoxb-sandbox", base_url=scene.sandbox.api_url, retry_handlers=[])
    client.proxy = None
    run_id = await scene.begin(waiting())
    await scene.draw(client=client)
    client.last_ts = (await scene.until_drawn(run_id))["status"][0]["ts"]
    client.lost = 2
    await scene.go_on(run_id, waiting().then(approved(1)))
    await eventually(lambda: client.lost == 1)
    await scene.settled()
    scene.clock.advance(16)
    scene.wake()
    await eventually(lambda: client.lost == 0)
    await scene.settled()
    second_was_sent_at = scene.clock.seconds()
    scene.clock.advance(17)
    await scene.go_on(run_id, finished())
    await eventually(lambda: "*Done*" in str(scene.messages(run_id)["status"]))
    await scene.until_drawn(run_id, step=0.5)
    edits = [c for c in scene.sandbox.calls("chat.update") if client.last_ts in str(c)]
    assert edits[-1]["at"] >= second_was_sent_at + 20
