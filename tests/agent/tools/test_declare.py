"""What an author writes, and what becomes of it."""

from __future__ import annotations

import asyncio
import sys
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from types import ModuleType
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, Field, JsonValue

from agent import Money, Toolbox, ToolContext, tool
from agent.errors import ConfigError
from agent.rules.ids import CallId, OperationId, Principal, RunId
from agent.rules.judgement import InvalidCall
from agent.tools.running import run_function

CONTEXT = ToolContext(
    OperationId("op_1"), RunId("run_1"), CallId("call_1"), 1, "tester", Principal("cli:test")
)


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


class Item(BaseModel):
    name: str
    count: int = 1


@tool(title="Order things", approval=False, effect="idempotent", timeout=3)
def order_things(
    context: ToolContext,
    items: list[Item],
    price: Annotated[Decimal, Field(gt=0), Money("USD")],
    due: date | None = None,
    size: Size = Size.SMALL,
    how: Literal["slow", "fast"] = "slow",
) -> str:
    """Order things from the warehouse.

    They come in boxes.

    Args:
        items: What to order.
        price: What it may cost.
    """
    return f"{context.operation_id} {items[0].name} {price} {due} {size.value} {how}"


def test_the_model_is_told_name_description_and_arguments() -> None:
    spec = order_things.spec
    assert spec.name == "order_things"
    assert spec.description == "Order things from the warehouse.\n\nThey come in boxes."
    assert set(spec.parameters["properties"]) == {"items", "price", "due", "size", "how"}
    assert spec.parameters["required"] == ["items", "price"]
    assert spec.parameters["properties"]["items"]["description"] == "What to order."
    assert spec.parameters["properties"]["price"] == {
        "title": "Price",
        "description": "What it may cost.",
        "type": "number",
        "format": "money",
        "x-currency": "USD",
        "exclusiveMinimum": 0.0,
    }


async def test_arguments_go_through_json_and_come_back_as_what_they_are() -> None:
    given: dict[str, JsonValue] = {
        "items": [{"name": "cup"}],
        "price": "12.50",
        "due": "2026-12-01",
        "size": "large",
    }
    plain = order_things.check(given).model_dump(mode="json")
    assert plain == {
        "items": [{"name": "cup", "count": 1}],
        "price": 12.5,
        "due": "2026-12-01",
        "size": "large",
        "how": "slow",
    }
    again = order_things.check(plain)
    assert again.model_dump(mode="json") == plain
    said = await run_function(order_things.function, **order_things.bind(again, CONTEXT))
    assert said == "op_1 cup 12.50 2026-12-01 large slow"


