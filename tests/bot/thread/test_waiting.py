"""Whom a run waits for is read in the thread at once, and for good."""

from __future__ import annotations

import json

import pytest

from agent.rules.events import RunFinished
from bot.slack.thread.desired import Priority, desired
from tests.agent.rules.histories import (
    History,
    approved,
    asked,
    begun,
    call_started,
    denied,
    judged,
    replied,
    returned,
    waiting,
)
from tests.bot.cards.waits import expired, held, patient
from tests.bot.thread.scene import Scene, eventually

FOR_WHOM = "waiting for any 1 of <!subteam^S0FINANCE>"


async def test_who_is_waited_for_when_it_is_first_posted_is_named_without_being_rung(
    scene: Scene,
) -> None:
    run_id = await scene.begin(waiting())
    await scene.draw()
    shown = await scene.until_drawn(run_id)
    assert FOR_WHOM in json.dumps(shown["status"][0]["blocks"])
    first, *others = scene.sandbox.calls("chat.postMessage")
    assert "subteam" not in json.dumps(first["arguments"])
    assert "subteam" in json.dumps(others[0]["arguments"])
    assert len(scene.sandbox.calls("chat.update")) == 1
    assert await scene.differs(run_id) == []


async def test_on_a_quiet_day_it_waits_for_no_progress_to_be_shown(scene: Scene) -> None:
    history = begun()
    run_id = await scene.begin(history)
    await scene.draw()
    await scene.until_drawn(run_id)
    for number in range(1, 4):
        history = history.then(replied(number)).then(judged(number, "allow"))
        history = history.then(call_started(number, history.now)).then(returned(number))
        await scene.go_on(run_id, history)
        await scene.settled()
    shown = len(scene.sandbox.calls("chat.update"))
    assert not await scene.is_drawn(run_id) or shown == 2, "progress has used up its share"

    history = history.then(replied(4)).then(judged(4, "ask")).then(asked(4))
    await scene.go_on(run_id, history)
    await eventually(lambda: FOR_WHOM in json.dumps(scene.messages(run_id)["status"][0]["blocks"]))


@pytest.mark.parametrize(
    ("history", "priority"),
    [
        (begun(), Priority.STATUS),
        (begun().then(replied(1)).then(judged(1, "allow")), Priority.STATUS),
        (waiting(), Priority.WAITING),
        (expired(patient()), Priority.WAITING),
        (held(begun()), Priority.WAITING),
        # It may still be said to wait.
        (waiting().then(approved(1)), Priority.WAITING),
        (waiting().then(denied(1)), Priority.WAITING),
        (waiting().then(denied(1)).then(replied(2)), Priority.STATUS),
        (begun().then(RunFinished(answer="hi")), Priority.ANSWER),
    ],
)
def test_what_somebody_has_to_act_on_goes_before_mere_progress(
    history: History, priority: Priority
) -> None:
    assert desired(history.state)[0].priority == priority


def test_that_it_can_not_go_on_is_no_mere_progress() -> None:
    blocked = {"message": "There is no tool.", "fix": "Put it back."}
    assert desired(begun().state, blocked)[0].priority == Priority.WAITING
