"""An answer that can't arrive in what grows is posted by itself: in the end it stands there once, and whole."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from agent.rules.events import RunFinished
from tests.agent.rules.histories import replied, returned
from tests.bot.thread.scene import Scene
from tests.bot.thread.test_streaming import Talk

#: In several blocks.
ANSWER = f"The beginning. {'It goes on. ' * 300}The end."
ENDED = "message_not_in_streaming_state"


async def at_work(scene: Scene) -> Talk:
    """Its progress grows."""
    talk = await Talk.begin(scene)
    await talk.starts(1)
    await talk.then(returned(1))
    assert talk.growing()
    return talk


async def just_begun(scene: Scene) -> Talk:
    """Nothing grows: the answer itself will."""
    talk = await Talk.begin(scene)
    await talk.drawn()
    return talk


def stands_once(talk: Talk) -> bool:
    words = [str(one["blocks"]) for one in talk.said()[1:]]
    whole = [one for one in words if "The beginning." in one and "The end." in one]
    return len(whole) == 1 and sum(one.count("goes on.") > 0 for one in words) == 1


async def test_where_what_grew_is_gone(scene: Scene) -> None:
    await scene.draw()
    talk = await at_work(scene)
    (grows,) = talk.growing()
    scene.sandbox.inside.posting.delete(
        scene.sandbox.inside.workspace.direct("U0ALICE"), grows["ts"]
    )
    await talk.finishes(ANSWER)
    assert stands_once(talk)


#: What becomes of the tries to end it.
NOT_ENDED: Mapping[str, list[dict[str, Any]]] = {
    "ended by Slack": [{"error": ENDED, "times": 2}],
    "too long": [{"error": "msg_too_long"}],
    "refused": [{"error": "cant_update_message", "times": 1000}],
    "lost, and then away": [{"drop_after_commit": True}, {"error": "internal_error"}],
    "away, and then ended": [{"error": "internal_error", "times": 2}, {"error": ENDED, "times": 2}],
}


@pytest.mark.parametrize("begin", [at_work, just_begun])
async def test_where_it_takes_no_answer_and_nobody_can_edit_it(
    scene: Scene, begin: Callable[[Scene], Awaitable[Talk]]
) -> None:
    await scene.draw()
    once = {}
    for what, faults in NOT_ENDED.items():
        talk = await begin(scene)
        for fault in faults:
            scene.sandbox.faults.add(method="chat.stopStream", **fault)
        scene.sandbox.faults.add(method="chat.update", error="edit_window_closed", times=1000)
        await talk.finishes(ANSWER)
        once[what] = stands_once(talk)
        scene.sandbox.faults.heal()
    assert once == dict.fromkeys(NOT_ENDED, True)


async def test_where_it_can_not_be_ended_the_answer_does_not_wait_for_slack_to_end_it(
    scene: Scene,
) -> None:
    await scene.draw()
    talk = await at_work(scene)
    scene.sandbox.faults.add(method="chat.stopStream", error="internal_error", times=1000)
    await talk.then(replied(text=ANSWER), RunFinished(answer=ANSWER), drawn=False)
    for _ in range(10):
        scene.clock.advance(3)
        scene.wake()
        await scene.settled()
    assert stands_once(talk)
    scene.sandbox.faults.heal()
    await talk.drawn()
    assert talk.growing() == []
    assert stands_once(talk)


async def test_what_is_too_long_to_be_streamed_does_not_wait_either(scene: Scene) -> None:
    await scene.draw()
    talk = await at_work(scene)
    scene.sandbox.faults.add(method="chat.stopStream", error="internal_error", times=1000)
    long = "word " * 3000
    await talk.then(replied(text=long), RunFinished(answer=long), drawn=False)
    await scene.settled()
    assert talk.ours("answer")
