"""What Slack allows is divided among all processes: approval cards first, status edits last."""

from __future__ import annotations

import pytest

from bot.slack.limiter import (
    Action,
    Limiter,
    appending,
    editing,
    posting,
    reading,
    saying_status,
    starting_stream,
    stopping_stream,
    suggesting,
)
from bot.slack.thread.desired import Priority
from tests.bot.thread.scene import TEAM, Scene

EDIT = editing(TEAM)


def limiter_of(scene: Scene) -> Limiter:
    return Limiter(scene.store.allowances, scene.clock.seconds)


async def take_all(limiter: Limiter, action: Action, priority: Priority) -> int:
    taken = 0
    while not await limiter.take(action, priority):
        taken += 1
    return taken


async def test_edits_of_all_processes_stay_within_fifty_a_minute(scene: Scene) -> None:
    limiters = [
        limiter_of(scene),
        Limiter((await scene.second_store()).allowances, scene.clock.seconds),
    ]
    made: list[float] = []
    for _ in range(240):
        for limiter in limiters:
            if not await limiter.take(EDIT, Priority.APPROVAL):
                made.append(scene.clock.seconds())
        scene.clock.advance(0.5)
    assert len(made) >= 80
    assert max(sum(1 for one in made if first <= one < first + 60) for first in made) <= 50


async def test_the_wait_that_is_told_suffices_for_whoever_was_first(scene: Scene) -> None:
    limiter = limiter_of(scene)
    while not (wait := await limiter.take(EDIT, Priority.STATUS)):
        pass
    scene.clock.advance(wait + 0.001)
    assert await limiter.take(EDIT, Priority.STATUS) == 0


async def test_those_who_wait_are_told_different_times_but_none_too_late(scene: Scene) -> None:
    limiter = limiter_of(scene)
    await take_all(limiter, EDIT, Priority.STATUS)
    waits = [await limiter.take(EDIT, Priority.STATUS) for _ in range(30)]
    assert len(set(waits[:8])) == 8
    assert waits[:8] == sorted(waits[:8])
    assert max(waits) == 20


async def test_what_is_left_is_kept_for_approval_cards_then_answers_then_whom_it_waits_for(
    scene: Scene,
) -> None:
    limiter = limiter_of(scene)
    took = [await take_all(limiter, EDIT, one) for one in reversed(Priority)]
    assert took == [2, 4, 4, 2]


async def test_posts_are_counted_for_each_channel_and_for_the_workspace(scene: Scene) -> None:
    limiter = limiter_of(scene)
    took = [
        await take_all(limiter, posting(TEAM, f"C{number}"), Priority.APPROVAL)
        for number in range(20)
    ]
    assert took == [5] * 6 + [0] * 14
    scene.clock.advance(60)
    assert await take_all(limiter, posting(TEAM, "C1"), Priority.APPROVAL) == 5


async def test_too_much_of_one_method_holds_it_for_all_processes_and_nothing_else(
    scene: Scene,
) -> None:
    limiter = limiter_of(scene)
    other = Limiter((await scene.second_store()).allowances, scene.clock.seconds)
    await limiter.withhold(EDIT, 3)
    await limiter.withhold(EDIT, 1)
    assert await other.take(EDIT, Priority.APPROVAL) == 3
    assert await limiter.take(EDIT, Priority.APPROVAL) == 3
    assert await other.take(posting(TEAM, "C1"), Priority.APPROVAL) == 0
    assert await other.take(reading(TEAM, is_thread=True), Priority.APPROVAL) == 0
    assert not other.held
    scene.clock.advance(3)
    assert await other.take(EDIT, Priority.APPROVAL) == 0


async def test_without_access_this_process_asks_nothing(scene: Scene) -> None:
    limiter = limiter_of(scene)
    limiter.hold(30)
    limiter.hold(5)
    assert limiter.held == 30
    assert await limiter.take(posting(TEAM, "C1"), Priority.APPROVAL) == 30
    scene.clock.advance(30)
    assert await limiter.take(posting(TEAM, "C1"), Priority.APPROVAL) == 0


@pytest.mark.parametrize(
    ("action", "a_minute"),
    [
        (starting_stream(TEAM), 20),
        (stopping_stream(TEAM), 20),
        (appending(TEAM), 100),
        (saying_status(TEAM), 50),
        (suggesting(TEAM), 100),
    ],
    ids=lambda one: one.keys[0] if isinstance(one, Action) else str(one),
)
def test_what_slack_has_beside_messages_is_called_no_more_often_than_it_says(
    action: Action, a_minute: int
) -> None:
    (rate,) = action.rates
    most = rate.burst + 60 / rate.every.total_seconds()
    assert a_minute * 0.9 < most <= a_minute
    assert all(reserve < rate.burst for reserve in action.reserves[0])
