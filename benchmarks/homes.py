"""What it costs to draw a Home tab, and whether that grows with what waits for others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import median
from typing import Any, Final, cast

from slack_sdk.web.async_client import AsyncWebClient

from agent import Agent, Policy, Runtime, Toolbox
from agent.engine.agents import NoModel
from agent.rules.parts import Approvers
from benchmarks.figures import figure
from bot.slack.app import make_services
from bot.slack.cards.home import home_view
from bot.slack.home.gathering import gathered
from bot.slack.payloads import Actor
from bot.slack.people import People
from store import SqlStore, open_store
from tests.store.story import begin, replied, requested, stamps

FEW, MANY = 100, 10_000
LOOKS, TOGETHER = 25, 500
BOB: Final = Actor("UBOB", "T1")
TARGET_RATIO = 1.5


class OnePerson:
    """All that Slack is asked for: who Bob is, and that nobody is in any group."""

    base_url, session = "http://127.0.0.1:9/api/", None

    async def auth_test(self) -> dict[str, Any]:
        return {"team_id": "T1", "user_id": "UPILOT", "url": "https://pilot.slack.com/"}

    async def users_info(self, *, user: str) -> dict[str, Any]:
        return {"user": {"id": user, "team_id": "T1"}}

    async def usergroups_users_list(self, *, usergroup: str) -> dict[str, Any]:
        return {"users": []}


async def figures(folder: Path) -> AsyncIterator[dict[str, object]]:
    """With its ``ratio`` and the ``target`` that it must not exceed."""
    few, many = await drawn(folder, FEW), await drawn(folder, MANY)
    name = f"a Home tab, with N={MANY} runs that wait for others / N={FEW}"
    yield figure(name, many / few, TARGET_RATIO, few_ms=few * 1e3, many_ms=many * 1e3)


async def drawn(folder: Path, others: int) -> float:
    """Seconds that it takes for somebody for whom ten of them wait."""
    store = await open_store(f"sqlite:///{folder}/homes-{others}.db")
    try:
        for start in range(0, others, TOGETHER):
            numbers = range(start, min(start + TOGETHER, others))
            await asyncio.gather(
                *(_waits(store, f"o{n}", Approvers(groups=("S1",))) for n in numbers)
            )
        for n in range(10):
            await _waits(store, f"b{n}", Approvers(users=("UBOB",)))
        slack = cast("AsyncWebClient", OnePerson())
        runtime = Runtime([Agent("refunds", NoModel(), Toolbox(), Policy())], store)
        services = make_services(runtime, slack, people=People(slack))
        return median([await _seconds(services) for _ in range(LOOKS)])
    finally:
        await store.close()


async def _seconds(services: Any) -> float:
    begun = time.perf_counter()
    home = await gathered(services, BOB)
    home_view(home)
    assert len(home.waiting) == 10
    return time.perf_counter() - begun


async def _waits(store: SqlStore, name: str, approvers: Approvers) -> None:
    run_id = await begin(store.journal, store.clock, f"run_{name}")
    asked = requested(f"apr_{name}", f"call_{name}").model_copy(update={"approvers": approvers})
    events = stamps(store.clock, replied(f"call_{name}"), asked)
    await store.journal.intend(run_id, events, expected_seq=1)
