"""What a policy says that can't be meant: only what is certain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from agent.rules.policy_warnings import KnownTool, PolicyWarning, warnings_of
from tests.agent.rules.judging import OWNERS, policy

PAY = KnownTool("pay", "once", None, frozenset({"amount"}), frozenset({"amount"}))
SEARCH = KnownTool("search", "read", None, frozenset({"topic"}), frozenset({"topic"}))
BURN = KnownTool("burn", "once", "says itself that it needs a yes each time", None, frozenset())
#: Of a server: what it leaves out is not filled in.
PUSH = KnownTool("git.push", "once", None, frozenset({"force", "to"}), frozenset({"to"}))
TOOLS = (PAY, SEARCH, BURN, PUSH)


def found(
    *rules: Mapping[str, Any],
    owners: Mapping[str, Any] = OWNERS,
    tools: Sequence[KnownTool] = TOOLS,
    open_servers: Sequence[str] = (),
) -> tuple[PolicyWarning, ...]:
    written = policy(*rules, owners=owners)
    return warnings_of(written, tools, open_servers, lambda number: f"line {number + 1}")


def only(*rules: Mapping[str, Any], **around: Any) -> str:
    (one,) = found(*rules, **around)
    return f"{'.'.join(map(str, one.way))}: {one.message}"


HIGH = "args.amount > 100"
FINE: tuple[tuple[Mapping[str, Any], ...], ...] = (
    ({"tool": "pay", "when": HIGH, "action": "ask"}, {"tool": "pay", "action": "allow"}),
    ({"tool": "search", "action": "allow"}, {"tool": "*", "action": "deny"}),
    ({"tool": "git.*", "action": "allow"}, {"tool": "*", "action": "deny"}),
    ({"tool": "burn", "action": "allow"},),
    ({"tool": "*", "when": f"has(args.amount) && {HIGH}", "action": "deny"},),
    ({"tool": "git.push", "when": "has(args.force) && args.force", "action": "deny"},),
    ({"tool": "pay", "when": 'requester.id == "U0ALICE"', "action": "allow"},),
    ({"tool": "pay", "action": "ask", "approvers": {"users": ["U1", "U2"]}},),
    ({"tool": "pay", "action": "ask", "approvers": {"users": ["U1"], "requester": True}},),
    ({"tool": "pay", "action": "ask", "one_from_each": ["S1", "S2"]},),
    # It decides what the first does not, whatever both are for.
    ({"tool": "p*", "when": HIGH, "action": "allow"}, {"tool": "pay", "action": "ask"}),
)


@pytest.mark.parametrize("rules", FINE)
def test_what_may_well_be_meant_is_not_warned_of(rules: Sequence[Mapping[str, Any]]) -> None:
    assert found(*rules) == ()


def test_a_rule_behind_one_that_matches_all_that_it_does_never_decides() -> None:
    assert only({"tool": "p*", "action": "allow"}, {"tool": "pay", "action": "deny"}) == (
        "policy.1: this rule never decides anything: all that it matches is decided before it, at the"
        " latest by line 1 (allow p*). It denies nothing."
    )


@pytest.mark.parametrize(
    ("first", "when", "is_hidden"),
    [
        (HIGH, HIGH, True),
        (f" {HIGH} ", HIGH, True),
        (HIGH, "args.amount > 200", True),
        (HIGH, "args.amount > 50", False),
        (HIGH, None, False),
        (None, HIGH, True),
    ],
)
def test_a_condition_hides_those_that_hold_only_where_it_does(
    first: str | None, when: str | None, is_hidden: bool
) -> None:
    conditions = [{} if one is None else {"when": one} for one in (first, when)]
    rules = [{"tool": "pay", "action": "ask", **condition} for condition in conditions]
    assert bool(found(*rules)) is is_hidden


def test_a_rule_never_decides_where_each_of_its_tools_is_decided_before() -> None:
    rules = ({"tool": "git.push", "action": "ask"}, {"tool": "git.*", "action": "deny"})
    assert only(*rules) == (
        "policy.1: this rule never decides anything: each tool is decided before, git.push by line 1."
    )
    assert found(*rules, open_servers=["git"]) == ()


def test_a_glob_that_no_tool_is_named_by_decides_nothing() -> None:
    assert only({"tool": "send_*", "action": "deny"}) == (
        "policy.0.tool: no tool of any agent is named send_*; this rule decides nothing."
    )
    assert found({"tool": "mail.*", "action": "deny"}, open_servers=["mail"]) == ()
    assert found({"tool": "mail.*", "action": "deny"}, open_servers=["male"]) != ()


def test_an_allow_by_glob_over_a_tool_that_needs_a_yes_is_pointed_out() -> None:
    assert only({"tool": "b*", "action": "allow"}) == (
        "policy.0.tool: burn says itself that it needs a yes each time, and this rule lets it run without;"
        " if that is meant, name the tool in a rule of its own."
    )


def test_an_allow_of_everything_is_pointed_out() -> None:
    assert only({"tool": "burn", "action": "ask"}, {"tool": "*", "action": "allow"}) == (
        "policy.1.tool: it lets every tool run that no rule before it names, also those that are added later."
    )


def test_a_stricter_rule_is_not_reached_by_what_a_looser_one_takes_before_it() -> None:
    assert only({"tool": "git.*", "action": "allow"}, {"tool": "*pu*", "action": "deny"}) == (
        "policy.1: this rule never decides anything: each tool is decided before, git.push by line 1."
    )
    delete = KnownTool("push_mail", "once", None, None, frozenset())
    told = only(
        {"tool": "git.*", "action": "allow"},
        {"tool": "*pu*", "action": "deny"},
        tools=(*TOOLS, delete),
    )
    assert told == (
        "policy.1.tool: git.push is allowed all the same, by line 1 (allow git.*); the first rule that"
        " matches decides."
    )


def test_a_tool_without_the_argument_of_a_condition_is_asked_about() -> None:
    (never, maybe) = found(
        {"tool": "search", "when": 'args.topic == "x"', "action": "allow"},
        {"tool": "s*", "when": "args.amount > 1", "action": "deny"},
        {"tool": "git.push", "when": "args.force", "action": "deny"},
    )
    assert never.message.startswith("search has no argument amount, and a call for which")
    assert maybe.message.startswith("git.push may be called without force, and a call for which")
    assert maybe.way == ("policy", 2, "when")


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("true", "it is true for every call."),
        ("1 > 2", "it is false for every call: this rule decides nothing."),
    ],
)
def test_a_condition_that_is_always_the_same_is_pointed_out(when: str, said: str) -> None:
    assert only({"tool": "pay", "when": when, "action": "allow"}) == f"policy.0.when: {said}"


@pytest.mark.parametrize(
    ("approvers", "said"),
    [
        (
            {"users": ["U1"]},
            "where U1 asked for the run, none of them may decide; name more people, or a group.",
        ),
        (
            {"users": ["U1", "U2"], "count": 2},
            "where U1 or U2 asked for the run, no more than 1 of them may decide, and 2 have to;"
            " name more people, or a group.",
        ),
        (
            {"groups": ["S1"], "count": 3},
            "3 people have to say yes, and the file does not tell whether S1 has as many, beside whoever"
            " asked for the run; make sure of it in Slack.",
        ),
    ],
)
def test_yeses_that_may_not_be_there_are_pointed_out(
    approvers: Mapping[str, Any], said: str
) -> None:
    told = only({"tool": "pay", "action": "ask", "approvers": approvers})
    assert told == f"policy.0.approvers: {said}"


def test_owners_who_can_not_decide_are_pointed_out() -> None:
    assert "only the operator, on the command line, can settle" in only(owners={})
    assert found(owners={}, tools=(SEARCH,)) == ()
    assert only(owners={"users": ["U1"]}) == (
        "owners: where U1 asked for the run, only the operator can decide what owners are asked."
    )
