"""What people say to a run: heard by it, or by the next one, once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import pytest

from agent import Approve, Runtime, ScriptedModel, tool
from agent.errors import (
    ConfigError,
    KeyReused,
    NotFound,
    NothingToDo,
    RunEnded,
    TooLong,
    Unstorable,
)
from agent.ports import ModelReply, ModelRequest
from agent.rules.ids import Principal, RunId
from agent.rules.parts import Words
from agent.rules.state import RunState
from agent.rules.transcript import Message, ToolMessage, UserMessage, of_this_run
from agent.rules.words import MESSAGE_LIMIT
from tests.agent.engine.bench import ALICE, OPERATOR, calls, says
from tests.agent.engine.replicas import begin, replicas

BOB = Principal("slack:T0PILOT:U0BOB")


@tool(approval=True)
def send() -> str:
    """Send."""
    return "sent"


SENDS = [calls(("send", "{}")), says("done")]


def said_in(messages: Sequence[Message]) -> list[str]:
    return [message.text for message in messages if isinstance(message, UserMessage)]


class Listening:
    """Answers at once, with what it was told."""

    name = "listening"

    async def reply(self, request: ModelRequest) -> ModelReply:
        heard = said_in(of_this_run(request.messages))
        return says(" / ".join(heard))


class Fails:
    """Fails for good, until it ``works``; what it was told each time."""

    name = "fails"

    def __init__(self) -> None:
        self.heard: list[list[str]] = []
        self.when_asked: Callable[[], Awaitable[object]] | None = None
        self.works = False

    async def reply(self, request: ModelRequest) -> ModelReply:
        heard = said_in(of_this_run(request.messages))
        if self.works:
            return says(" / ".join(heard))
        self.heard.append(heard)
        asked, self.when_asked = self.when_asked, None
        if asked:
            await asked()
        raise ValueError("there is no such model")


async def paused(runtime: Runtime) -> RunState:
    """A run that waits for a person."""
    return await runtime.settle(await begin(runtime))


class TestSteer:
    async def test_is_heard_by_the_model_at_its_next_turn(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([send], SENDS)
            state = await paused(runtime)
            said = await runtime.steer(state.run_id, "and be kind", BOB)
            assert [one.text for one in said.unseen] == ["and be kind"]
            assert said.open_approvals == state.open_approvals, "a message decides nothing"
            after = await runtime.decide(state.open_approvals[0].id, Approve(), OPERATOR, wait=True)
            assert after.answer == "done"
            assert after.replies[-1].heard == (Words(text="and be kind"),)

    async def test_is_one_message_however_often_it_is_delivered(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime([send], SENDS)
            run_id = (await paused(runtime)).run_id
            await asyncio.gather(
                *(runtime.steer(run_id, "be kind", BOB, ref="ts-1") for _ in range(4))
            )
            assert [said.ref for said in (await runtime.state(run_id)).said] == ["ts-1"]

    async def test_begins_the_next_run_of_the_session_when_this_one_has_ended(
        self, url: str
    ) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime(model=Listening())
            first = await runtime.start(
                "go", requester=ALICE, channel="C1", place="C1:1", wait=True
            )
            ended = await runtime.state(first)
            state = await runtime.steer(first, "and now?", BOB, ref="ts-2", wait=True)
            assert state.run_id != first
            assert (state.prompt, state.requester, state.answer) == ("and now?", BOB, "and now?")
            for name in ("agent", "session", "channel", "place"):
                assert getattr(state, name) == getattr(ended, name)
            # Delivered again, whatever became of it meanwhile, and to whichever of the two.
            for run_id in (first, state.run_id):
                again = await runtime.steer(run_id, "and now?", BOB, ref="ts-2")
                assert (again.run_id, again.said) == (state.run_id, ())

    async def test_that_began_a_run_is_not_said_to_it_when_it_is_delivered_again(
        self, url: str
    ) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime(model=Listening())
            first = await runtime.start("go", requester=ALICE, wait=True)
            begun = await runtime.steer(first, "more", BOB, ref="ts-0")
            assert not begun.is_ended
            for run_id in (first, begun.run_id):
                again = await runtime.steer(run_id, "more", BOB, ref="ts-0")
                assert (again.run_id, again.said) == (begun.run_id, ())

    async def test_that_may_begin_none_is_refused_and_only_where_it_would(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime(model=Listening())
            first = await runtime.start("go", requester=ALICE)
            told = await runtime.steer(first, "kindly", BOB, may_begin=False)
            assert [one.text for one in told.said] == ["kindly"]
            await runtime.stop(first, ALICE)
            with pytest.raises(RunEnded):
                await runtime.steer(first, "more", BOB, may_begin=False)
            assert len(await runtime.runs()) == 1

    async def test_that_comes_twice_at_once_begins_one_run(self, url: str) -> None:
        async with replicas(url) as several:
            one, two = [await several.runtime(model=Listening()) for _ in range(2)]
            first = await one.start("go", requester=ALICE, wait=True)
            states = await asyncio.gather(
                *(runtime.steer(first, "more", BOB, ref="ts-3") for runtime in (one, two, one, two))
            )
            assert len({state.run_id for state in states}) == 1
            assert not any(state.said for state in states)

    async def test_goes_to_the_run_that_the_session_has_by_now(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime(model=Listening())
            first = await runtime.start("go", requester=ALICE, wait=True)
            second = (await runtime.steer(first, "a second one", BOB)).run_id
            third = await runtime.steer(first, "and this", BOB)
            assert third.run_id == second
            assert (await runtime.settle(second)).answer == "a second one / and this"

    async def test_of_several_that_lose_to_the_end_none_is_dropped(self, url: str) -> None:
        async with replicas(url) as several:
            one, two = [await several.runtime(model=Listening()) for _ in range(2)]
            first = await one.start("go", requester=ALICE, wait=True)
            words = [f"word {number}" for number in range(6)]
            states = await asyncio.gather(
                *((one, two)[n % 2].steer(first, word, BOB) for n, word in enumerate(words))
            )
            (second,) = {state.run_id for state in states}
            answer = (await one.settle(second)).answer or ""
            assert sorted(answer.split(" / ")) == words

    async def test_that_another_run_was_given_begins_none_when_it_is_delivered_again(
        self, url: str
    ) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime(model=Listening())
            first = await runtime.start("go", requester=ALICE, wait=True)
            second = (await runtime.steer(first, "a second one", BOB)).run_id
            given = await runtime.steer(first, "and this", BOB, ref="ts-4")
            assert given.run_id == second
            await runtime.settle(second)
            third = (await runtime.steer(second, "a third one", BOB)).run_id
            # To whichever run it is delivered, and whether that lives or not.
            for run_id in (first, second, third):
                again = await runtime.steer(run_id, "and this", BOB, ref="ts-4")
                assert again.run_id == second
            assert len(await runtime.runs()) == 3
            assert (await runtime.settle(third)).answer == "a third one"

    async def test_that_a_failed_run_did_not_hear_is_told_to_the_next_one(self, url: str) -> None:
        model = Fails()
        async with replicas(url) as several:
            runtime = await several.runtime(model=model)
            first = await begin(runtime)
            model.when_asked = lambda: runtime.steer(first, "be kind", BOB, ref="ts-5")
            failed = await runtime.settle(first)
            assert failed.ending == "failed"
            assert model.heard == [["go"], ["go", "be kind"]], "it was asked once more"
            model.works = True
            second = await runtime.steer(first, "and now?", BOB, wait=True)
            assert second.answer == "be kind / and now?"
            assert (await runtime.steer(first, "be kind", BOB, ref="ts-5")).run_id == second.run_id
            third = await runtime.steer(first, "once more", BOB, wait=True)
            assert third.answer == "once more"

    async def test_with_the_ref_of_other_words_is_refused_and_not_swallowed(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime(model=Listening())
            first = await begin(runtime)
            await runtime.steer(first, "be kind", BOB, ref="ts-6")
            with pytest.raises(KeyReused, match=first):
                await runtime.steer(first, "be harsh", BOB, ref="ts-6")
            await runtime.settle(first)
            second = (await runtime.steer(first, "and now?", BOB, ref="ts-7", wait=True)).run_id
            for run_id in (first, second):
                for ref, has_it in (("ts-6", first), ("ts-7", second)):
                    with pytest.raises(KeyReused) as refused:
                        await runtime.steer(run_id, "other words", BOB, ref=ref)
                    assert refused.value.run_id == has_it
            assert len(await runtime.runs()) == 2

    async def test_with_the_ref_that_another_session_has_is_another_message(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime(model=Listening())
            other = await runtime.start("hello", requester=ALICE, key="ts-8", wait=True)
            first = await runtime.start("go", requester=ALICE, wait=True)
            begun = await runtime.steer(first, "hello", BOB, ref="ts-8", wait=True)
            assert begun.run_id not in (first, other)
            assert begun.session == (await runtime.state(first)).session
            third = await runtime.steer(other, "hello?", BOB, ref="ts-9", wait=True)
            fourth = await runtime.steer(first, "hello?", BOB, ref="ts-9", wait=True)
            assert third.run_id != fourth.run_id

    async def test_that_began_a_run_as_its_start_is_not_said_to_it_as_well(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime(model=Listening())
            first = await runtime.start("hello", requester=ALICE, key="ts-10")
            again = await runtime.steer(first, "hello", ALICE, ref="ts-10")
            assert (again.run_id, again.said) == (first, ())
            with pytest.raises(KeyReused):
                await runtime.steer(first, "hello!", ALICE, ref="ts-10")

    async def test_of_more_than_a_message_can_have_is_refused(self, url: str) -> None:
        most = "x" * MESSAGE_LIMIT
        async with replicas(url) as several:
            runtime = await several.runtime(model=Listening())
            run_id = await runtime.start(most, requester=ALICE)
            await runtime.steer(run_id, most, BOB)
            for _ in ("while it lives", "when it has ended"):
                with pytest.raises(
                    TooLong, match=r"40,001 characters\. Say it in at most 40,000\."
                ):
                    await runtime.steer(run_id, most + "x", BOB)
                await runtime.settle(run_id)
            with pytest.raises(TooLong):
                await runtime.start(most + "x", requester=ALICE)
            with pytest.raises(TooLong):
                await runtime.fork(run_id, 1, BOB, text=most + "x")
            assert len(await runtime.runs()) == 1

    async def test_of_nothing_is_refused(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime(model=Listening())
            run_id = await begin(runtime)
            for _ in ("while it lives", "when it has ended"):
                with pytest.raises(NothingToDo):
                    await runtime.steer(run_id, " \n", BOB)
                await runtime.settle(run_id)
            with pytest.raises(NotFound):
                await runtime.steer(RunId("run_0"), "hello", BOB)

    async def test_with_a_ref_that_can_not_be_kept_is_refused_whenever_it_comes(
        self, url: str
    ) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime(model=Listening())
            run_id = await begin(runtime)
            # As long as names may be, but with its session beside it.
            for _ in ("while it lives", "when it has ended"):
                for ref in ("r" * 995, "r" * 10_000, "é" * 499):
                    with pytest.raises(Unstorable):
                        await runtime.steer(run_id, "hello", BOB, ref=ref)
                await runtime.settle(run_id)
            assert len(await runtime.runs()) == 1

    async def test_is_refused_while_the_run_is_being_stopped(self, url: str) -> None:
        begun, may_end = asyncio.Event(), asyncio.Event()

        @tool(approval=False)
        async def slow() -> str:
            """Slow."""
            begun.set()
            await may_end.wait()
            return "done slowly"

        async with replicas(url) as several:
            runtime = await several.runtime([slow], [calls(("slow", "{}")), says("done")])
            run_id = await begin(runtime)
            working = asyncio.create_task(runtime.settle(run_id))
            await begun.wait()
            await runtime.stop(run_id, BOB)
            with pytest.raises(RunEnded, match="being stopped"):
                await runtime.steer(run_id, "wait", BOB)
            may_end.set()
            assert (await working).ending == "cancelled"
            assert len(await runtime.runs()) == 1

    async def test_needs_the_agent_for_a_next_run(self, url: str) -> None:
        async with replicas(url) as several:
            runtime = await several.runtime(model=Listening())
            first = await runtime.start("go", requester=ALICE, wait=True)
            agent = replace(runtime.agents["tester"], name="other")
            other = Runtime([agent], await several.open())
            with pytest.raises(ConfigError, match="tester"):
                await other.steer(first, "more", BOB)

    async def test_stands_behind_the_results_that_came_before_it(self, url: str) -> None:
        model = ScriptedModel(SENDS)
        async with replicas(url) as several:
            runtime = await several.runtime([send], model=model)
            state = await paused(runtime)
            await runtime.steer(state.run_id, "hello", BOB)
            await runtime.decide(state.open_approvals[0].id, Approve(), OPERATOR, wait=True)
            *_, result, words = model.requests[-1].messages
            assert isinstance(result, ToolMessage)
            assert words == UserMessage("hello")
