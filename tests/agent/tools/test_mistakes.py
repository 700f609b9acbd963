"""Every mistake in a declaration is said at once, where the tool is declared, and says what to do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import timedelta
from typing import Annotated, Any

import pytest
from pydantic import Field

from agent import Committed, ToolContext, tool
from agent.errors import ConfigError
from agent.tools.mistakes import gathering_mistakes


def act(n: int, context: ToolContext) -> None:
    """Act."""


async def plainly(n: int) -> bool:
    return n > 3


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"effect": "maybe"}, "has the effect 'maybe'; say read, idempotent or once."),
    ({"timeout": 0}, "needs a timeout above zero"),
    ({"timeout": timedelta(seconds=-1)}, "needs a timeout above zero"),
    ({"timeout": "5 s"}, "needs a timeout above zero, in seconds or a timedelta, not '5 s'."),
    ({"timeout": float("nan")}, "needs a timeout above zero"),
    (
        {"timeout": 8e13},
        "needs a timeout above zero, in seconds or a timedelta, not 80000000000000.0. The longest is a year.",
    ),
    ({"timeout": 1e300}, "needs a timeout above zero"),
    ({"approval": plainly}, "has an async approval"),
    (
        {"approval": lambda m: True},
        "calls its approval as approval(n=…), and it takes other arguments: ",
    ),
    ({"preview": lambda n, context: ""}, "calls its preview as preview(n=…), and it takes"),
    ({"preview": lambda: ""}, "calls its preview as preview(n=…), and it takes"),
    ({"preview_must_match": True}, "has no preview that could match."),
    ({"title": 5}, "has the title 5, which is no text."),
    ({"approval": "no"}, "has the approval 'no'; say True, False or a predicate"),
    ({"preview": "it is sent"}, "has the preview 'it is sent', which is no function."),
    ({"reconcile": "find"}, "has the reconcile 'find', which is no function."),
    ({"reconcile": lambda: None}, "calls its reconcile as reconcile(operation_id), and it takes"),
    ({"reconcile": lambda a, b: None}, "calls its reconcile as reconcile(operation_id)"),
]


@pytest.mark.parametrize(("declared", "said"), MISTAKES)
def test_a_wrong_declaration_is_refused_in_words(declared: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        tool(**declared)(act)
    assert f"The tool act {said}" in str(caught.value)


@pytest.mark.parametrize(
    "declared",
    [
        {"effect": "idempotent"},
        {"timeout": 0.5},
        {"preview": lambda **values: ""},
        {"preview": lambda n, note="": ""},
        {"reconcile": lambda operation_id, tries=3: Committed()},
        {"reconcile": dict[str, str]().get},
        {"approval": lambda n: n > 3},
    ],
)
def test_what_fits_is_taken(declared: dict[str, Any]) -> None:
    assert tool(**declared)(act).name == "act"


def no_doc(n: int) -> None: ...


def starred(*n: int) -> None:
    """Act."""


def keywords(**n: int) -> None:
    """Act."""


def by_place(n: int, /) -> None:
    """Act."""


def generates(n: int) -> Iterator[int]:
    """Act."""
    yield n


async def generates_too(n: int) -> AsyncIterator[int]:
    """Act."""
    yield n


def two_contexts(one: ToolContext, two: ToolContext | None = None) -> None:
    """Act."""


def of_no_type(n: "Nowhere") -> None:  # type: ignore[name-defined]  # noqa: F821, UP037
    """Act."""


def of_no_json(n: Callable[[int], int]) -> None:
    """Act."""


def of_a_wrong_default(n: Annotated[int, Field(gt=3)] = 2) -> None:
    """Act."""


def étrange(n: int) -> None:
    """Act."""


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (no_doc, "needs a docstring: the model reads it."),
        (starred, "has the parameter *n: a model has to be told each argument by its name"),
        (keywords, "has the parameter **n: a model has to be told"),
        (by_place, "takes n by its place alone"),
        (generates, "yields: it has to return its result"),
        (generates_too, "yields: it has to return its result"),
        (two_contexts, "has two parameters of the type ToolContext"),
        (of_no_type, "has an annotation that can't be read (NameError: name 'Nowhere'"),
        (of_no_json, "has a parameter that can't be described"),
        (of_a_wrong_default, "can't have the parameter n: its default does not fit its type"),
        (étrange, "needs a name of up to 64 letters"),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_function_that_can_be_no_tool_is_refused_in_words(
    function: Callable[..., Any], said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        tool(function)
    name, line = function.__name__, function.__code__.co_firstlineno
    assert str(caught.value).startswith(f"{__file__}:{line}: The tool {name} {said}")


def test_all_of_one_tool_is_said_a_line_each() -> None:
    with pytest.raises(ConfigError) as caught:
        tool(effect="idempotent", timeout=0)(no_doc)
    said = str(caught.value).splitlines()
    assert [line.split("The tool no_doc ")[1][:20] for line in said] == [
        "needs a docstring: t",
        "is idempotent, and h",
        "needs a timeout abov",
    ]


def test_gathered_they_are_raised_by_nobody() -> None:
    with gathering_mistakes() as found:
        tool(no_doc)
        tool(starred)
        tool(act)
    assert [one.tool for one in found] == ["no_doc", "starred"]
    with pytest.raises(ConfigError):
        tool(no_doc)


def maybe_told(n: int, context: Annotated[ToolContext | None, "who asks"] = None) -> None:
    """Act."""


def test_a_context_that_may_be_none_is_still_no_argument() -> None:
    declared = tool(effect="idempotent")(maybe_told)
    assert (declared.context_name, set(declared.parameters["properties"])) == ("context", {"n"})
