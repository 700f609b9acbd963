"""examples/deploys: two people for production, and an effect that nobody knows of is looked up at the service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp.test_utils import TestServer

from agent import Approve
from agent.errors import DecisionRefused, NotAllowed
from agent.rules.state import RunState
from examples.deploys.service import FAULTS, app_on
from tests.own_agents.playing import ALICE, BOB, FRANK, Play, playing

#: Beyond the time-out of a call and five seconds.
DEADLINE = timedelta(seconds=11)


@pytest.fixture
async def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[TestServer]:
    server = TestServer(app_on(tmp_path / "deploys.json"))
    await server.start_server()
    monkeypatch.setenv("DEPLOYS_URL", str(server.make_url("/")))
    yield server
    await server.close()


async def faults(service: TestServer, **wanted: int) -> None:
    async with aiohttp.ClientSession() as session:
        await session.post(service.make_url("/faults"), json=wanted)


async def runs(service: TestServer, name: str = "web") -> dict[str, Any]:
    async with (
        aiohttp.ClientSession() as session,
        session.get(service.make_url(f"/services/{name}")) as answer,
    ):
        said: dict[str, Any] = await answer.json()
        return said


async def asked_in_vain(play: Play, service: TestServer, *, goes_away: bool = False) -> RunState:
    """A deploy of which nothing is heard, and what became of it once its call has passed its deadline."""
    app = service.app
    asking = asyncio.create_task(play.ask("deploy web 1.5"))
    async with asyncio.timeout(20):
        while True:
            if not any(app[FAULTS].values()):
                break
            await asyncio.sleep(0.01)
    if goes_away:
        await service.close()
    play.clock.advance(DEADLINE)
    return await asking


async def test_staging_is_deployed_at_once_and_production_by_two_who_did_not_ask(
    tmp_path: Path, service: TestServer
) -> None:
    async with playing("deploys", tmp_path) as play:
        state = await play.ask("deploy web 1.5 then deploy web 1.5 production", by=BOB)
        asked = await play.asked(state.run_id)
        assert asked.requested.preview == "web in production: 1.4 → 1.5"
        assert await runs(service) == {"service": "web", "staging": "1.5", "production": "1.4"}
        with pytest.raises(NotAllowed):
            await play.decide(state.run_id, Approve(), BOB)
        state = await play.decide(state.run_id, Approve(), FRANK)
        with pytest.raises(DecisionRefused):
            await play.decide(state.run_id, Approve(), FRANK)
        assert (await runs(service))["production"] == "1.4", "one yes is not enough"


async def test_two_yeses_deploy_and_one_rolls_back(tmp_path: Path, service: TestServer) -> None:
    async with playing("deploys", tmp_path) as play:
        state = await play.ask("deploy web 1.5 production")
        await play.decide(state.run_id, Approve(), BOB)
        state = await play.decide(state.run_id, Approve(), FRANK)
        assert state.answer == (
            "deploy web 1.5 production: "
            "service: web, environment: production, before: 1.4, version: 1.5"
        )
        state = await play.ask("roll back web then read status web")
        state = await play.decide(state.run_id, Approve(), ALICE)
        assert (state.answer or "").endswith("service: web, staging: 1.4, production: 1.4")
        (call, _) = state.calls.values()
        assert call.receipt is not None
        assert call.receipt.external_id == "dep_2"


@pytest.mark.parametrize("fault", ["lose_answers", "lose_requests"])
async def test_a_lost_answer_is_looked_up_and_nothing_is_done_twice(
    tmp_path: Path, service: TestServer, fault: str
) -> None:
    async with playing("deploys", tmp_path) as play:
        await faults(service, **{fault: 1})
        state = await asked_in_vain(play, service)
        assert state.ending == "finished", state
        assert (await runs(service))["staging"] == "1.5"
        (call,) = state.calls.values()
        assert call.receipt is not None
        assert (call.receipt.status, call.receipt.external_id) == ("committed", "dep_1")
        assert call.attempts == (1 if fault == "lose_answers" else 2)


async def test_where_the_service_is_away_by_then_people_are_asked(
    tmp_path: Path, service: TestServer
) -> None:
    async with playing("deploys", tmp_path) as play:
        await faults(service, lose_answers=1)
        state = await asked_in_vain(play, service, goes_away=True)
        assert (await play.asked(state.run_id)).kind == "review"


async def test_what_was_never_sent_did_not_happen(tmp_path: Path, service: TestServer) -> None:
    await service.close()
    async with playing("deploys", tmp_path) as play:
        state = await play.ask("deploy web 1.5")
        assert "can't be reached" in (state.answer or "")


async def test_what_it_refuses_is_told(tmp_path: Path, service: TestServer) -> None:
    async with playing("deploys", tmp_path) as play:
        state = await play.ask("deploy mail 1.5")
        assert "there is no service mail in staging" in (state.answer or "")
        state = await play.ask("read_status mail")
        assert "there is no service mail" in (state.answer or "")
