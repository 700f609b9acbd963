"""A model that is being asked while its run is stopped, held or spoken to."""

from __future__ import annotations

import asyncio
import time

from agent import (
    ModelReply,
    Principal,
    tool,
)
from agent.ports import ModelRequest
from tests.agent.engine.bench import calls, says, until
from tests.agent.engine.replicas import begin, replicas

BOB = Principal("slack:T0PILOT:U0BOB")
ACTS = [calls(("act", "{}")), says("done")]


class Thinks:
    """A model that thinks until it is let go, and says whether it was cut off."""

    name = "thinks"

    def __init__(self) -> None:
        self.asked, self.may_answer = asyncio.Event(), asyncio.Event()
        self.was_cut_off = False

    async def reply(self, request: ModelRequest) -> ModelReply:
        self.asked.set()
        try:
            await self.may_answer.wait()
        except asyncio.CancelledError:
            self.was_cut_off = True
            raise
        return says("thought of it")


async def test_a_model_request_is_cut_off_within_a_second(url: str) -> None:
    model = Thinks()
    async with replicas(url) as several:
        ours = await several.runtime(model=model)
        other = await several.runtime(model=model)
        run_id = await begin(ours)
        working = asyncio.create_task(ours.settle(run_id))
        await model.asked.wait()
        stopped_at = time.monotonic()
        await other.stop(run_id, BOB)
        state = await working
        assert state.ending == "cancelled"
        await until(lambda: was_cut_off(model))
        assert time.monotonic() - stopped_at < 5, (
            "it does not wait for the model (a second, unhurried)"
        )
        assert state.model_calls == 0


async def test_one_whose_news_of_a_read_was_not_written_down_yet_is_cut_off_as_well(
    url: str,
) -> None:
    """To others the read is still under way: the stop waits for it, and the run does not end with it."""
    model = Thinks()

    class LooksFirst:
        name = "looks first"

        async def reply(self, request: ModelRequest) -> ModelReply:
            return ACTS[0] if len(request.messages) == 1 else await model.reply(request)

    @tool(approval=False, effect="read")
    async def act() -> str:
        """Look."""
        return "looked"

    async with replicas(url) as several:
        ours = await several.runtime([act], model=LooksFirst())
        other = await several.runtime([act], model=LooksFirst())
        run_id = await begin(ours)
        working = asyncio.create_task(ours.worker(process_id="w").take_up_due())
        await model.asked.wait()
        stopped = await other.stop(run_id, BOB)
        assert not stopped.is_ended
        await asyncio.wait_for(working, 20)
        assert model.was_cut_off
        assert (await other.state(run_id)).ending == "cancelled"


async def was_cut_off(model: Thinks) -> bool:
    return model.was_cut_off


async def test_a_request_of_a_held_run_ends_and_its_answer_is_kept(url: str) -> None:
    model = Thinks()
    async with replicas(url) as several:
        ours = await several.runtime(model=model)
        other = await several.runtime(model=model)
        run_id = await begin(ours)
        working = asyncio.create_task(ours.worker(process_id="w").take_up_due())
        await model.asked.wait()
        await other.hold(run_id, BOB)
        # Longer than it takes to look whether the run is to be stopped.
        done, _ = await asyncio.wait({working}, timeout=1.2)
        assert not done, "a hold cuts nothing off"
        model.may_answer.set()
        await working
        state = await other.state(run_id)
        assert not state.is_ended
        assert [reply.text for reply in state.replies] == ["thought of it"]
        resumed = await other.resume(run_id, BOB, wait=True)
        assert resumed is not None
        assert (resumed.answer, resumed.model_calls) == ("thought of it", 1)


async def test_a_message_that_comes_while_the_model_thinks_has_it_asked_again(
    url: str,
) -> None:
    model = Thinks()
    async with replicas(url) as several:
        ours = await several.runtime(model=model)
        other = await several.runtime(model=model)
        run_id = await begin(ours)
        working = asyncio.create_task(ours.worker(process_id="w").take_up_due())
        await model.asked.wait()
        await other.steer(run_id, "one more thing", BOB)
        # Longer than it takes to look at what people did meanwhile.
        await asyncio.wait({working}, timeout=1.2)
        model.may_answer.set()
        await working
        state = await other.state(run_id)
        assert [[words.text for words in reply.heard] for reply in state.replies] == [
            [],
            ["one more thing"],
        ]
