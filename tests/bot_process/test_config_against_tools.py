"""``pilothouse.yml`` beside the tools that there are: what names none of them, or asks nobody about one."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.config import load_config
from bot.settings import DEMO_CONFIG
from tests.bot_process.configs import GOOD, refusal


def test_what_could_be_asked_of_nobody_refuses_the_start(tmp_path: Path) -> None:
    without_owners = "".join(GOOD.splitlines(keepends=True)[1:])
    rule = "policy:\n- {tool: 'process_*', action: ask}\n- {tool: '*', action: allow}\n"
    said = refusal(tmp_path, without_owners + rule)
    assert said.startswith("4: policy[0]: process_refund may be asked (ask process_*), and nobody")


def test_a_tool_that_asks_by_itself_needs_owners(tmp_path: Path) -> None:
    said = refusal(tmp_path, "".join(GOOD.splitlines(keepends=True)[1:]))
    assert "may be asked (the tool's own approval), and nobody could decide it" in said


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (
            "tool: process_refund\n  when: args.amonut > 1\n  action: ask",
            "6: policy[0].when: process_refund has no argument amonut; there are: amount, order."
            " Did you mean amount?",
        ),
        (
            "tool: process_refund\n  action: ask\n  reason: '{args.amonut}'",
            "7: policy[0].reason: process_refund has no argument amonut; there are: amount, order."
            " Did you mean amount?",
        ),
        (
            "tool: '*'\n  when: has(args.colour)\n  action: ask",
            "6: policy[0].when: none of the tools of * has an argument colour; there are: amount, ",
        ),
    ],
)
def test_an_argument_that_no_tool_of_the_rule_has_is_named(
    tmp_path: Path, rule: str, said: str
) -> None:
    assert refusal(tmp_path, f"{GOOD}policy:\n- {rule}\n").startswith(said)


def test_an_argument_that_one_tool_of_a_glob_has_will_do(tmp_path: Path) -> None:
    file = tmp_path / "pilothouse.yml"
    file.write_text(
        GOOD
        + "policy:\n- {tool: '*', when: 'has(args.topic)', action: ask, reason: '{args.order}'}\n"
    )
    assert load_config(file).policy.rules


def test_a_rule_for_a_tool_that_nobody_has_is_told_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "pilothouse.yml"
    file.write_text(
        "agents:\n  a: {model: demo, tools: [bot.demo.tools]}\nowners: {users: [U01]}\n"
        "policy:\n- {tool: proces_refund, action: deny}\n"
    )
    (unknown,) = load_config(file).unknown_tools
    assert unknown.tool == "proces_refund"
    told = f"{file}:5: policy[0].tool: no agent has a tool proces_refund; there are: "
    assert unknown.message.startswith(told)


def test_a_glob_and_a_tool_that_is_there_are_no_slips() -> None:
    assert load_config(DEMO_CONFIG).unknown_tools == ()
