"""What is found out of a file without starting it: what is wrong, what can't be meant, and whether its tests pass."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.rules.ids import Principal, RunId, SessionId
from agent.rules.state import RunState
from bot.config import load_config
from bot.marked_yaml import Problem
from bot.policy_checking import Checked, check_file
from bot.policy_trying import CantBeJudged, weigh_call
from bot.settings import DEMO_CONFIG
from tests.bot_process.configs import refusal

FILE = """\
owners: {groups: [S0OWNERS]}
agents:
  refunds: {model: "openai:gpt-5", tools: [bot.demo.tools]}
policy:
  - {tool: search_policy, action: allow}
  - tool: process_refund
    when: args.amount > 100
    action: ask
    reason: "refund {args.amount} exceeds the $100 threshold"
    approvers: {groups: [S0FINANCE], users: [U0BOB], count: 2}
  - {tool: process_refund, when: 'requester.id == "U0ALICE"', action: allow}
tests:
"""
HIGH = "tool: process_refund, args: {order: ORD-1, amount: 180}"
LOW = "tool: process_refund, args: {order: ORD-1, amount: 20}"


def checked(folder: Path, text: str) -> Checked:
    file = folder / "pilothouse.yml"
    file.write_text(text)
    return asyncio.run(check_file(file, starts_servers=False))


@pytest.mark.parametrize(
    "test",
    [
        f"{HIGH}, requester: U0ALICE, expect: ask",
        f"{HIGH}, requester: 'cli:ops', agent: REFUNDS, channel: C0OPS, session: s, expect: ask",
        f"{HIGH}, requester: U0ALICE, expect: ask, reason: refund $180.00 exceeds the $100 threshold",
        f"{HIGH}, requester: U0ALICE, expect: ask, approvers: {{groups: [S0FINANCE], count: 2}}",
        "tool: process_refund, args: {order: ORD-1, amount: 90}, requester: U0ALICE, expect: allow",
        "tool: process_refund, args: {order: ORD-1, amount: 90}, requester: U0BOB, expect: ask",
        "tool: search_policy, args: {topic: 2026-11-30}, requester: U0BOB, expect: allow",
        f"{HIGH}, requester: U0ALICE, groups: [S0FINANCE], kind: member, tainted: true, expect: ask",
    ],
)
def test_a_test_of_what_the_file_does_passes(tmp_path: Path, test: str) -> None:
    found = checked(tmp_path, f"{FILE}  - {{{test}}}\n")
    assert [(one.passes, one.wrong) for one in found.tests] == [(True, ())]
    assert found.is_fine


@pytest.mark.parametrize(
    ("test", "wrong"),
    [
        (f"{HIGH}, requester: U0ALICE, expect: deny", "deny was expected, and it is ask"),
        (
            f"{HIGH}, requester: U0ALICE, expect: ask, reason: because",
            "the reason was to be 'because', and is 'refund $180.00 exceeds the $100 threshold'",
        ),
        (
            f"{HIGH}, requester: U0ALICE, expect: ask, approvers: {{users: [], count: 1}}",
            "approvers.count was to be 1, and is 2; approvers.users was to be [], and is [U0BOB]",
        ),
        ("tool: pay, requester: U0ALICE, expect: ask", "refunds has no tool pay; there are: "),
        (
            "tool: search_policy, args: {topc: x}, requester: U0ALICE, expect: allow",
            "its arguments do not fit: topic: This is needed.; topc: There is no such argument.",
        ),
        (
            f"{HIGH}, requester: U1, agent: repo, expect: ask",
            "there is no agent repo; there are: refunds",
        ),
    ],
)
def test_a_test_of_something_else_fails_and_says_what_came(
    tmp_path: Path, test: str, wrong: str
) -> None:
    found = checked(tmp_path, f"{FILE}  - {{{test}}}\n")
    (tried,) = found.tests
    assert "; ".join(sorted(tried.wrong)).startswith(wrong)
    assert tried.line == 13
    assert not found.is_fine


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("{tool: pay, requester: U1, expects: ask}", "13: tests[0].expect: this key is needed."),
        (
            "{tool: pay, requester: U1, expect: maybe}",
            "13: tests[0].expect: has to be allow, ask, deny or frozen.",
        ),
        (
            "{tool: pay, requester: U1, expect: ask, at: 2026-11-30T13:00:00}",
            "13: tests[0].at: write a time and its zone, such as 2026-11-30T14:00:00Z.",
        ),
        (
            "{tool: pay, requester: U1, expect: ask, at: noon}",
            "13: tests[0].at: write a time and its zone, such as 2026-11-30T14:00:00Z.",
        ),
        (
            "{tool: pay, requester: bob, expect: ask}",
            "13: tests[0].requester: 'bob' is nobody's id;",
        ),
        (
            "{tool: pay, requester: U1, expect: ask, tainted: 1}",
            "13: tests[0].tainted: has to be true or false.",
        ),
        (
            "{tool: pay, requester: U1, expect: ask, approvers: {}}",
            "13: tests[0].approvers: say who",
        ),
    ],
)
def test_a_test_that_is_written_wrongly_refuses_the_start_as_any_key(
    tmp_path: Path, test: str, said: str
) -> None:
    assert refusal(tmp_path, f"{FILE}  - {test}\n").startswith(said)


FROZEN = """\
freeze:
  - {tools: process_refund, days: [mon], from: "14:00", to: "16:00", zone: Europe/Berlin}
