"""Starts in one conversation at the moment when a run of it ends, or another begins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from agent import Runtime
from agent.rules.ids import RunId, SessionId
from tests.agent.engine.bench import ALICE, InTurn, says
from tests.agent.engine.replicas import replicas

SESSION = SessionId("ses_1")


def after_the_look(
    monkeypatch: pytest.MonkeyPatch, runtime: Runtime, do: Callable[[], Awaitable[object]]
) -> None:
    """When this runtime next looks which runs the conversation has, ``do`` comes before anything else."""
    lists = runtime.store.lists
    look = lists.runs_of_session

    async def then(session: SessionId, *, limit: int) -> object:
        rows = await look(session, limit=limit)
        monkeypatch.setattr(lists, "runs_of_session", look)
        await do()
        return rows

    monkeypatch.setattr(lists, "runs_of_session", then)


async def told_before(runtime: Runtime, run_id: RunId) -> list[str]:
    past = (await runtime.state(run_id)).past
    return [text for turn in past.turns for text in turn.said] if past else []


async def test_a_start_beside_the_end_of_the_run_before_goes_on_from_it(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with replicas(url) as several:
        runtime = await several.runtime(replies=[says("a"), says("b")])
        first = await runtime.start("one", requester=ALICE, session=SESSION)
        after_the_look(monkeypatch, runtime, lambda: runtime.settle(first))
        second = await runtime.start("two", requester=ALICE, session=SESSION)
        assert await told_before(runtime, second) == ["one"]


async def test_a_start_beside_another_run_that_came_and_went_goes_on_from_that(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the first run never heard was handed to the second, and is not handed on twice."""
    async with replicas(url) as several:
        # It is asked once more before its run fails over a message.
        failing = (ValueError("bad key"), ValueError("bad key"))
        model = InTurn(*failing, says("paid"), says("c"))
        runtime, other = [await several.runtime(model=model) for _ in range(2)]
        first = await runtime.start("one", requester=ALICE, session=SESSION)
        await runtime.steer(first, "pay 100", ALICE)
        assert (await runtime.settle(first)).unseen
        after_the_look(
            monkeypatch,
            runtime,
            lambda: other.start("two", requester=ALICE, session=SESSION, wait=True),
        )
        third = await runtime.start("three", requester=ALICE, session=SESSION, wait=True)
        state = await runtime.state(third)
        assert state.said == ()
        assert (await told_before(runtime, third)).count("pay 100") == 1
        assert "two" in await told_before(runtime, third)


async def test_a_start_beside_the_very_first_goes_on_from_it(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with replicas(url) as several:
        runtime = await several.runtime(replies=[says("a"), says("b")])
        after_the_look(
            monkeypatch,
            runtime,
            lambda: runtime.start("one", requester=ALICE, session=SESSION, wait=True),
        )
        second = await runtime.start("two", requester=ALICE, session=SESSION)
        assert await told_before(runtime, second) == ["one"]
