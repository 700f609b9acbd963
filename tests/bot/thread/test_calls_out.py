"""Reminders and escalations ring once, and whatever is lost of them costs nothing afterwards."""

from __future__ import annotations

from tests.agent.rules.happenings import reminded
from tests.agent.rules.histories import approved, waiting
from tests.bot.thread.scene import Scene, eventually

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
    assert (await scene.store.threads.known(run_id)).messages[REMINDER].digest


async def test_a_reminder_that_is_doubted_is_let_be(scene: Scene) -> None:
    run_id = await scene.begin(REMINDED)
    await scene.draw()
    before = (await scene.until_drawn(run_id))[REMINDER]
    await scene.store.threads.doubt(run_id, REMINDER)
    await scene.settled()
    assert scene.messages(run_id)[REMINDER] == before


async def test_a_reminder_that_was_never_posted_and_is_past_is_looked_for_once(
    scene: Scene,
) -> None:
    run_id = await scene.begin(REMINDED)
    scene.sandbox.faults.add(
        status=500, method="chat.postMessage", contains="reminder:", times=1000
    )
    await scene.draw()
    await eventually(lambda: scene.sandbox.calls("chat.postMessage")[2:])
    await scene.settled()
    await scene.go_on(run_id, REMINDED.then(approved(1)))
    await scene.until_drawn(run_id, step=1)
    reads = len(scene.sandbox.calls("conversations.replies"))
    await scene.store.threads.doubt(run_id, "status")
    await scene.until_drawn(run_id, step=1)
    await scene.settled()
    assert len(scene.sandbox.calls("conversations.replies")) == reads
    assert REMINDER not in (await scene.store.threads.known(run_id)).messages
