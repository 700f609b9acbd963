"""What Slack refuses until somebody does something about it costs the other threads nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agent.rules.ids import RunId
from bot.slack.limiter import Limiter
from bot.slack.thread.edge import SlackRefused
from bot.slack.thread.refusals import Refusals, Target
from bot.slack.thread.setbacks import Setbacks
from tests.agent.rules.histories import approved, begun, waiting
from tests.bot.thread.scene import CHANNEL, TEAM, Scene, eventually
from tests.bot.thread.test_drawing import CARD, finished
from tests.bot.thread.test_undeliverable import below_a_deleted_message

ELSEWHERE = f"slack:{TEAM}/C0OPS/"


async def leave(scene: Scene, code: str, runs: int) -> list[RunId]:
    """Runs whose end can't be shown any more."""
    shown = [await scene.begin(waiting()) for _ in range(runs)]
    for run_id in shown:
        await scene.until_drawn(run_id, step=0.5)
    # As many edits as can be made at once.
    await scene.settled()
    scene.clock.advance(20)
    scene.sandbox.faults.add(error=code, method="*", times=1_000_000, contains=CHANNEL)
    for run_id in shown:
        await scene.go_on(run_id, finished())
    return shown


async def pass_by(scene: Scene, seconds: int) -> None:
    """The drawers look every few seconds."""
    for _ in range(0, seconds, 10):
        scene.clock.advance(10)
        scene.wake()
        await scene.settled()


@pytest.mark.parametrize("code", ["not_in_channel", "cant_broadcast_message"])
async def test_what_is_refused_is_let_alone_whatever_else_its_thread_waits_for(
    scene: Scene, code: str
) -> None:
    await scene.draw()
    await leave(scene, code, 4)
    await pass_by(scene, 200)
    before = len(scene.sandbox.calls("chat.update"))
    await pass_by(scene, 100)
    assert len(scene.sandbox.calls("chat.update")) - before <= 12


async def test_something_new_is_tried_at_once_in_a_thread_that_was_refused_for_itself(
    scene: Scene,
) -> None:
    await scene.draw()
    run_id = await refused(scene, "cant_broadcast_message")
    scene.sandbox.faults.heal()
    await scene.go_on(run_id, finished())
    await scene.until_drawn(run_id)
    assert await scene.differs(run_id) == []


async def test_of_a_channel_that_was_left_nothing_new_is_tried_before_its_time(
    scene: Scene,
) -> None:
    """However much goes on in it: one try in a while tells of all its threads."""
    await scene.draw()
    run_id = await refused(scene, "not_in_channel")
    calls = len(scene.sandbox.calls())
    await scene.go_on(run_id, finished())
    await scene.settled()
    assert len(scene.sandbox.calls()) == calls


async def refused(scene: Scene, code: str) -> RunId:
    """A thread that is let alone for a while yet."""
    run_id = await scene.begin(waiting())
    await scene.until_drawn(run_id)
    scene.sandbox.faults.add(error=code, method="*", times=1_000_000, contains=CHANNEL)
    await scene.go_on(run_id, waiting().then(approved(1)))
    await eventually(lambda: scene.refused("chat.update"))
    await pass_by(scene, 60)
    return run_id


async def test_of_setbacks_only_the_newest_are_kept(scene: Scene) -> None:
    """Other processes may have drawn those threads since."""
    setbacks = Setbacks(Limiter(scene.store.allowances, scene.clock.seconds))
    assert setbacks.again(RunId("run_0"), "Slack is away") == 1
    assert setbacks.again(RunId("run_0"), "Slack is away") == 2
    for number in range(1, 10_001):
        setbacks.again(RunId(f"run_{number}"), "Slack is away")
    assert setbacks.again(RunId("run_0"), "Slack is away") == 1
    assert setbacks.again(RunId("run_10000"), "Slack is away") == 2


async def test_a_live_thread_is_edited_at_once_beside_a_channel_that_was_left(scene: Scene) -> None:
    await scene.draw()
    await leave(scene, "not_in_channel", 8)
    await pass_by(scene, 100)
    alive = await scene.begin(waiting(), place=ELSEWHERE)
    await scene.until_drawn(alive, step=0.2)
    changed_at = scene.clock.seconds()
    await scene.go_on(alive, waiting().then(approved(1)))
    await scene.until_drawn(alive, step=0.2)
    assert "Approved" in str(scene.messages(alive)[CARD])
    assert scene.clock.seconds() - changed_at < 10


async def test_back_in_the_channel_everything_is_drawn_soon(scene: Scene) -> None:
    await scene.draw()
    runs = await leave(scene, "not_in_channel", 3)
    await pass_by(scene, 100)
    scene.sandbox.faults.heal()
    came_back_at = scene.clock.seconds()
    for run_id in runs:
        await scene.until_drawn(run_id, step=1)
    assert [await scene.differs(run_id) for run_id in runs] == [[], [], []]
    assert scene.clock.seconds() - came_back_at < 90


