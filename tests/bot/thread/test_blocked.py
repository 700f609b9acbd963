"""A run that nobody takes on says so in its thread, and no longer than that."""

from __future__ import annotations

import json

from tests.agent.rules.histories import begun, judged, replied, waiting
from tests.bot.thread.scene import Scene, eventually

WHY = {"code": "missing_agent", "message": "The agent is gone.", "fix": "Put it back."}


async def test_it_is_looked_at_again_though_nothing_happens_to_it(scene: Scene) -> None:
    run_id = await scene.begin(begun())
    await scene.draw()
    shown = await scene.until_drawn(run_id)
    assert "gone" not in json.dumps(shown["status"])
    scene.blocked[run_id] = WHY

    async def is_said() -> bool:
        scene.clock.advance(1)
        return "The agent is gone. Put it back." in json.dumps(scene.messages(run_id)["status"])

    await eventually(is_said)
    del scene.blocked[run_id]
    await scene.go_on(run_id, begun().then(replied(1)).then(judged(1)))
    shown = await scene.until_drawn(run_id, step=0.5)
    assert "gone" not in json.dumps(shown["status"])


async def test_a_run_that_waits_for_people_is_not_looked_at_again(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    await scene.draw()
    await scene.until_drawn(run_id)
    before = len(scene.sandbox.calls())
    scene.blocked[run_id] = WHY
    for _ in range(50):
        scene.clock.advance(1)
        scene.wake()
        await eventually(lambda: scene.is_drawn(run_id))
    assert len(scene.sandbox.calls()) == before
