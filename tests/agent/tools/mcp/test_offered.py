"""What is made of a tool that a server offers: its words tighten, and never loosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agent.errors import ConfigError
from agent.rules.ids import OperationId
from agent.tools.context import Committed
from agent.tools.mcp.offered import Offered, all_taken, as_tool
from agent.tools.mcp.settings import ServerSettings
from agent.tools.mcp.tool import McpTool

NOTHING: dict[str, Any] = {"type": "object", "title": "Arguments"}
GIT = ServerSettings("git")


async def send(tool: McpTool, arguments: Mapping[str, Any], operation: OperationId) -> Committed:
    return Committed((tool.name, arguments, operation))


def offered(name: str = "log", title: str = "Log", **more: Any) -> Offered:
    return Offered(**{"name": name, "title": title, "description": "x", "schema": NOTHING} | more)


@pytest.mark.parametrize(
    ("reads", "says_it_reads", "says_it_destroys", "effect"),
    [
        ((), None, None, "once"),
        # A server's word makes no call repeatable.
        ((), True, False, "once"),
        (("l*",), None, None, "read"),
        (("l*",), True, False, "read"),
        (("l*",), False, None, "once"),
        (("l*",), True, True, "once"),
        (("x*",), True, None, "once"),
    ],
)
def test_what_may_be_done_again(
    reads: tuple[str, ...], says_it_reads: bool | None, says_it_destroys: bool | None, effect: str
) -> None:
    one = offered(says_it_reads=says_it_reads, says_it_destroys=says_it_destroys)
    assert as_tool(one, ServerSettings("git", reads=reads), send).effect == effect


@pytest.mark.parametrize("says_it_reads", [None, True, False])
def test_it_is_asked_about_whatever_it_says(says_it_reads: bool | None) -> None:
    tool = as_tool(offered(says_it_reads=says_it_reads), GIT, send)
    assert tool.may_ask()
    assert tool.asks(tool.check({}))[0] is True


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("log", "git.log"),
        ("", "git.log"),
        ("Read the log", "Read the log (git.log)"),
        ("A\u202e\x1b[31mB\n", "AB (git.log)"),
        ("x" * 200, "x" * 80 + " (git.log)"),
    ],
)
def test_its_own_name_stands_beside_its_title(title: str, shown: str) -> None:
    assert as_tool(offered(title=title), GIT, send).title == shown


def test_a_change_of_its_schema_is_a_change_of_its_digest_and_nothing_else_is() -> None:
    before = as_tool(offered(), GIT, send)
    again = as_tool(
        offered(title="Other", schema={"type": "object", "title": "B"}), GIT, send, before
    )
    assert again.schema_digest == before.schema_digest
    assert again.arguments is before.arguments
    more = as_tool(offered(schema={"type": "object", "required": ["a"]}), GIT, send, before)
    assert more.schema_digest != before.schema_digest
    assert more.arguments is not before.arguments


REFUSED = {
    "a separator": (["log", "a.log"], "a tool named 'a.log'"),
    "a look-alike": (["l\u043eg"], r"a tool named 'l\u043eg'"),
    "case alone": (["log", "Log"], "its tools log and Log differ in case alone"),
    "twice": (["log", "log"], "its tools log and log differ in case alone"),
    "none": ([], "has none of the tools"),
}


@pytest.mark.parametrize(("names", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cant_be_taken_is_refused(names: list[str], why: str) -> None:
    with pytest.raises(ConfigError) as refused:
        all_taken(map(offered, names), GIT, send)
    assert why in str(refused.value)


def test_a_schema_that_cant_be_judged_is_refused_by_its_tool() -> None:
    odd = offered(schema={"type": "object", "properties": {"a": {"$ref": "#"}}})
    with pytest.raises(ConfigError, match="the schema of log can't be judged: it refers to itself"):
        all_taken([odd], GIT, send)
    infinite = offered(schema={"type": "object", "maxProperties": 2**60})
    with pytest.raises(ConfigError, match="no canonical form"):
        all_taken([infinite], GIT, send)


def test_what_is_left_out_is_not_looked_at() -> None:
    only = ServerSettings("git", tools=("log",))
    assert set(all_taken([offered(), offered("a.b")], only, send)) == {"git.log"}
