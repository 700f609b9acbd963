"""``policy check``, as its user sees it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine

FILE = """\
owners: {groups: [S0OWNERS]}
agents:
  refunds: {model: demo, tools: [bot.demo.tools]}
policy:
  - {tool: "*", when: args.amount > 100, action: ask}
  - {tool: search_policy, action: allow}
tests:
  - {tool: process_refund, args: {order: ORD-1, amount: 180}, requester: U0ALICE, expect: ask}
"""
FAILING = (
    "  - {tool: send_voucher, args: {order: ORD-1, amount: 5}, requester: U0BOB, expect: deny}\n"
)


@pytest.fixture
def file(pilothouse: CommandLine) -> str:
    path = pilothouse.folder / "own.yml"
    path.write_text(FILE + FAILING)
    return str(path)


def test_it_tells_what_to_look_at_which_tests_fail_and_by_which_rule(
    pilothouse: CommandLine, file: str
) -> None:
    ended = pilothouse.inside("policy", "check", "own.yml")
    assert ended.code == 1
    warning, columns, fine, failing, summary = (line.rstrip() for line in ended.lines)
    assert warning.startswith(
        f"warning: {file}:5: policy[0].when: search_policy, check_order have no"
    )
    assert columns.split() == ["TEST", "LINE", "TOOL", "EXPECTED", "GOT", "BY"]
    assert fine.split(maxsplit=5) == [
        *("passes", "8", "process_refund", "ask", "ask"),
        "line 5: ask * when args.amount > 100",
    ]
    assert failing.split(maxsplit=5)[:5] == ["FAILS", "9", "send_voucher", "deny", "ask"]
    assert failing.endswith(
        "no rule matches; the tool's own approval decides; deny was expected, and it is ask"
    )
    assert summary.startswith(f"{file}: no errors, 1 warning, 2 tests, 1 of them fails; policy ")
    assert list(pilothouse.folder.iterdir()) == [pilothouse.folder / "own.yml"]


def test_a_rule_that_could_not_be_checked_is_told_as_such(pilothouse: CommandLine) -> None:
    own = FILE.replace("args.amount > 100, action: ask", "requester.kind == 'guest', action: deny")
    (pilothouse.folder / "own.yml").write_text(own)
    lines = pilothouse.inside("policy", "check", "own.yml").lines
    (test,) = (line for line in lines if line.startswith("passes"))
    assert test.rstrip().endswith(
        "line 5: deny * when requester.kind == 'guest'; could not be checked, and so it asks: it is not"
        " known what kind of account asked for the run: the example does not say"
    )


def test_for_a_program_it_is_one_object(pilothouse: CommandLine, file: str) -> None:
    pilothouse.settings["PILOTHOUSE_CONFIG"] = file
    ended = pilothouse.inside("policy", "check", "--json")
    assert ended.code == 1
    assert ended.json["file"] == file
    assert ended.json["fine"] is False
    assert ended.json["errors"] == []
    (warning,) = ended.json["warnings"]
    assert (warning["line"], warning["key"]) == (5, "policy[0].when")
    assert [(one["line"], one["passes"], one["rule_line"]) for one in ended.json["tests"]] == [
        (8, True, 5),
        (9, False, None),
    ]
    assert len(ended.json["digest"]) == 64


def test_a_file_that_is_wrong_says_where_and_one_that_is_not_there_is_wrong_use(
    pilothouse: CommandLine,
) -> None:
    (pilothouse.folder / "own.yml").write_text("agents: {a: {model: demo}}\npolcy: []\n")
    ended = pilothouse.inside("policy", "check", "own.yml")
    assert (ended.code, ended.lines[0]) == (
        1,
        f"error: {pilothouse.folder / 'own.yml'}:2: polcy: there is no such key; did you mean policy?",
    )
    assert ended.lines[1].endswith("own.yml: 1 error; nothing more was looked at.")
    assert pilothouse.inside("policy", "check", "other.yml").code == 2


def test_the_manual_shows_what_it_says(pilothouse: CommandLine) -> None:
    manual = (Path(__file__).parents[2] / "docs" / "policy.md").read_text()
    section = manual.partition("## Check it before it holds\n")[2].partition("\n## ")[0]
    text, checked, explained = re.findall(r"^```\w+\n(.*?)^```", section, re.S | re.M)
    (pilothouse.folder / "pilothouse.yml").write_text(text)
    ended = pilothouse.inside("policy", "check", "pilothouse.yml")
    shown = ended.out.replace(f"{pilothouse.folder}/", "")
    assert [line.rstrip() for line in shown.splitlines()] == checked.splitlines()
    args = ("--tool", "process_refund", "--args", '{"order": "ORD-1", "amount": 180}')
    file = ("--file", "pilothouse.yml")
    ended = pilothouse.inside("policy", "explain", *args, "--requester", "U0ALICE", *file)
    shown = ended.out.replace(f"{pilothouse.folder}/", "")
    assert shown.splitlines() == explained.splitlines()[1:]
