"""What Slack allows is divided: approval cards first, status edits last."""

from __future__ import annotations

from bot.slack.limiter import UPDATES_PER_MINUTE, Limiter
from bot.slack.thread.desired import Priority


class Time:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_edits_stay_within_their_budget() -> None:
    time = Time()
    limiter, made = Limiter(time), 0
    for _ in range(600):
        made += limiter.take_update(Priority.APPROVAL) == 0
        time.now += 0.5
    assert made <= 5 * UPDATES_PER_MINUTE + 12


def test_the_wait_that_is_told_suffices() -> None:
    time = Time()
    limiter = Limiter(time)
    while (wait := limiter.take_update(Priority.STATUS)) == 0:
        pass
    time.now += wait + 0.001
    assert limiter.take_update(Priority.STATUS) == 0


def test_what_is_left_is_kept_for_approval_cards_then_answers() -> None:
    limiter = Limiter(Time())
    while limiter.take_update(Priority.STATUS) == 0:
        pass
    assert limiter.take_update(Priority.ANSWER) == 0
    while limiter.take_update(Priority.ANSWER) == 0:
        pass
    assert limiter.take_update(Priority.APPROVAL) == 0


def test_posts_are_counted_for_each_channel() -> None:
    limiter = Limiter(Time())
    while limiter.take_post("C1", Priority.APPROVAL) == 0:
        pass
    assert limiter.take_post("C2", Priority.APPROVAL) == 0


def test_a_rate_limit_holds_everything_for_its_time() -> None:
    time = Time()
    limiter = Limiter(time)
    limiter.hold(3)
    limiter.hold(1)
    assert limiter.held == 3
    assert limiter.take_update(Priority.APPROVAL) == 3
    assert limiter.take_post("C1", Priority.APPROVAL) == 3
    time.now += 3
    assert limiter.held == 0
    assert limiter.take_post("C1", Priority.APPROVAL) == 0
