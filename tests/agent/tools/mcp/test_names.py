"""Which names are taken: none that a rule could take for another."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from agent.tools.mcp.names import alike, why_no_server, why_no_tool

GOOD = ("git", "git_commit", "read-file", "Add2", "a" * 30)
SLIPPERY = (
    *("", "a.b", "a/b", "a b", "a\nb", "a\x00", "аdd", "add\u200b", "\u202eadd", "add*", "[add]"),
    *("add?", "ａdd", "add\n", "a\u0308dd", "it's"),
)


@pytest.mark.parametrize("name", GOOD)
def test_plain_names_are_taken(name: str) -> None:
    assert why_no_server(name) is None
    assert why_no_tool(name) is None


@pytest.mark.parametrize("name", SLIPPERY, ids=ascii)
def test_what_could_slip_out_of_a_rule_is_refused(name: str) -> None:
    assert "letters" in str(why_no_server(name))
    why = why_no_tool(name)
    assert why is not None
    assert why.isascii(), "whoever reads it sees what is there"


@pytest.mark.parametrize(("name", "is_right"), [("9a", False), ("-a", False), ("a" * 31, False)])
def test_a_server_begins_with_a_letter_and_is_short(name: str, is_right: bool) -> None:
    assert (why_no_server(name) is None) is is_right


def test_a_tool_stays_below_its_server() -> None:
    assert all(fnmatchcase(f"git.{name}", "git.*") for name in GOOD)
    assert not any(fnmatchcase(f"github.{name}", "git.*") for name in GOOD)


def test_names_that_differ_in_case_alone_are_found() -> None:
    assert list(alike(["add", "Add", "sub", "ADD"])) == [("add", "Add"), ("add", "ADD")]
    assert list(alike(["add", "".join(["ad", "d"])])) == [("add", "add")]
    assert list(alike(["add", "sub"])) == []