"""


@pytest.mark.parametrize(
    ("at", "args", "comes"),
    [
        ("2026-11-30T13:00:00Z", LOW, "frozen"),
        ("'2026-11-30T14:00:00+01:00'", LOW, "frozen"),
        ("2026-11-30T14:59:59Z", LOW, "frozen"),
        ("2026-11-30T15:00:00Z", LOW, "allow"),
        ("2026-12-01T13:00:00Z", LOW, "allow"),
        # People are asked meanwhile.
        ("2026-11-30T13:00:00Z", HIGH, "ask"),
    ],
)
def test_what_is_allowed_is_frozen_while_a_window_is_open(
    tmp_path: Path, at: str, args: str, comes: str
) -> None:
    found = checked(
        tmp_path, f"{FILE}  - {{{args}, requester: U0ALICE, at: {at}, expect: {comes}}}\n{FROZEN}"
    )
    assert [one.wrong for one in found.tests] == [()]
    # It is frozen at no time in particular.
    text = f"{FILE}  - {{{LOW}, requester: U0ALICE, expect: frozen}}\n{FROZEN}"
    (tried,) = checked(tmp_path, text).tests
    assert tried.wrong == ("frozen was expected, and it is allow",)


def test_what_is_wrong_is_told_one_by_one_with_its_place(tmp_path: Path) -> None:
    found = checked(tmp_path, "agnts: {}\nagents: {a: {model: demo, tool: []}}\n")
    assert [(one.line, one.key) for one in found.errors] == [(2, "agents.a.tool"), (1, "agnts")]
    assert all(one.file == found.file for one in found.errors)
    assert (found.config, found.is_fine) == (None, False)


def test_a_rule_for_a_tool_that_there_is_not_is_an_error(tmp_path: Path) -> None:
    found = checked(
        tmp_path, FILE.replace("search_policy", "serch_policy").removesuffix("tests:\n")
    )
    (error,) = found.errors
    assert str(error).startswith(
        f"{found.file}:5: policy[0].tool: no agent has a tool serch_policy;"
    )
    assert not found.is_fine


def test_warnings_name_file_line_and_key_and_are_no_failure(tmp_path: Path) -> None:
    found = checked(tmp_path, FILE.replace("tests:", '  - {tool: "send_*", action: allow}'))
    assert found.warnings == (
        Problem(
            "2 people have to say yes, and the file does not tell whether S0FINANCE has as many, beside whoever"
            " asked for the run; make sure of it in Slack.",
            found.file,
            10,
            "policy[1].approvers",
        ),
        Problem(
            "send_voucher says itself that it needs a yes each time, and this rule lets it run without; if"
            " that is meant, name the tool in a rule of its own.",
            found.file,
            12,
            "policy[3].tool",
        ),
    )
    assert found.is_fine


def test_tools_of_a_server_that_is_not_started_are_not_known(tmp_path: Path) -> None:
    text = FILE.replace("tools: [bot", "mcp: {git: {command: [no-such-program]}}, tools: [bot")
    text = text.replace("tests:", '  - {tool: "git.*", action: deny}\ntests:')
    found = checked(tmp_path, f"{text}  - {{tool: git.push, requester: U1, expect: deny}}\n")
    assert found.open_servers == ("git",)
    assert "git.push is a tool of an MCP server, which was not started" in found.tests[0].wrong[0]
    assert not any("git.*" in str(one) for one in found.warnings)


def test_the_demos_own_file_has_nothing_to_be_warned_of() -> None:
    found = asyncio.run(check_file(DEMO_CONFIG, starts_servers=False))
    assert (found.errors, found.warnings, found.is_fine) == ((), (), True)


def test_nothing_is_said_of_what_is_left_of_a_limit_that_was_not_looked_at(tmp_path: Path) -> None:
    limited = FILE.replace(
        "action: allow}\ntests",
        "action: allow, limit: {count: true, per: [user, day], max: 3}}\ntests",
    )
    test = (
        "{tool: process_refund, args: {order: ORD-1, amount: 9}, requester: U0ALICE, expect: allow}"
    )
    (tried,) = checked(tmp_path, f"{limited}  - {test}\n").tests
    assert tried.seen is not None
    verdict = tried.seen.weighed.verdict
    assert (verdict.action, verdict.limit) == ("allow", None)


def test_a_past_call_that_only_slack_could_tell_of_is_not_judged(tmp_path: Path) -> None:
    (tmp_path / "pilothouse.yml").write_text(
        FILE.replace('requester.id == "U0ALICE"', 'requester.kind == "member"').replace(
            "openai:gpt-5", "demo"
        )
        + f"  - {{{HIGH}, requester: U0ALICE, expect: ask}}\n"
    )
    agents = load_config(tmp_path / "pilothouse.yml").agents
    state = RunState(
        run_id=RunId("run_1"),
        agent="refunds",
        session=SessionId("ses_1"),
        prompt="",
        requester=Principal("slack:T0PILOT:U0ALICE"),
        channel=None,
        place=None,
        started_at=datetime(2026, 11, 30, tzinfo=UTC),
        seq=0,
        updated_at=datetime(2026, 11, 30, tzinfo=UTC),
    )
    low, high = ({"order": "ORD-1", "amount": amount} for amount in (90, 180))
    with pytest.raises(CantBeJudged, match=r"it is not known what kind of account .* Slack is not"):
        weigh_call(agents, state, "process_refund", low)
    asked = weigh_call(agents, state, "process_refund", high).weighed
    assert (asked.verdict.action, asked.failed) == ("ask", None)
    by_operator = replace(state, requester=Principal("cli:ops"))
    assert weigh_call(agents, by_operator, "process_refund", low).weighed.failed is None
