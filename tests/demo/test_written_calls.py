"""What is written out to the demo's model becomes calls of any agent's tools."""

from __future__ import annotations

import time
from datetime import date
from typing import Annotated, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from agent import tool
from agent.rules.json_text import dump_text
from agent.tools.registry import Toolbox
from bot.demo.written_calls import calls_in, changes_in, how_to_write, in_short
from tests.examples import examples


class Window(BaseModel):
    """When."""

    day: date
    hours: int = 1


@tool(effect="once")
def deploy(
    service: str,
    version: Annotated[str, Field(pattern=r"^\d+(\.\d+)*$")],
    environment: Literal["staging", "production"] = "staging",
) -> None:
    """Deploy a version of a service.

    It takes a minute.
    """


@tool(effect="read")
def read_status(service: str) -> None:
    """Say what runs."""


@tool(effect="once")
def note_down(text: str, importance: int = 1, tags: tuple[str, ...] = ()) -> None:
    """Write something down."""


@tool(effect="once")
def book(amount: float, is_urgent: bool, window: Window | None = None) -> None:
    """Book."""


TOOLS = Toolbox([deploy, read_status, note_down, book]).specs
SPECS = {spec.name: spec for spec in TOOLS}


@pytest.mark.parametrize(
    ("words", "tool", "args"),
    [
        ("deploy web 1.5", "deploy", {"service": "web", "version": "1.5"}),
        ("`Deploy web 1.5`", "deploy", {"service": "web", "version": "1.5"}),
        (
            "please use deploy service=web version=1.5",
            "deploy",
            {"service": "web", "version": "1.5"},
        ),
        ("deploy version=1.5 web", "deploy", {"service": "web", "version": "1.5"}),
        ("deploy service: web version:1.5", "deploy", {"service": "web", "version": "1.5"}),
        ("deploy service=", "deploy", {"service": ""}),
        (
            "deploy web 1.5 production",
            "deploy",
            {"service": "web", "version": "1.5", "environment": "production"},
        ),
        ("read status web", "read_status", {"service": "web"}),
        ("read-status “the web”", "read_status", {"service": "the web"}),
        ("read_status", "read_status", {}),
        (
            'note down buy milk and eggs importance=3 tags=home,"for two"',
            "note_down",
            {"text": "buy milk and eggs", "importance": 3, "tags": ["home", "for two"]},
        ),
        ('note_down "say; then deploy web"', "note_down", {"text": "say; then deploy web"}),
        ("note_down don't", "note_down", {"text": "don't"}),
        ('note_down x tags=["a","b c"]', "note_down", {"text": "x", "tags": ["a", "b c"]}),
        ("book $1,250.50 yes", "book", {"amount": 1250.5, "is_urgent": True}),
        (
            'book 3 no window={"day":"2026-12-01"}',
            "book",
            {"amount": 3, "is_urgent": False, "window": {"day": "2026-12-01"}},
        ),
        ("book 3 no none", "book", {"amount": 3, "is_urgent": False, "window": None}),
        # What does not fit goes on as it is: it is the tool that says what is wrong with it.
        ("book much perhaps", "book", {"amount": "much", "is_urgent": "perhaps"}),
        (
            "book 0.12345678901234567891 no",
            "book",
            {"amount": "0.12345678901234567891", "is_urgent": False},
        ),
    ],
)
def test_a_call_is_its_tools_name_and_its_values(
    words: str, tool: str, args: dict[str, object]
) -> None:
    (call,) = calls_in(words, TOOLS)
    assert (call.tool, call.args) == (tool, args)


def test_several_are_made_at_once_or_one_after_the_other() -> None:
    words = "read_status web; deploy web 1.5 and deploy db 2\nread status db then book 3 no"
    calls = calls_in(words, TOOLS)
    assert [(call.tool, call.is_then) for call in calls] == [
        ("read_status", False),
        ("deploy", False),
        ("deploy", False),
        ("read_status", False),
        ("book", True),
    ]


@pytest.mark.parametrize(
    "words",
    [
        "",
        "kindly deploy web 1.5",
        "hello",
        "deployed web",
        '"deploy" web',
        "read status web; thanks",
    ],
)
def test_what_is_not_all_calls_is_none(words: str) -> None:
    assert calls_in(words, TOOLS) == ()


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        ("version=1.6", {"version": "1.6"}),
        ("version=1.6; environment: x", {"version": "1.6", "environment": "x"}),
        ("version=1.6 please", {}),
        ("", {}),
    ],
)
def test_values_alone_change_a_call(words: str, changes: dict[str, object]) -> None:
    assert changes_in(words, SPECS["deploy"]) == changes


def test_it_says_how_each_call_is_written() -> None:
    assert how_to_write(SPECS["deploy"]) == "deploy SERVICE VERSION [environment=…]"
    assert next(iter(in_short(TOOLS))) == (
        "• `deploy SERVICE VERSION [environment=…]`: Deploy a version of a service."
    )


@pytest.mark.parametrize("word", ["and ", "then; ", "please ", "x ", '"', "a="])
def test_what_is_long_is_read_in_a_time_that_grows_with_it(word: str) -> None:
    begun = time.process_time()
    calls_in(f"note_down {word * 40_000}", TOOLS)
    assert time.process_time() - begun < 5


PARTS = (
    *(
        "deploy",
        "note_down",
        "book",
        "read",
        "status",
        "and",
        "then",
        ";",
        "\n",
        " ",
        "=",
        ":",
        ",",
    ),
    *("service=", "tags=", "window=", "amount=", '"', "“", "”", "'", "`", "[", "]", "{", "}", "$"),
    *(
        "1",
        "-1",
        "1.5",
        "1,000",
        "9" * 5_000,
        "[" * 5_000,
        "NaN",
        "[NaN]",
        "Infinity",
        "yes",
        "none",
    ),
    *("\ud800", "ß", "İ"),
)


@given(st.lists(st.sampled_from(PARTS) | st.text(max_size=5), max_size=12))
@settings(deadline=None, max_examples=examples(100))
def test_whatever_is_written_gives_calls_that_are_json_or_none(parts: list[str]) -> None:
    words = "".join(parts)
    for call in calls_in(words, TOOLS):
        assert call.tool in SPECS
        dump_text(call.args)
    dump_text(changes_in(words, SPECS["book"]))
