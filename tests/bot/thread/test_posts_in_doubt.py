"""What was posted, and what became of it: however little Slack says, it stands once, and never in the channel."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from agent.ports import ThreadMessage
from agent.rules.ids import RunId
from bot.slack.ids import METADATA_TYPE, Address
from tests.agent.rules.histories import begun, waiting
from tests.bot.thread.scene import CHANNEL, TERM, Scene, eventually
from tests.bot.thread.test_drawing import CARD
from tests.bot.thread.test_leaked import Leaking, client_of
from tests.bot.thread.test_undeliverable import in_a_thread_of_alices, told, until


def times_shown(scene: Scene, run_id: RunId) -> dict[str, int]:
    return {key: len(found) for key, found in scene.messages(run_id).items()}


class Failing(AsyncWebClient):
    """A Slack in which something goes wrong when it has posted."""

    fails_with: str | None = None

    async def chat_postMessage(self, **given: Any) -> Any:
        answer = await super().chat_postMessage(**given)
        if self.fails_with is not None:
            response = {"ok": False, "error": self.fails_with}
            self.fails_with = None
            make: Callable[[str, dict[str, Any]], SlackApiError] = SlackApiError
            raise make("it went wrong", response)
        return answer


@pytest.mark.parametrize("code", ["internal_error", "fatal_error", "Nothing of Slack's."])
async def test_what_may_have_been_done_all_the_same_is_looked_for(scene: Scene, code: str) -> None:
    client = client_of(scene, Failing)
    assert isinstance(client, Failing)
    client.fails_with = code
    run_id = await scene.begin(waiting())
    await scene.draw(client=client)
    await scene.until_drawn(run_id, step=0.5)
    assert times_shown(scene, run_id) == {"status": 1, CARD: 1}


async def test_what_leaked_and_was_not_heard_of_is_taken_back(scene: Scene) -> None:
    run_id, root = await in_a_thread_of_alices(scene)
    await scene.go_on(run_id, waiting())
    scene.sandbox.faults.add(method="chat.postMessage", drop_after_commit=True, contains=CHANNEL)
    await scene.draw(client=client_of(scene, Leaking))
    await until(scene, lambda: told(scene))
    lost_at = scene.clock.seconds()
    await until(scene, lambda: [m["ts"] for m in scene.sandbox.messages(CHANNEL)] == [root])
    assert scene.clock.seconds() - lost_at < 15


async def test_what_leaked_before_its_poster_died_is_taken_back(scene: Scene) -> None:
    run_id, root = await in_a_thread_of_alices(scene)
    await scene.go_on(run_id, waiting())
    lease = await scene.claim(run_id)
    intended = ThreadMessage("status", "posting", None, "unknown", scene.clock.now())
    await scene.store.threads.save(lease, intended)
    metadata = {"event_type": METADATA_TYPE, "event_payload": {"run_id": run_id, "key": "status"}}
    await client_of(scene, AsyncWebClient).chat_postMessage(
        channel=CHANNEL, text="leaked", metadata=metadata
    )
    scene.clock.advance(TERM.total_seconds())
    await scene.draw()
    await scene.until_drawn(run_id, step=0.5)
    assert [one["ts"] for one in scene.sandbox.messages(CHANNEL)] == [root]
    assert times_shown(scene, run_id) == {"status": 1, CARD: 1}


class Leaky(AsyncWebClient):
    """A Slack that puts into the channel what was meant for a thread, until it is mended."""

    leaks = True

    async def chat_postMessage(self, **given: Any) -> Any:
        if given["channel"] == CHANNEL and self.leaks:
            given["thread_ts"] = None
        return await super().chat_postMessage(**given)


@pytest.mark.parametrize(
    "fault", [{"ratelimited": True, "retry_after": 5}, {"status": 503}, {"error": "missing_scope"}]
)
async def test_nothing_more_is_posted_before_it_is_known_where_the_last_one_stands(
    scene: Scene, fault: dict[str, Any]
) -> None:
    run_id, root = await in_a_thread_of_alices(scene)
    await scene.go_on(run_id, waiting())
    scene.sandbox.faults.add(method="conversations.replies", times=3, **fault)
    client = client_of(scene, Leaky)
    assert isinstance(client, Leaky)
    await scene.draw(client=client)
    await until(scene, lambda: len(scene.sandbox.calls("conversations.replies")) == 3)
    await scene.settled()
    assert (
        len(scene.sandbox.messages(CHANNEL)) == 2
    )  # Alice's own, and one that may be in the thread.
    client.leaks = False
    await scene.until_drawn(run_id, step=1.0)
    assert [one["ts"] for one in scene.sandbox.messages(CHANNEL)] == [root]
    assert times_shown(scene, run_id) == {"status": 1, CARD: 1}


async def test_when_slack_is_busy_it_is_asked_later_where_the_last_one_stands(scene: Scene) -> None:
    run_id, _ = await in_a_thread_of_alices(scene)
    await scene.go_on(run_id, waiting())
    scene.sandbox.faults.add(method="conversations.replies", ratelimited=True, retry_after=9)
    await scene.draw(client=client_of(scene, Leaky))
    await until(scene, lambda: len(scene.sandbox.calls("conversations.replies")) == 2)
    first, second = (one["at"] for one in scene.sandbox.calls("conversations.replies"))
    assert second - first >= 9


@pytest.mark.parametrize("ahead", [7200, -7200])
@pytest.mark.parametrize("key", ["status", CARD])
async def test_a_lost_post_is_found_whatever_slacks_clock_says(
    scene: Scene, ahead: int, key: str
) -> None:
    await scene.sandbox.faults.now(clock_ahead=ahead)
    run_id = await scene.begin(waiting())
    scene.sandbox.faults.add(method="chat.postMessage", drop_after_commit=True, contains=f'"{key}"')
    await scene.draw()
    await scene.until_drawn(run_id, step=0.5)
    assert times_shown(scene, run_id) == {"status": 1, CARD: 1}


async def test_a_clock_that_is_set_back_keeps_no_card_waiting(scene: Scene) -> None:
    run_id = await scene.begin(begun())
    await scene.draw()
    await scene.until_drawn(run_id)
    scene.sandbox.faults.add(method="chat.postMessage", status=500, contains=CARD)
    await scene.go_on(run_id, waiting())
    await eventually(lambda: len(scene.sandbox.calls("chat.postMessage")) == 2)
    await scene.settled()
    set_back_at = scene.clock.seconds() - 3600
    scene.clock.advance(-3600)
    await scene.store.threads.try_now(run_id)
    await scene.until_drawn(run_id, step=1.0)
    assert CARD in scene.messages(run_id)
    assert scene.clock.seconds() - set_back_at < 60


async def test_a_clock_that_is_set_back_keeps_no_edit_waiting(scene: Scene) -> None:
    run_id = await scene.begin(begun())
    drawer = await scene.draw()
    shown = await scene.until_drawn(run_id)
    await drawer.stop()
    await scene.go_on(run_id, waiting())
    lease = await scene.claim(run_id)
    address = Address(CHANNEL, shown["status"][0]["ts"])
    later = scene.clock.now() + timedelta(hours=1)
    row = ThreadMessage("status", "editing", str(address), "", later)
    await scene.store.threads.save(lease, row)
    await scene.store.thread_leases.defer(lease, until=scene.clock.now())
    began_at = scene.clock.seconds()
    await scene.draw("bot-2")
    await scene.until_drawn(run_id, step=1.0)
    assert scene.clock.seconds() - began_at < 60
