"""A message is found, or known not to be there, however much else was said in its channel."""

from __future__ import annotations

import pytest

from agent.rules.ids import RunId
from tests.agent.rules.histories import approved, waiting
from tests.bot.thread.scene import CHANNEL, Scene, eventually

#: More than what Slack allows at once to be read.
MANY = 2_200


def talk(scene: Scene) -> None:
    inside = scene.sandbox.inside
    alice, channel = inside.workspace.users["U0ALICE"], inside.workspace.channel(CHANNEL)
    for number in range(MANY):
        inside.posting.say(alice, channel, f"talk {number}", [], None)


async def is_drawn_soon(scene: Scene, run_id: RunId) -> None:
    began_at = scene.clock.seconds()
    await scene.until_drawn(run_id, step=0.5)
    assert scene.clock.seconds() - began_at < 60


@pytest.mark.parametrize("is_done", [True, False], ids=["posted", "not posted"])
async def test_a_post_that_was_lost_is_looked_for_in_a_busy_channel(
    scene: Scene, is_done: bool
) -> None:
    run_id = await scene.begin(waiting())
    if is_done:
        scene.sandbox.faults.add(method="chat.postMessage", drop_after_commit=True)
    else:
        scene.sandbox.faults.add(method="chat.postMessage", status=500)
    await scene.draw()
    await eventually(lambda: scene.sandbox.calls("chat.postMessage"))
    talk(scene)
    await is_drawn_soon(scene, run_id)
    assert {key: len(found) for key, found in scene.messages(run_id).items()} == {
        "status": 1,
        "approval:apr_1": 1,
    }


async def test_what_was_said_long_after_a_lost_post_is_not_read(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    scene.sandbox.faults.add(method="chat.postMessage", status=500)
    drawer = await scene.draw()
    await eventually(lambda: scene.sandbox.calls("chat.postMessage"))
    await scene.settled()
    await drawer.stop()
    scene.clock.advance(3600)
    talk(scene)
    await scene.draw("bot-2")
    await scene.until_drawn(run_id, step=0.1)
    assert len(scene.sandbox.calls("conversations.history")) <= 3


async def test_a_message_without_a_row_is_found_in_a_busy_channel(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    await scene.draw()
    before = await scene.until_drawn(run_id)
    talk(scene)
    scene.lose_messages(run_id, "status")
    await scene.go_on(run_id, waiting().then(approved(1)))
    await is_drawn_soon(scene, run_id)
    assert [one["ts"] for one in scene.messages(run_id)["status"]] == [before["status"][0]["ts"]]
