"""Cards elsewhere stand once, whoever dies and whatever is lost."""

from __future__ import annotations

from functools import partial

import pytest

from agent.rules.ids import ApprovalId
from bot.slack.thread.keys import place_key
from tests.agent.rules.histories import (
    approved,
)
from tests.bot.thread.cards_elsewhere import cards, put
from tests.bot.thread.scene import Scene, eventually


@pytest.mark.parametrize("card", ["C0OPS", "dm"])
async def test_whenever_a_drawer_dies_each_card_stands_once(scene: Scene, card: str) -> None:
    """After each of the posts, and each of the answers that were on their way."""
    run_ids = [await scene.begin(put(card)) for _ in range(3)]
    for number in range(6):
        drawer = await scene.draw(f"bot-{number}")
        told = len(scene.sandbox.calls("chat.postMessage"))
        await eventually(partial(_has_posted, scene, told + number % 3), 0.001)
        await scene.ended(drawer)
        scene.bury(f"bot-{number}")
    await scene.draw("last", await scene.second_store())
    await scene.until_all_drawn(run_ids, step=0.5)
    per_channel = {"C0OPS": ["C0OPS"], "dm": ["D0BOB", "D0FRANK"]}[card]
    for channel in per_channel:
        assert len(cards(scene, channel)) == len(run_ids)
    scene.sandbox.assert_no_violations()


def _has_posted(scene: Scene, count: int) -> bool:
    """So often; or there is nothing more to be posted at this time."""
    return len(scene.sandbox.calls("chat.postMessage")) >= count or not scene.is_busy()


async def test_a_lost_answer_posts_no_second_card(scene: Scene) -> None:
    scene.sandbox.faults.add(method="chat.postMessage", contains="C0OPS", drop_after_commit=True)
    run_id = await scene.begin(put("C0OPS"))
    await scene.draw()
    await scene.until_drawn(run_id, step=0.5)
    assert len(cards(scene, "C0OPS")) == 1


async def test_rows_that_are_lost_post_no_second_card(scene: Scene) -> None:
    run_id = await scene.begin(put("C0OPS"))
    drawer = await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    await scene.ended(drawer)
    scene.lose_messages(run_id, place_key(ApprovalId("apr_1"), ""))
    await scene.go_on(run_id, put("C0OPS").then(approved(1)))
    await scene.draw("bot-2")
    await scene.until_drawn(run_id, step=0.5)
    assert len(cards(scene, "C0OPS")) == 1
