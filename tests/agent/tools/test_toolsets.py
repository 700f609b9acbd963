"""A Pydantic AI toolset as tools of an agent."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, SecretStr
from pydantic_ai import (
    ApprovalRequired,
    CallDeferred,
    FunctionToolset,
    ModelRetry,
    RunContext,
    Tool,
    ToolFailed,
    ToolReturn,
)
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import ExternalToolset

from agent import Committed, Rejected, Toolbox, ToolContext, from_toolset
from agent.errors import ConfigError
from agent.rules.ids import CallId, OperationId, Principal, RunId
from agent.rules.judgement import InvalidCall
from agent.tools import declare
from agent.tools.running import TookTooLong, run_bounded
from agent.tools.writing_down import write_down

CONTEXT = ToolContext(
    OperationId("op_1"), RunId("run_1"), CallId("call_1"), 1, "ops", Principal("cli:me")
)
YES = replace(CONTEXT, is_approved=True)


def only(toolset: Any, **how: Any) -> declare.Tool:
    (one,) = from_toolset(toolset, **how)
    assert isinstance(one, declare.Tool)
    return one


async def called(one: declare.Tool, context: ToolContext = CONTEXT, **args: Any) -> Any:
    """As the engine calls it."""
    return await one.function(**one.bind(one.check(args), context))


class Parcel(BaseModel):
    """What, and where to."""

    model_config = ConfigDict(extra="forbid")
    city: str
    on: date = date(2026, 12, 1)


class Login(BaseModel):
    """Who."""

    password: SecretStr


async def act(day: date, amount: Decimal = Decimal("1.50"), tags: tuple[str, ...] = ()) -> str:
    """Do it.

    Args:
        day: When.
    """
    return f"{day:%A} {amount + 1} {tags}"


async def test_name_words_schema_and_checks_are_the_toolsets() -> None:
    toolset = FunctionToolset([act])
    one = only(toolset)
    tool_def = toolset.tools["act"].tool_def
    assert one.spec.parameters == tool_def.parameters_json_schema
    assert (one.name, one.title, one.description) == ("act", "Act", "Do it.")
    assert (one.effect, one.approval, one.timeout) == ("once", None, timedelta(seconds=60))
    assert one.asks(one.check({"day": "2026-12-01"}))[0]

    checked = one.check({"day": "2026-12-01", "amount": "2.50", "tags": ["a"]})
    # Rules see values of the declared types, the journal JSON.
    assert checked.model_dump() == {
        "day": date(2026, 12, 1),
        "amount": Decimal("2.50"),
        "tags": ("a",),
    }
    assert write_down(checked) == {"day": "2026-12-01", "amount": "2.50", "tags": ["a"]}
    assert await called(one, day="2026-12-01", amount="2.50") == "Tuesday 3.50 ()"


@pytest.mark.parametrize(
    ("args", "field"),
    [({}, "day"), ({"day": "soon"}, "day"), ({"day": "2026-12-01", "x": 1}, "x")],
)
def test_what_does_not_fit_is_said_by_field(args: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidCall) as caught:
        only(FunctionToolset([act])).check(args)
    assert list(caught.value.errors) == [field]


async def test_its_context_holds_the_operation_the_deps_and_whether_people_said_yes() -> None:
    def look(ctx: RunContext[str]) -> list[object]:
        """Look."""
        return [ctx.deps, ctx.tool_call_id, ctx.run_id, ctx.tool_name, ctx.tool_call_approved]

    one = only(FunctionToolset([look]), deps="ours")
    assert await called(one) == ["ours", "op_1", "run_1", "look", False]
    assert await called(one, YES) == ["ours", "op_1", "run_1", "look", True]


@pytest.mark.parametrize(
    ("raised", "becomes", "words"),
    [
        (ModelRetry("which one?"), Rejected, "which one?"),
        (ApprovalRequired(), Rejected, "Nothing was done: the tool wants a person's yes"),
        (CallDeferred(), RuntimeError, "handed on to somebody"),
        (OSError("lost"), OSError, "lost"),
    ],
)
async def test_what_it_raises_is_told_as_what_it_means(
    raised: Exception, becomes: type[Exception], words: str
) -> None:
    def fail() -> None:
        """Fail."""
        raise raised

    with pytest.raises(becomes, match=words):
        await called(only(FunctionToolset([fail])))


async def test_what_it_says_has_failed_was_carried_out() -> None:
    def fail() -> None:
        """Fail."""
        raise ToolFailed("sold out")

    assert await called(only(FunctionToolset([fail]))) == Committed("sold out", is_error=True)


@pytest.mark.parametrize("by_toolset", [True, False])
async def test_of_a_call_that_takes_too_long_nobody_knows(by_toolset: bool) -> None:
    """The library has the model try such a one again."""

    async def hang() -> None:
        """Hang."""
        await forever()

    toolset: FunctionToolset[Any] = (
        FunctionToolset([hang], timeout=0.05)
        if by_toolset
        else FunctionToolset([Tool(hang, timeout=0.05)])
    )
    one = only(toolset)
    assert one.timeout == timedelta(seconds=0.05)
    with pytest.raises(TookTooLong):
        await run_bounded(called(one), one.timeout.total_seconds())


async def forever() -> None:
    await asyncio.Event().wait()


async def test_its_own_further_check_comes_before_it_is_called() -> None:
    done: list[int] = []

    async def check(ctx: RunContext[None], number: int) -> None:
        if number > 3:
            raise ModelRetry("at most 3")

    def add(number: int) -> None:
        """Add."""
        done.append(number)

    one = only(FunctionToolset([Tool(add, args_validator=check)]))
    await called(one, number=3)
    with pytest.raises(Rejected, match="at most 3"):
        await called(one, number=4)
    assert done == [3]


async def test_what_it_says_beside_its_result_is_told_too() -> None:
    def look() -> ToolReturn:
        """Look."""
        return ToolReturn(3, content=["three", "of them"], metadata={"not": "told"})

    assert await called(only(FunctionToolset([look]))) == {"result": 3, "content": "three\nof them"}


async def test_a_function_of_one_model_has_that_models_fields() -> None:
    def send(parcel: Parcel) -> str:
        """Send."""
        return f"{parcel.on:%A} to {parcel.city}"

    one = only(FunctionToolset([send]))
    assert write_down(one.check({"city": "Bern"})) == {"city": "Bern", "on": "2026-12-01"}
    assert await called(one, city="Bern") == "Tuesday to Bern"


def test_a_secret_of_one_model_could_not_be_kept_and_is_refused() -> None:
    def log_in(login: Login) -> None:
        """Log in."""

    with pytest.raises(InvalidCall):
        only(FunctionToolset([log_in])).check({"password": "hunter2"})


async def test_a_secret_parameter_reaches_its_function() -> None:
    def log_in(password: SecretStr) -> str:
        """Log in."""
        return password.get_secret_value()

    one = only(FunctionToolset([log_in]))
    assert "hunter2" not in repr(one.check({"password": "hunter2"}))
    assert await called(one, password="hunter2") == "hunter2"


async def test_prefixes_and_filters_hold() -> None:
    toolset = FunctionToolset([act, forever_named]).filtered(lambda _, one: one.name == "act")
    one = only(toolset.prefixed("shop"), effects={"shop_act": "idempotent"})
    assert (one.name, one.effect) == ("shop_act", "idempotent")
    assert await called(one, day="2026-12-01") == "Tuesday 2.50 ()"


def forever_named() -> None:
    """Wait."""


def test_what_it_wants_a_yes_to_always_is_asked_unless_a_rule_says_otherwise() -> None:
    one = only(FunctionToolset([Tool(act, requires_approval=True)]))
    assert one.asks(one.check({"day": "2026-12-01"})) == (True, "Act always needs a yes")


def of_schema_alone() -> FunctionToolset[Any]:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    return FunctionToolset([Tool.from_schema(lambda **_: None, "act", "Do it.", schema)])


@pytest.mark.parametrize(
    ("toolset", "why"),
    [
        (of_schema_alone(), "checks none of its arguments"),
        (FunctionToolset([Tool(act, sequential=True)]), "is to run alone"),
        (FunctionToolset([Tool(act, name="shop.act")]), "has a name that models and rules"),
        (ExternalToolset([ToolDefinition(name="act", description="Do it.")]), "is external"),
        (FunctionToolset([Tool(act, description="")]), "needs a description"),
    ],
)
def test_what_could_not_be_kept_refuses_the_start(toolset: Any, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        from_toolset(toolset)


def test_a_name_that_it_does_not_have_is_a_slip() -> None:
    with pytest.raises(ConfigError, match="no tool acts; there are: act"):
        from_toolset(FunctionToolset([act]), effects={"acts": "read"})


def test_a_toolset_that_fails_says_so() -> None:
    def prepare(ctx: RunContext[None], tool_def: ToolDefinition) -> None:
        raise OSError("away")

    with pytest.raises(ConfigError, match="can't say what its tools are: OSError: away"):
        from_toolset(FunctionToolset([Tool(act, prepare=prepare)]))


async def test_an_agent_has_what_a_module_holds_of_it() -> None:
    """Also where the module is imported under a running loop."""
    module = ModuleType("shop_tools")
    module.__dict__["tools"] = from_toolset(FunctionToolset([act]))
    assert [one.name for one in Toolbox.of_modules([module])] == ["act"]


def test_every_call_has_what_it_must_have_and_what_is_filled_in() -> None:
    toolset: FunctionToolset[None] = FunctionToolset()

    @toolset.tool_plain
    def send(to: str, force: bool = False) -> str:
        """Send it."""
        return to

    taken = only(toolset)
    assert taken.always_has == taken.check({"to": "a"}).model_dump().keys()
