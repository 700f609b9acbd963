"""What is known of a thread is lost, or changed by hand: what stands in Slack is found, and not posted twice."""

from __future__ import annotations

import pytest

from agent.ports import ThreadMessage
from tests.agent.rules.histories import approved, waiting
from tests.bot.thread.scene import CHANNEL, Scene, eventually
from tests.bot.thread.test_drawing import CARD, buttons, finished


@pytest.mark.parametrize("lost", ["status", CARD, None])
@pytest.mark.parametrize("in_a_thread", [True, False])
async def test_a_message_of_which_no_row_is_left_is_found_and_not_repeated(
    scene: Scene, lost: str | None, in_a_thread: bool
) -> None:
    thread_ts = None
    if in_a_thread:
        alice = scene.sandbox.inside.workspace.users["U0ALICE"]
        said, _ = scene.sandbox.inside.posting.say(
            alice, scene.sandbox.inside.workspace.channel(CHANNEL), "refund", [], None
        )
        thread_ts = said["ts"]
    run_id = await scene.begin(waiting(), thread_ts=thread_ts)
    await scene.draw()
    before = await scene.until_drawn(run_id)
    scene.lose_messages(run_id, lost)
    await scene.go_on(run_id, finished())
    shown = await scene.until_drawn(run_id)
    assert {key: len(found) for key, found in shown.items()} == {"status": 1, CARD: 1, "answer": 1}
    assert {key: one[0]["ts"] for key, one in shown.items() if key in before} == {
        key: one[0]["ts"] for key, one in before.items()
    }
    assert buttons(shown[CARD][0]) == []
    scene.sandbox.assert_no_violations()


@pytest.mark.parametrize("key", ["status", CARD])
@pytest.mark.parametrize("address", ["nonsense", "", "C0/1/2", "C0SUPPORT/then"])
async def test_a_message_whose_address_can_not_be_read_is_found_and_not_repeated(
    scene: Scene, key: str, address: str
) -> None:
    run_id = await scene.begin(waiting())
    await scene.draw()
    before = await scene.until_drawn(run_id)
    scene.overwrite_address(run_id, key, address)
    await scene.go_on(run_id, finished())
    shown = await scene.until_drawn(run_id, step=0.2)
    assert [one["ts"] for one in shown[key]] == [before[key][0]["ts"]]
    assert await scene.differs(run_id) == []


async def test_a_thread_of_which_nothing_is_left_is_found_and_not_repeated(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    await scene.draw()
    before = await scene.until_drawn(run_id)
    scene.lose_thread(run_id)
    await scene.go_on(run_id, finished())
    assert await scene.store.projections.mend(await scene.state(run_id))
    await eventually(lambda: "answer" in scene.messages(run_id))
    shown = await scene.until_drawn(run_id)
    assert {key: len(found) for key, found in shown.items()} == {"status": 1, CARD: 1, "answer": 1}
    assert shown["status"][0]["ts"] == before["status"][0]["ts"]


async def test_a_message_that_was_lost_and_is_not_there_is_posted_again(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    await scene.draw()
    card = (await scene.until_drawn(run_id))[CARD][0]
    scene.lose_messages(run_id, CARD)
    scene.sandbox.inside.posting.delete(scene.sandbox.inside.workspace.channel(CHANNEL), card["ts"])
    await scene.go_on(run_id, waiting().then(approved(1)))
    shown = await scene.until_drawn(run_id)
    assert [len(shown[key]) for key in ("status", CARD)] == [1, 1]


async def test_a_doubted_message_that_nobody_wants_is_left_as_it_is(scene: Scene) -> None:
    """Another build's, say: it would be looked at again and again."""
    run_id = await scene.begin(finished())
    drawer = await scene.draw()
    await scene.until_drawn(run_id)
    await scene.settled()
    await drawer.stop()
    await scene.store.threads.try_now(run_id)
    lease = await scene.claim(run_id)
    for key, address in (("later", f"{CHANNEL}/1700000000.000100"), ("latest", "nonsense")):
        row = ThreadMessage(key, "editing", address, "", scene.clock.now())
        await scene.store.threads.save(lease, row)
    await scene.store.thread_leases.defer(lease, until=scene.clock.now())
    await scene.draw("bot-2")
    await scene.settled()
    assert await scene.is_drawn(run_id)
