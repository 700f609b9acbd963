"""Whoever asked for a run is rung when it ends after people were waited for, and only then."""

from __future__ import annotations

import pytest

from agent.rules.events import RunFinished
from tests.agent.rules.histories import History, approved, begun, returned, waiting
from tests.agent.rules.histories import call_started as started
from tests.bot.thread.cards_elsewhere import posts, put
from tests.bot.thread.scene import CHANNEL, Scene

ALICE = "<@U0ALICE>"


def done(history: History) -> History:
    history = history.then(approved(1))
    history = history.then(started(1, history.now)).then(returned(1))
    return history.then(RunFinished(answer="Refunded."))


@pytest.mark.parametrize(
    ("history", "rings"),
    [
        (done(waiting()), True),
        (done(put("C0OPS")), True),
        (done(put("thread", "none")), False),
        (begun().then(RunFinished(answer="Refunded.")), False),
    ],
)
async def test_who_asked_is_mentioned_once(scene: Scene, history: History, rings: bool) -> None:
    run_id = await scene.begin(history)
    await scene.draw()
    shown = await scene.until_drawn(run_id, step=0.2)
    last = next(one for one in posts(scene, CHANNEL) if "Refunded." in one)
    assert (ALICE in last) is rings
    assert len(shown["answer"]) == 1


async def test_in_a_direct_message_nobody_has_to_be_mentioned(scene: Scene) -> None:
    run_id = await scene.begin(done(waiting()), place="slack:T0PILOT/D0ALICE/")
    await scene.draw()
    await scene.until_drawn(run_id, step=0.2)
    last = next(one for one in posts(scene, "D0ALICE") if "Refunded." in one)
    assert ALICE not in last
