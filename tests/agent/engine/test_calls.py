"""What can become of one call, for each effect and each way to end."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

import pytest

from agent import Committed, Interrupted, Rejected, ToolContext, tool
from agent.engine.calls import OUTPUT_LIMIT, run_call
from agent.rules.calls import Call
from agent.rules.events import CallLeftUnknown, CallReturned
from agent.rules.ids import CallId, OperationId, Principal, RunId
from agent.rules.parts import Effect, ProposedCall
from agent.tools.declare import Tool

CONTEXT = ToolContext(
    OperationId("op_1"), RunId("run_1"), CallId("call_1"), 1, "tester", Principal("cli:test")
)


def declare(effect: Effect, body: Callable[[], Any], timeout: float = 5, **more: Any) -> Tool:
    def act(context: ToolContext) -> Any:
        """Do it."""
        return body()

    async def act_async(context: ToolContext) -> Any:
        """Do it."""
        return await body()

    chosen = act_async if asyncio.iscoroutinefunction(body) else act
    return tool(effect=effect, timeout=timeout, **more)(chosen)


async def outcome(declared: Tool) -> CallReturned | CallLeftUnknown | None:
    proposed = ProposedCall(
        call_id=CONTEXT.call_id,
        operation_id=CONTEXT.operation_id,
        model_call_id="m",
        tool=declared.name,
        arguments="{}",
    )
    return await run_call(declared, Call(proposed, effect=declared.effect), CONTEXT)


def raises(error: BaseException) -> Callable[[], Any]:
    def body() -> Any:
        raise error

    return body


FAILURES = [ValueError("no"), asyncio.CancelledError(), SystemExit(3), StopIteration("x")]


@pytest.mark.parametrize("error", FAILURES, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("effect", ["read", "idempotent"])
async def test_a_safe_tool_that_raises_gives_one_error_result(
    effect: Effect, error: BaseException
) -> None:
    event = await outcome(declare(effect, raises(error)))
    assert isinstance(event, CallReturned)
    assert event.is_error
    assert (event.receipt is None) == (effect == "read")


@pytest.mark.parametrize("error", FAILURES, ids=lambda e: type(e).__name__)
async def test_a_once_tool_that_raises_leaves_its_effect_unknown(error: BaseException) -> None:
    assert isinstance(await outcome(declare("once", raises(error))), CallLeftUnknown)


async def test_a_once_tool_that_can_be_looked_up_is_left_open_until_its_deadline() -> None:
    assert (
        await outcome(declare("once", raises(ValueError("no")), reconcile=lambda _: None)) is None
    )


@pytest.mark.parametrize("effect", ["read", "idempotent", "once"])
async def test_rejected_says_that_nothing_happened(effect: Effect) -> None:
    event = await outcome(declare(effect, raises(Rejected("card expired"))))
    assert isinstance(event, CallReturned)
    assert event.is_error
    assert event.output == "card expired"
    assert event.receipt is not None
    assert event.receipt.status == "rejected"


async def test_interrupted_leaves_the_call_open() -> None:
    assert await outcome(declare("idempotent", raises(Interrupted()))) is None


@pytest.mark.parametrize("effect", ["read", "idempotent", "once"])
async def test_a_time_out_is_an_outcome_and_not_a_hang(effect: Effect) -> None:
    async def body() -> None:
        await asyncio.Event().wait()

    event = await outcome(declare(effect, body, timeout=0.01))
    if effect == "once":
        assert isinstance(event, CallLeftUnknown)
        assert "0.01 s" in event.detail
    else:
        assert isinstance(event, CallReturned)
        assert "0.01 s" in str(event.output)


async def test_the_cancellation_of_the_engine_is_no_outcome() -> None:
    entered = asyncio.Event()

    async def body() -> None:
        entered.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(outcome(declare("once", body)))
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_receipt_carries_the_outside_id() -> None:
    event = await outcome(declare("once", lambda: Committed({"ok": True}, "re_1")))
    assert isinstance(event, CallReturned)
    assert event.receipt is not None
    assert (event.receipt.status, event.receipt.external_id) == ("committed", "re_1")
    assert event.output == {"ok": True}


@pytest.mark.parametrize(
    "output", [object(), math.nan, {1: {2, 3}}, b"\xff", "\ud800", 2**80, None, "x" * 500_000]
)
async def test_any_output_becomes_json_of_bounded_size(output: Any) -> None:
    event = await outcome(declare("once", lambda: output))
    assert isinstance(event, CallReturned)
    assert not event.is_error
    assert len(event.model_dump_json()) < OUTPUT_LIMIT * 2
