"""Whose starts an agent counts: those of people, whatever began their runs; never the operator's."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent import Agent, Runtime, ScriptedModel, Toolbox
from agent.errors import TooManyStarts
from agent.rules.ids import Principal
from tests.agent.engine.bench import ALICE, OPERATOR, says
from tests.agent.engine.replicas import replicas


async def test_what_a_person_says_after_a_run_counts_as_a_start_and_the_operator_is_not_counted(
    url: str,
) -> None:
    async with replicas(url) as several:
        model = ScriptedModel([says("one"), says("two")])
        agent = Agent("tester", model, Toolbox(()), starts_per_hour=2)
        runtime = Runtime([agent], await several.open())
        first = await runtime.start("go", requester=ALICE, key="k", wait=True)
        await runtime.steer(first, "and now", ALICE, ref="1.1")
        with pytest.raises(TooManyStarts) as refused:
            await runtime.start("go", requester=ALICE)
        assert (refused.value.requester, refused.value.most) == (ALICE, 2)
        assert refused.value.free_at == several.clock.now() + timedelta(hours=1)
        # What was delivered before is found all the same.
        assert await runtime.start("go", requester=ALICE, key="k") == first
        await runtime.steer(first, "and now", ALICE, ref="1.1")
        for _ in range(3):
            await runtime.start("go", requester=OPERATOR.principal)
        await runtime.start("go", requester=Principal("slack:T0PILOT:U0BOB"))
        several.clock.advance(timedelta(hours=1))
        await runtime.start("go", requester=ALICE)
