"""What is done a little at a time goes on, whatever the store says."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from agent import chores
from agent.chores import Chore
from agent.errors import StoreUnavailable
from tests.agent.engine.bench import until

FAR = 3_600.0


async def while_it_goes_on(chore: Chore, is_seen: Callable[[], bool]) -> None:
    task = asyncio.create_task(chore.go_on())
    try:
        await until(_later(is_seen))
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_it_is_gone_on_with_until_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chores, "REST_SECONDS", 0.0)
    left = [3]

    async def some() -> bool:
        left[0] -= 1
        return left[0] > 0

    # What it looks at once nothing is left is hours away: it is not called a fourth time.
    await while_it_goes_on(Chore("swept", some, FAR), lambda: left[0] == 0)
    assert left == [0]


async def test_what_keeps_it_is_said_once_and_it_goes_on_afterwards(
    caplog: pytest.LogCaptureFixture,
) -> None:
    said = ["full", "full", "full", "away", "", "away"]

    async def some() -> bool:
        if not said:
            return False
        if why := said.pop(0):
            raise StoreUnavailable(why)
        return False

    with caplog.at_level("WARNING", logger="agent.chores"):
        await while_it_goes_on(
            Chore("swept", some, 0.0), lambda: not said and len(told(caplog)) == 3
        )
    assert told(caplog) == [
        "nothing is swept now: full",
        "nothing is swept now: away",
        "nothing is swept now: away",
    ]


async def test_a_fault_of_ours_is_said_once_with_its_place_and_it_goes_on_afterwards(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(chores, "FAULT_SECONDS", 0.0)
    failing: list[bool] = []
    words = "what somebody wrote"

    async def some() -> bool:
        failing.append(chore.is_failing)
        if len(failing) < 4:
            raise LookupError(words)
        return False

    chore = Chore("swept", some, FAR)
    with caplog.at_level("ERROR", logger="agent.chores"):
        await while_it_goes_on(chore, lambda: len(failing) == 4 and not chore.is_failing)
    assert failing == [False, True, True, True]
    (said,) = told(caplog)
    assert said.startswith("a fault of ours, nothing is swept now; it is tried again: LookupError")
    assert "in some" in said
    assert words not in said


def test_it_waits_longer_after_each_fault_and_never_for_hours() -> None:
    pauses = [chores.pause_after(faults) for faults in (1, 2, 3, 1_000)]
    assert pauses == [5.0, 10.0, 20.0, 900.0]


def _later(is_seen: Callable[[], bool]) -> Callable[[], Awaitable[bool]]:
    async def look() -> bool:
        return is_seen()

    return look


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.name == "agent.chores"]