async def test_what_somebody_asks_for_is_tried_at_once_by_whoever_takes_it_up(scene: Scene) -> None:
    first = await scene.draw("bot-1")
    known_to_second, asked_for = await leave(scene, "not_in_channel", 2)
    await scene.settled()
    await first.stop()
    await scene.draw("bot-2", await scene.second_store())
    refused = len(scene.sandbox.calls("chat.update"))
    await scene.store.threads.try_now(known_to_second)
    await eventually(lambda: len(scene.sandbox.calls("chat.update")) > refused)
    await scene.settled()
    scene.sandbox.faults.heal()
    await scene.store.threads.try_now(asked_for)
    # No time passes.
    await scene.until_drawn(asked_for)


async def test_what_was_asked_for_once_is_let_alone_again_when_it_is_refused_again(
    scene: Scene,
) -> None:
    await scene.draw()
    runs = await leave(scene, "not_in_channel", 2)
    await pass_by(scene, 40)
    for run_id in runs:
        await scene.store.threads.try_now(run_id)
    await pass_by(scene, 20)
    before = len(scene.sandbox.calls("chat.update"))
    await pass_by(scene, 60)
    assert len(scene.sandbox.calls("chat.update")) - before <= 8


async def test_what_is_drawn_waits_for_nothing_in_a_channel_that_was_left(scene: Scene) -> None:
    await scene.draw()
    drawn = await scene.begin(waiting())
    await scene.until_drawn(drawn)
    await leave(scene, "not_in_channel", 1)
    await eventually(lambda: scene.refused("chat.update"))
    await scene.store.threads.try_now(drawn)
    await scene.until_drawn(drawn)


async def test_a_thread_that_was_given_up_is_drawn_no_more(scene: Scene) -> None:
    await scene.draw()
    (run_id,) = await leave(scene, "not_in_channel", 1)
    await eventually(lambda: scene.refused("chat.update"))
    await scene.settled()
    scene.clock.advance(timedelta(days=1, minutes=10).total_seconds())
    await scene.until_drawn(run_id, step=1)
    await scene.settled()
    calls = len(scene.sandbox.calls())
    await pass_by(scene, 60)
    assert len(scene.sandbox.calls()) == calls
    await scene.store.threads.try_now(run_id)
    await scene.settled()
    assert len(scene.sandbox.calls()) == calls


@pytest.mark.parametrize("fault", [{"status": 503}, {"error": "service_unavailable"}])
async def test_after_an_outage_a_card_is_there_soon(scene: Scene, fault: dict[str, Any]) -> None:
    run_id = await scene.begin(begun())
    await scene.draw()
    await scene.until_drawn(run_id)
    scene.sandbox.faults.add(method="*", times=1_000_000, **fault)
    await scene.go_on(run_id, waiting())
    await pass_by(scene, 320)
    scene.sandbox.faults.heal()
    back_at = scene.clock.seconds()
    await scene.until_drawn(run_id, step=1)
    assert len(scene.messages(run_id)[CARD]) == 1
    # Twenty at the most, and time passes by the second.
    assert scene.clock.seconds() - back_at <= 22


async def test_of_a_thread_that_is_gone_one_try_tells_of_all_and_ever_more_rarely(
    scene: Scene,
) -> None:
    for _ in range(3):
        await below_a_deleted_message(scene, waiting())
    await scene.draw()
    await pass_by(scene, 1200)
    before = len(scene.sandbox.calls("chat.postMessage"))
    await pass_by(scene, 3600)
    # Each at the most once in that hour, or twice.
    assert len(scene.sandbox.calls("chat.postMessage")) - before <= 6


def test_a_thread_that_is_gone_in_another_channel_says_nothing_of_what_stands_in_that() -> None:
    refusals = Refusals(lambda: 0.0)
    reminder = Target(RunId("run_1"), "reminder:apr_1:1", "C0OPS", below="approval:apr_1:C0OPS")
    refusals.met(reminder, SlackRefused("thread_not_found"), is_awaited=True)
    assert refusals.of(replace(reminder, key="reminder:apr_1:2")) is not None
    assert refusals.of(Target(RunId("run_1"), "approval:apr_2:C0OPS", "C0OPS")) is None


@pytest.mark.parametrize("is_asked_for", [False, True])
async def test_that_a_living_thread_was_once_asked_for_frees_no_dead_channel(
    scene: Scene, is_asked_for: bool
) -> None:
    await scene.draw()
    living = await scene.begin(begun())
    scene.blocked[living] = {
        "code": "missing_tool",
        "message": "It is gone.",
        "fix": "Put it back.",
    }
    await scene.until_drawn(living, step=0.5)
    if is_asked_for:
        await scene.store.threads.try_now(living)
        await scene.until_drawn(living, step=0.5)
    await leave(scene, "not_in_channel", 8)
    await pass_by(scene, 120)
    before = len(scene.refused("chat.update"))
    await pass_by(scene, 120)
    assert len(scene.refused("chat.update")) - before < 20