@pytest.mark.parametrize(
    ("given", "field", "words"),
    [
        ({"price": 1}, "items", "This is needed."),
        ({"items": [], "price": "abc"}, "price", "Enter a number, such as 90 or 90.50."),
        ({"items": [], "price": "NaN"}, "price", "Enter a number, such as 90 or 90.50."),
        ({"items": [], "price": 0}, "price", "It must be more than 0."),
        ({"items": [], "price": "1.234"}, "price", "USD has no more than 2 digits"),
        ({"items": [], "price": 1, "x": 2}, "x", "There is no such argument."),
        ({"items": [], "price": 1, "how": "no"}, "how", "It must be 'slow' or 'fast'."),
        ({"items": [{"name": "a", "count": 1.5}], "price": 1}, "items", "Enter a whole number."),
    ],
)
def test_a_wrong_argument_is_named_with_a_sentence(
    given: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(InvalidCall) as caught:
        order_things.check(given)
    assert set(caught.value.errors) == {field}
    assert words in caught.value.errors[field]


@pytest.mark.parametrize("number", [2**53 + 1, "x" + "\ud800"])
def test_what_has_no_canonical_form_is_refused_and_not_a_crash(number: Any) -> None:
    @tool
    def count(n: Any) -> None:
        """Count."""

    with pytest.raises(InvalidCall):
        count.check({"n": number})


def test_money_beyond_a_double_keeps_its_digits() -> None:
    exact = "12345678901234567.89"
    plain = order_things.check({"items": [], "price": exact}).model_dump(mode="json")
    assert plain["price"] == exact


def test_the_schema_digest_changes_with_the_arguments_alone() -> None:
    def declared(annotation: Any, doc: str) -> str:
        def act(n: Any) -> None: ...

        act.__doc__, act.__annotations__["n"] = doc, annotation
        return tool(act).schema_digest

    assert declared(int, "One.") == declared(int, "Another.")
    assert declared(int, "One.") != declared(str, "One.")


def _no_doc(n: int) -> None: ...


def _star(*n: int) -> None:
    """Do it."""


def _untyped(n: int) -> None:
    """Do it."""


_untyped.__annotations__.clear()


@pytest.mark.parametrize("function", [_no_doc, _star, _untyped])
def test_a_function_that_can_not_be_a_tool_is_refused_by_name(function: Any) -> None:
    with pytest.raises(ConfigError, match=function.__name__):
        tool(function)


class _Callable:
    """Do it."""

    def __call__(self) -> None: ...


def _act(n: int) -> None:
    """Do it."""


@pytest.mark.parametrize(
    ("what", "why"),
    [
        (partial(_act, 1), "given an object of the type partial. Write a function that calls it."),
        (_Callable(), "given an object of the type _Callable."),
        (tool(_act), "given _act, which is a tool already."),
    ],
)
def test_only_a_function_is_made_a_tool(what: Any, why: str) -> None:
    with pytest.raises(ConfigError, match=f"^@tool takes a function, and was {why}"):
        tool(what)


@pytest.mark.parametrize("wrong", [{"effect": "maybe"}, {"timeout": 0}])
def test_a_wrong_declaration_is_refused(wrong: dict[str, Any]) -> None:
    def act() -> None:
        """Do it."""

    with pytest.raises(ConfigError, match="act"):
        tool(**wrong)(act)


@pytest.mark.parametrize(
    ("approval", "asks"),
    [(None, True), (True, True), (False, False), (lambda n: n > 3, True), (lambda n: n > 9, False)],
)
def test_its_own_word_where_no_rule_matches(approval: Any, asks: bool) -> None:
    def act(n: int) -> None:
        """Do it."""

    declared = tool(approval=approval)(act)
    assert declared.asks(declared.check({"n": 5}))[0] is asks


@pytest.mark.parametrize("approval", [None, False, lambda n, m: True])
def test_what_may_go_without_a_yes_does_not_say_that_it_needs_one(approval: Any) -> None:
    def act(n: int, m: int = 0) -> None:
        """Do it."""

    assert tool(approval=approval)(act).needs_a_yes is None
    declared = tool(approval=True)(act)
    assert declared.needs_a_yes == "says itself that it needs a yes each time"
    # What a call leaves out is filled in before a condition reads it.
    assert declared.always_has == declared.check({"n": 1}).model_dump().keys()


def test_a_predicate_that_raises_asks() -> None:
    def broken(n: int) -> bool:
        raise ValueError(n)

    def act(n: int) -> None:
        """Do it."""

    declared = tool(approval=broken)(act)
    assert declared.asks(declared.check({"n": 5})) == (
        True,
        "the tool's own check failed: ValueError",
    )


def leave(n: int) -> int:
    if n > 100:
        sys.exit(3)
    return n


def test_a_validator_that_ends_the_program_ends_a_call() -> None:
    def act(n: Annotated[int, AfterValidator(leave)]) -> None:
        """Do it."""

    declared = tool(act)
    with pytest.raises(InvalidCall) as refused:
        declared.check({"n": 101})
    assert refused.value.errors == {
        "arguments": "The tool's own check of them failed: RuntimeError."
    }


class Proxy:
    """Of something that is not there yet, as web frameworks have them."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        raise RuntimeError("working outside of a request")


def test_what_else_stands_in_a_module_is_not_touched() -> None:
    module = ModuleType("shop")
    module.__dict__.update(request=Proxy(), order_things=order_things)
    assert [t.name for t in Toolbox.of_modules([module])] == ["order_things"]


def test_a_toolbox_takes_every_tool_of_its_modules_and_no_name_twice() -> None:
    module, empty = ModuleType("shop"), ModuleType("nothing")
    module.__dict__["order_things"] = order_things
    module.__dict__["same"] = order_things
    assert [t.name for t in Toolbox.of_modules([module])] == ["order_things"]
    with pytest.raises(ConfigError, match="nothing"):
        Toolbox.of_modules([empty])

    def order_things_() -> None:
        """Do it."""

    order_things_.__name__ = "order_things"
    with pytest.raises(ConfigError, match="order_things"):
        Toolbox([order_things, tool(order_things_)])


async def test_a_slow_thread_keeps_nobody_waiting() -> None:
    import threading

    release = threading.Event()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(timedelta(milliseconds=10).total_seconds()):
            await run_function(release.wait)
    release.set()
