"""What a holder believes of its own lease."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from agent.engine.guard import LeaseGuard
from agent.ports import Lease
from agent.rules.ids import RunId

LEASE = Lease(RunId("run_1"), "p", 1, datetime(2026, 11, 29, tzinfo=UTC))
TERM = timedelta(seconds=30)


class Timer:
    """A monotonic timer, by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_an_effect_is_begun_only_with_a_third_of_the_term_left() -> None:
    timer = Timer()
    guard = LeaseGuard(LEASE, TERM, monotonic=timer)
    for after, may_start, is_over in (
        (20.0, True, False),
        (20.1, False, False),
        (30.0, False, True),
    ):
        timer.now = 100.0 + after
        assert (guard.may_start, guard.is_over) == (may_start, is_over), after


def test_a_renewal_counts_from_when_it_was_asked_for() -> None:
    timer = Timer()
    guard = LeaseGuard(LEASE, TERM, monotonic=timer)
    timer.now = 125.0
    guard.renew(LEASE, asked_at=104.0)
    assert guard.may_start is False
    timer.now = 133.9
    assert guard.is_over is False
    timer.now = 134.0
    assert guard.is_over


async def test_whoever_waits_for_a_renewal_hears_of_the_loss_too() -> None:
    guard = LeaseGuard(LEASE, TERM)
    waiting = asyncio.create_task(guard.renewed())
    await asyncio.sleep(0)
    guard.lose()
    await waiting
    assert guard.may_start is False
    assert guard.is_over
