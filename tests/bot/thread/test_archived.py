"""A thread whose channel was archived: nothing there can be edited or posted until it is taken out."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from tests.agent.rules.histories import TWO_OF_FINANCE, denied, waiting
from tests.bot.cards.stories import yes
from tests.bot.thread.scene import CHANNEL, Scene, eventually
from tests.bot.thread.test_drawing import buttons, finished

CARD = "approval:apr_1"


@pytest.mark.parametrize("code", ["is_archived", "is_inactive"])
async def test_out_of_the_archive_a_decided_card_loses_its_buttons(scene: Scene, code: str) -> None:
    run_id = await scene.begin(waiting())
    await scene.draw()
    before = (await scene.until_drawn(run_id))[CARD]
    scene.sandbox.faults.add(error=code, method="chat.update", times=1_000)
    await scene.go_on(run_id, waiting().then(denied(1)))
    await eventually(lambda: scene.refused("chat.update"))
    await scene.settled()
    assert scene.messages(run_id)[CARD] == before
    assert not await scene.is_drawn(run_id)
    scene.sandbox.faults.heal()
    shown = await scene.until_drawn(run_id, step=1)
    assert buttons(shown[CARD][0]) == []
    assert await scene.differs(run_id) == []


async def test_a_run_that_ended_in_an_archive_for_good_is_let_be_after_a_day(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    await scene.draw()
    before = (await scene.until_drawn(run_id))[CARD]
    scene.sandbox.inside.membership.archive(scene.sandbox.inside.workspace.channel(CHANNEL))
    await scene.go_on(run_id, finished())
    await eventually(lambda: scene.refused("chat.update"))
    await scene.settled()
    scene.clock.advance(timedelta(days=1, minutes=10).total_seconds())
    assert (await scene.until_drawn(run_id, step=1))[CARD] == before


async def test_an_open_card_in_an_archived_channel_is_not_posted_a_second_time(
    scene: Scene,
) -> None:
    run_id = await scene.begin(waiting(TWO_OF_FINANCE))
    await scene.draw()
    ((card,), posts) = (
        (await scene.until_drawn(run_id))[CARD],
        scene.sandbox.calls("chat.postMessage"),
    )
    scene.sandbox.faults.add(error="is_archived", method="chat.update", contains=card["ts"])
    await scene.go_on(run_id, waiting(TWO_OF_FINANCE).then(yes()))

    async def is_drawn() -> bool:
        scene.clock.advance(0.5)
        return await scene.is_drawn(run_id)

    await eventually(is_drawn)
    shown = scene.messages(run_id)
    assert "1 of 2: approved by <@U0BOB>" in json.dumps(shown[CARD], ensure_ascii=False)
    assert [one["ts"] for one in shown[CARD]] == [card["ts"]]
    assert scene.sandbox.calls("chat.postMessage") == posts
