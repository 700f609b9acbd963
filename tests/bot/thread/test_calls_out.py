"""Reminders and escalations ring once, and whatever is lost of them costs nothing afterwards."""

from __future__ import annotations

from tests.agent.rules.happenings import reminded
from tests.agent.rules.histories import waiting
from tests.bot.thread.scene import Scene

REMINDER = "reminder:apr_1:1"
REMINDED = waiting().then(reminded(1))


async def test_a_reminder_of_which_no_row_is_left_is_found_and_let_be(scene: Scene) -> None:
    run_id = await scene.begin(REMINDED)
    await scene.draw()
    before = (await scene.until_drawn(run_id))[REMINDER]
    scene.lose_messages(run_id, REMINDER)
    await scene.store.threads.doubt(run_id, "status")
    await scene.settled()
    assert scene.messages(run_id)[REMINDER] == before
    assert (await scene.store.threads.messages(run_id))[REMINDER].digest


async def test_a_reminder_that_is_doubted_is_let_be(scene: Scene) -> None:
    run_id = await scene.begin(REMINDED)
    await scene.draw()
    before = (await scene.until_drawn(run_id))[REMINDER]
    await scene.store.threads.doubt(run_id, REMINDER)
    await scene.settled()
    assert scene.messages(run_id)[REMINDER] == before
