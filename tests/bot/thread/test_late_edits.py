"""Whatever lands late, the newest is what stays."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from agent.engine.guard import LeaseGuard
from agent.errors import LeaseLost
from bot.slack.limiter import Limiter, editing
from bot.slack.thread.asking import Asking
from tests.agent.rules.histories import approved, judged, replied, waiting
from tests.bot.thread.scene import TEAM, TERM, Message, Scene, eventually
from tests.bot.thread.test_drawing import CARD, finished


def has_landed(scene: Scene, words: str) -> bool:
    """Has Slack made the edit that says so? Whoever sees it may have drawn over it by now."""
    return any(one.get("ok") for one in edits_with(scene, words))


def edits_with(scene: Scene, words: str) -> list[Message]:
    """Those that have been sent."""
    return [one for one in scene.sandbox.calls("chat.update") if words in str(one["arguments"])]


async def test_an_edit_of_the_dead_that_lands_late_does_not_stay(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    dying = await scene.draw("bot-1")
    await scene.until_drawn(run_id)
    scene.sandbox.faults.add(method="chat.update", latency=1.0, contains="about to start")
    await scene.go_on(run_id, waiting().then(approved(1)))
    await eventually(lambda: edits_with(scene, "about to start"))
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
    await eventually(lambda: edits_with(scene, "about to start"))
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
    await eventually(lambda: edits_with(scene, "about to start"))
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


async def test_what_is_shown_again_already_is_not_asked_for_at_each_move_of_the_run(
    scene: Scene,
) -> None:
    """Once for the answer that was lost, once to draw over it soon, and once when it can't land any more."""
    run_id = await scene.begin(waiting())
    await scene.draw()
    card_ts = (await scene.until_drawn(run_id))[CARD][0]["ts"]
    scene.sandbox.faults.add(method="chat.update", drop_after_commit=True, contains="Approved")
    history = waiting().then(approved(1))
    await scene.go_on(run_id, history)
    await eventually(lambda: edits_with(scene, card_ts))
    await scene.settled()
    for number in range(2, 8):
        history = history.then(replied(number)).then(judged(number, "allow"))
        await scene.go_on(run_id, history)
        scene.clock.advance(1.0)
        scene.wake()
        await scene.settled()
    assert len(edits_with(scene, card_ts)) == 2
    await scene.until_drawn(run_id, step=0.5)
    first, _, last = edits_with(scene, card_ts)
    assert last["at"] >= first["at"] + 20
    assert await scene.differs(run_id) == []


async def test_what_somebody_may_have_changed_since_it_was_shown_again_is_shown_at_once(
    scene: Scene,
) -> None:
    run_id = await scene.begin(waiting())
    await scene.draw()
    card_ts = (await scene.until_drawn(run_id))[CARD][0]["ts"]
    scene.sandbox.faults.add(method="chat.update", drop_after_commit=True, contains="Approved")
    await scene.go_on(run_id, waiting().then(approved(1)))
    await eventually(lambda: edits_with(scene, card_ts))
    await scene.settled()
    scene.clock.advance(1.0)
    scene.wake()
    await eventually(lambda: len(edits_with(scene, card_ts)) == 2)
    await scene.settled()
    await scene.store.threads.doubt(run_id, CARD)
    # No time passes.
    await eventually(lambda: len(edits_with(scene, card_ts)) == 3)
