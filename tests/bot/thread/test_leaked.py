"""What Slack puts into the channel instead of its thread is taken back, and nothing is posted before that."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from agent.ports import ThreadMessage
from tests.agent.rules.histories import waiting
from tests.bot.thread.scene import CHANNEL, Scene
from tests.bot.thread.test_drawing import CARD, finished
from tests.bot.thread.test_undeliverable import in_a_thread_of_alices, told, until


class Leaking(AsyncWebClient):
    """A Slack that puts into the channel what was meant for a thread."""

    async def chat_postMessage(self, **given: Any) -> Any:
        return await super().chat_postMessage(**{**given, "thread_ts": None})


class Terse(AsyncWebClient):
    """A Slack that does not say where it has put what it posted."""

    async def chat_postMessage(self, **given: Any) -> Any:
        answer = await super().chat_postMessage(**given)
        answer["message"].pop("thread_ts", None)
        return answer


def client_of(scene: Scene, kind: type[AsyncWebClient]) -> AsyncWebClient:
    client = kind(token="xoxb-sandbox", base_url=scene.sandbox.api_url, retry_handlers=[])
    client.proxy = None
    return client


async def test_what_slack_puts_into_the_channel_instead_is_taken_back(scene: Scene) -> None:
    run_id, root = await in_a_thread_of_alices(scene)
    await scene.go_on(run_id, waiting())
    await scene.draw(client=client_of(scene, Leaking))
    await until(scene, lambda: told(scene))
    assert [one["ts"] for one in scene.sandbox.messages(CHANNEL)] == [root]


async def test_where_slack_says_nothing_of_the_thread_it_is_looked_for_there(scene: Scene) -> None:
    run_id, root = await in_a_thread_of_alices(scene)
    await scene.go_on(run_id, waiting())
    await scene.draw(client=client_of(scene, Terse))
    shown = await scene.until_drawn(run_id)
    assert {one["thread_ts"] for found in shown.values() for one in found} == {root}
    assert told(scene) == []


@pytest.mark.parametrize(
    "fault", [{"ratelimited": True, "retry_after": 1}, {"error": "cant_delete_message"}]
)
async def test_nothing_more_is_posted_before_what_leaked_is_taken_back(
    scene: Scene, fault: dict[str, Any]
) -> None:
    run_id, root = await in_a_thread_of_alices(scene)
    await scene.go_on(run_id, waiting())
    scene.sandbox.faults.add(method="chat.delete", times=1000, **fault)
    await scene.draw(client=client_of(scene, Leaking))
    await until(scene, lambda: told(scene))
    leaked = scene.sandbox.messages(CHANNEL)
    assert len(leaked) == 2  # Alice's own, and one that nobody takes back.
    await until(scene, lambda: len(scene.sandbox.calls("chat.delete")) >= 4)
    assert scene.sandbox.messages(CHANNEL) == leaked
    scene.sandbox.faults.heal()
    await until(scene, lambda: len(scene.sandbox.messages(CHANNEL)) == 1)
    assert [one["ts"] for one in scene.sandbox.messages(CHANNEL)] == [root]


async def test_what_leaked_and_is_given_up_keeps_nothing_else_from_its_end(scene: Scene) -> None:
    run_id, _ = await in_a_thread_of_alices(scene)
    await scene.go_on(run_id, waiting())
    drawer = await scene.draw()
    await scene.until_drawn(run_id, step=0.5)
    await scene.settled()
    await drawer.stop()
    inside = scene.sandbox.inside
    bot, channel = inside.workspace.users["U0PILOT"], inside.workspace.channel(CHANNEL)
    leaked, _ = inside.posting.say(bot, channel, "leaked", [], None)
    await scene.go_on(run_id, finished())
    lease = await scene.claim(run_id)
    address = f"{CHANNEL}/{leaked['ts']}"
    row = ThreadMessage("answer", "posting", address, "x", scene.clock.now())
    await scene.store.threads.save(lease, row)
    scene.clock.advance(timedelta(days=1, hours=5).total_seconds())
    await scene.draw("bot-2")
    shown = await scene.until_drawn(run_id, step=1)
    assert "approval.deny" not in str(shown[CARD])
