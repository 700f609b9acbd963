"""A card that people are waited for at, and that somebody has deleted: nothing tells of that."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent import Agent, Policy, Runtime, ScriptedModel, Toolbox
from agent.rules.ids import RunId
from bot.slack.thread.keys import STATUS_KEY
from tests.agent.rules.happenings import reminded
from tests.agent.rules.histories import approved, waiting
from tests.bot.cards.waits import expired, patient
from tests.bot.thread.scene import CHANNEL, Scene, eventually
from tests.bot.thread.test_drawing import CARD

REMINDER = "reminder:apr_1:1"
REMINDED = waiting().then(reminded(1))
WEEK = timedelta(days=7).total_seconds()


async def with_its_card_deleted(scene: Scene) -> RunId:
    run_id = await scene.begin(waiting())
    await scene.draw()
    (card,) = (await scene.until_drawn(run_id))[CARD]
    await scene.settled()
    channel = scene.sandbox.inside.workspace.channel(CHANNEL)
    scene.sandbox.inside.posting.delete(channel, card["ts"])
    return run_id


async def test_it_is_there_again_before_anybody_is_reminded_of_it(scene: Scene) -> None:
    run_id = await with_its_card_deleted(scene)
    scene.clock.advance(120)
    await scene.go_on(run_id, REMINDED)
    shown = await scene.until_drawn(run_id)
    (card,), (reminder,) = shown[CARD], shown[REMINDER]
    assert card["ts"] < reminder["ts"]


async def test_nobody_is_reminded_before_it_is_known_that_it_stands(scene: Scene) -> None:
    run_id = await with_its_card_deleted(scene)
    scene.clock.advance(120)
    scene.sandbox.faults.add(method="chat.update", status=503, times=1000)
    await scene.go_on(run_id, REMINDED)
    await scene.settled()
    assert REMINDER not in scene.messages(run_id)
    scene.sandbox.faults.heal()
    shown = await scene.until_drawn(run_id, step=1)
    assert len(shown[CARD]) == len(shown[REMINDER]) == 1


async def test_it_is_there_again_when_somebody_resumes_the_run(scene: Scene) -> None:
    run_id = await with_its_card_deleted(scene)
    scene.clock.advance(1)
    agent = Agent("refunds", ScriptedModel([]), Toolbox([]), Policy())
    await Runtime([agent], scene.store).resume(run_id)
    await scene.settled()
    assert len(scene.messages(run_id)[CARD]) == 1


async def test_it_is_there_again_before_long_whatever_happens(scene: Scene) -> None:
    run_id = await with_its_card_deleted(scene)
    scene.clock.advance(301)
    scene.wake()
    await scene.settled()
    assert len(scene.messages(run_id)[CARD]) == 1


async def test_a_card_that_waits_for_a_week_is_looked_at_a_dozen_times(scene: Scene) -> None:
    run_id = await scene.begin(waiting())
    await scene.draw()
    (before,) = (await scene.until_drawn(run_id))[CARD]
    await scene.settled()
    edits = len(scene.sandbox.calls("chat.update"))
    until = scene.clock.seconds() + WEEK
    while scene.clock.seconds() < until:
        scene.clock.advance(3 * 3600)
        scene.wake()
        await scene.settled()
    assert 5 <= len(scene.sandbox.calls("chat.update")) - edits <= 12
    assert scene.messages(run_id)[CARD][0]["ts"] == before["ts"]


async def test_what_was_decided_is_looked_at_no_more(scene: Scene) -> None:
    run_id = await with_its_card_deleted(scene)
    await scene.go_on(run_id, waiting().then(approved(1)))
    await scene.until_drawn(run_id)
    calls = len(scene.sandbox.calls())
    for _ in range(10):
        scene.clock.advance(WEEK / 10)
        scene.wake()
        await scene.settled()
    assert len(scene.sandbox.calls()) == calls
    assert CARD not in scene.messages(run_id)


async def test_it_is_there_again_also_where_somebody_was_just_drawing_when_it_was_asked_for(
    scene: Scene,
) -> None:
    run_id = await scene.begin(waiting())
    await scene.draw()
    (card,) = (await scene.until_drawn(run_id))[CARD]
    await scene.settled()
    scene.clock.advance(120)
    scene.sandbox.faults.add(method="chat.update", latency=0.5, times=1)
    edits = len(scene.sandbox.calls("chat.update"))
    await scene.store.threads.doubt(run_id, STATUS_KEY)
    await eventually(lambda: len(scene.sandbox.calls("chat.update")) > edits)
    channel = scene.sandbox.inside.workspace.channel(CHANNEL)
    scene.sandbox.inside.posting.delete(channel, card["ts"])
    scene.clock.advance(1)
    await scene.store.threads.try_now(run_id)
    await scene.settled()
    assert len(scene.messages(run_id)[CARD]) == 1


async def test_it_is_there_again_also_where_nobody_decided_in_time(scene: Scene) -> None:
    run_id = await scene.begin(patient())
    await scene.draw()
    await scene.until_drawn(run_id)
    await scene.settled()
    scene.clock.advance(25 * 3600)
    await scene.go_on(run_id, expired(patient()))
    (card,) = (await scene.until_drawn(run_id, step=1))[CARD]
    assert "ask_again" in str(card)
    await scene.settled()
    channel = scene.sandbox.inside.workspace.channel(CHANNEL)
    scene.sandbox.inside.posting.delete(channel, card["ts"])
    scene.clock.advance(120)
    await scene.store.threads.try_now(run_id)
    await scene.settled()
    assert len(scene.messages(run_id)[CARD]) == 1


@pytest.mark.parametrize("is_asked_for", [True, False])
async def test_it_is_there_again_though_the_clock_was_set_back(
    scene: Scene, is_asked_for: bool
) -> None:
    run_id = await with_its_card_deleted(scene)
    scene.clock.advance(-3600)
    if is_asked_for:
        await scene.store.threads.try_now(run_id)
    else:
        await scene.go_on(run_id, REMINDED)

    def is_there() -> bool:
        scene.pass_time(0.5)
        return CARD in scene.messages(run_id)

    await eventually(is_there)
    (card,) = scene.messages(run_id)[CARD]
    if not is_asked_for:
        (reminder,) = (await scene.until_drawn(run_id, step=1))[REMINDER]
        assert card["ts"] < reminder["ts"]
