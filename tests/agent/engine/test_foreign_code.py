"""Tools, models, deciders and validators are not ours: whatever they do is an outcome, and hurts nobody."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from agent import Approve, Committed, Deny, ModelReply, Rejected, Steer, ToolContext, tool
from agent.errors import InvalidArgs
from agent.ports import ModelRequest, ModelUnavailable
from agent.rules.decisions import Decision
from agent.rules.parts import Effect
from agent.rules.state import Approval
from agent.tools import running
from tests.agent.engine.bench import OPERATOR, bench, calls, says


class Mute(Exception):
    """Can't say what is wrong."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class Shy:
    """Can't be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no picture")


def odd(value: object) -> Any:
    """What nobody who heeds the types would hand in."""
    return value


def fails(value: str) -> str:
    """A validator with a fault of its own."""
    raise KeyError(value)


def nested() -> list[Any]:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    return deep


ODD: dict[str, Callable[[], Any]] = {
    "an id that is no text": lambda: Committed("ok", external_id=odd(42)),
    "a number beyond all limits": lambda: 10**6000,
    "a list without end": nested,
    "what can't be shown": Shy,
    "half a character": lambda: "\ud83d",
    "no number": lambda: float("nan"),
    "bytes": lambda: b"\xff\xfe",
}


@pytest.mark.parametrize("effect", ["read", "idempotent", "once"])
@pytest.mark.parametrize("what", ODD)
async def test_whatever_a_tool_gives_its_effect_is_known_and_happens_once(
    what: str, effect: Effect, tmp_path: Path
) -> None:
    done: list[int] = []

    @tool(approval=False, effect=effect)
    def act(context: ToolContext) -> Any:
        """Do it."""
        done.append(1)
        return ODD[what]()

    async with bench(tmp_path, [act], [calls(("act", "{}")), says("ok")]) as b:
        state = await b.play()
        [call] = state.calls.values()
        assert (done, state.answer) == ([1], "ok")
        assert call.result is not None
        assert call.result.outcome == "ok"
        assert effect == "read" or (call.receipt and call.receipt.status == "committed")


RAISED: dict[str, Callable[[], BaseException]] = {
    "an end of the interpreter": lambda: SystemExit(3),
    "a key of the keyboard": KeyboardInterrupt,
    "the end of a generator": GeneratorExit,
    "a cancellation of its own": asyncio.CancelledError,
    "several at once": lambda: BaseExceptionGroup("two", [SystemExit(), ValueError("x")]),
    "one without words": Mute,
    "its own end of waiting": TimeoutError,
}


async def test_a_tool_that_cancels_itself_cuts_nothing_else(tmp_path: Path) -> None:
    began = asyncio.Event()

    @tool(approval=False, effect="read")
    async def odd_one() -> None:
        """Cancel whoever runs it."""
        await began.wait()
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(1)

    @tool(approval=False)
    async def sibling() -> str:
        """Goes on."""
        began.set()
        await asyncio.sleep(0.05)
        return "whole"

    script = [calls(("odd_one", "{}"), ("sibling", "{}")), says("ok")]
    async with bench(tmp_path, [odd_one, sibling], script) as b:
        state = await b.play()
        results = {c.tool: c.result.outcome for c in state.calls.values() if c.result}
        assert results == {"odd_one": "error", "sibling": "ok"}


async def test_a_model_that_fails_before_it_answers_fails_the_run_with_its_reason(
    tmp_path: Path,
) -> None:
    class Plain:
        name = "plain"

        def reply(self, request: ModelRequest) -> Any:
            raise LookupError("no such model")

    async with bench(tmp_path, [], []) as b:
        [agent] = b.engine.agents.values()
        engine = replace(b.engine, agents={agent.name: replace(agent, model=Plain())})
        run_id = await b.start()
        await engine.advance(await b.claim(), asyncio.Event())
        assert "no such model" in ((await b.runtime.state(run_id)).error or "")


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize("what", RAISED)
async def test_whatever_a_tool_raises_is_an_outcome_and_cuts_no_sibling(
    what: str, is_async: bool, tmp_path: Path
) -> None:
    began = asyncio.Event()

    async def bad(context: ToolContext) -> None:
        """Raise."""
        await began.wait()
        raise RAISED[what]()

    def bad_too(context: ToolContext) -> None:
        """Raise."""
        raise RAISED[what]()

    @tool(approval=False)
    async def sibling() -> str:
        """Goes on while the other raises."""
        began.set()
        await asyncio.sleep(0.05)
        return "whole"

    bad_too.__name__ = "bad"
    broken = tool(approval=False, effect="idempotent")(bad if is_async else bad_too)
    script = [calls(("bad", "{}"), ("sibling", "{}")), says("ok")]
    async with bench(tmp_path, [broken, sibling], script) as b:
        state = await b.play()
        results = {c.tool: c.result.outcome for c in state.calls.values() if c.result}
        assert results == {"bad": "error", "sibling": "ok"}
        assert state.answer == "ok"


async def test_a_rejection_without_words_is_still_one(tmp_path: Path) -> None:
    class Wordless(Rejected):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    @tool(approval=False)
    def act() -> None:
        """Do it."""
        raise Wordless

    async with bench(tmp_path, [act], [calls(("act", "{}")), says("ok")]) as b:
        [call] = (await b.play()).calls.values()
        assert call.receipt is not None
        assert call.receipt.status == "rejected"


async def test_a_tool_that_does_not_heed_its_cancellation_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "GRACE", 0.05)
    may_end, has_ended = asyncio.Event(), asyncio.Event()

    @tool(approval=False, effect="idempotent", timeout=0.05)
    async def stubborn(context: ToolContext) -> None:
        """Go on and on."""
        while not may_end.is_set():
            try:
                await may_end.wait()
            except asyncio.CancelledError:
                continue
        has_ended.set()

    async with bench(tmp_path, [stubborn], [calls(("stubborn", "{}")), says("ok")]) as b:
        async with asyncio.timeout(10):
            state = await b.play()
        [call] = state.calls.values()
        assert call.result is not None
        assert "did not answer within" in str(call.result.output)
        may_end.set()
        await has_ended.wait()


async def test_a_thread_that_outlives_its_time_out_is_left_behind(tmp_path: Path) -> None:
    may_end = threading.Event()

    @tool(approval=False, effect="idempotent", timeout=0.05)
    def stubborn(context: ToolContext) -> None:
        """Go on and on."""
        may_end.wait(10)

    async with bench(tmp_path, [stubborn], [calls(("stubborn", "{}")), says("ok")]) as b:
        state = await b.play()
        may_end.set()
        [call] = state.calls.values()
        assert call.receipt is not None
        assert (call.receipt.status, state.answer) == ("unknown", "ok")


async def test_a_parameter_may_have_any_name(tmp_path: Path) -> None:
    @tool(approval=lambda function, args: False)
    def act(function: str, args: str) -> str:
        """Do it."""
        return function + args

    proposed = calls(("act", '{"function": "a", "args": "b"}'))
    async with bench(tmp_path, [act], [proposed, says("ok")]) as b:
        [call] = (await b.play()).calls.values()
        assert call.result is not None
        assert call.result.output == "ab"


async def test_a_validator_that_fails_refuses_the_arguments_and_not_the_run(
    tmp_path: Path,
) -> None:
    @tool(approval=False)
    def act(word: Annotated[str, AfterValidator(fails)]) -> None:
        """Do it."""

    async with bench(tmp_path, [act], [calls(("act", '{"word": "x"}')), says("ok")]) as b:
        state = await b.play()
        [call] = state.calls.values()
        assert call.result is not None
        assert (call.result.outcome, state.answer) == ("refused", "ok")


@pytest.mark.parametrize(
    "reply",
    [None, "text", ModelReply(text=odd(None)), ModelReply(calls=odd((7,)))],
)
async def test_a_reply_that_is_none_fails_the_run_with_its_reason(
    reply: Any, tmp_path: Path
) -> None:
    class Odd:
        name = "odd"

        async def reply(self, request: ModelRequest) -> ModelReply:
            said: ModelReply = odd(reply)
            return said

    async with bench(tmp_path, [], []) as b:
        [agent] = b.engine.agents.values()
        engine = replace(b.engine, agents={agent.name: replace(agent, model=Odd())})
        run_id = await b.start()
        await engine.advance(await b.claim(), asyncio.Event())
        state = await b.runtime.state(run_id)
        assert state.ending == "failed"
        assert "The model failed" in (state.error or "")


@pytest.mark.parametrize("seconds", [float("inf"), float("nan"), 1e15, -1.0, "soon"])
async def test_a_delay_that_is_none_takes_no_run_away(seconds: Any, tmp_path: Path) -> None:
    script = [ModelUnavailable("busy", retry_after=seconds)]
    async with bench(tmp_path, [], script) as b:
        state = await b.play()
        assert state.model_failures == 1
        assert state.retry_at is not None
        assert state.retry_at.year <= b.clock.now().year + 1


@pytest.mark.parametrize(
    "word",
    ["yes", True, Approve, Approve(note=odd(5)), Steer(args=odd("x")), Deny(reason=odd(object()))],
)
async def test_a_word_that_is_no_decision_is_passed_on_to_people(word: Any, tmp_path: Path) -> None:
    done: list[int] = []

    @tool(approval=True)
    def act() -> None:
        """Do it."""
        done.append(1)

    async def careless(approval: Approval) -> Decision | None:
        said: Decision | None = odd(word)
        return said

    async with bench(tmp_path, [act], [calls(("act", "{}")), says("ok")], decider=careless) as b:
        await b.start()
        await b.work()
        [(approval, _)] = await b.runtime.approvals()
        with pytest.raises(InvalidArgs):
            await b.runtime.decide(approval.id, word, OPERATOR)
        assert (done, (await b.runtime.approval(approval.id))[0].status) == ([], "pending")
