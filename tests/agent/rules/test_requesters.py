"""What a condition may ask of whoever asked for the run, and what it must not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.errors import ConfigError
from agent.rules.conditions import Condition
from agent.rules.policy import Subject
from agent.rules.requesters import plain_id
from tests.agent.rules.judging import policy, subject

FINANCE = '"S0FINANCE" in requester.groups'


def by(**known: Any) -> Subject:
    return replace(subject(), **known)


def action(when: str, of: Subject) -> str:
    """What becomes of the call where the condition's rule refuses and the next one allows."""
    rules = {"tool": "*", "when": when, "action": "deny"}, {"tool": "*", "action": "allow"}
    return policy(*rules).judge(of).action


@pytest.mark.parametrize(
    ("principal", "id"),
    [
        ("slack:T0PILOT:U0ALICE", "U0ALICE"),
        ("cli:root", "cli:root"),
        ("U0ALICE", "U0ALICE"),
        ("code:slack:U0ALICE", "code:slack:U0ALICE"),
        ("slack:T0PILOT:", "slack:T0PILOT:"),
        ("slack:T0PILOT:U0:X", "slack:T0PILOT:U0:X"),
    ],
)
def test_a_requesters_id_is_as_lists_of_people_name_them(principal: str, id: str) -> None:
    assert plain_id(principal) == id
    when = f"requester.id == {plain_id('slack:T0PILOT:U0ALICE')!r}"
    of = subject()
    of = replace(of, place=replace(of.place, requester=principal))
    assert action(when, of) == ("deny" if id == "U0ALICE" else "allow")


@pytest.mark.parametrize(
    ("when", "known", "said"),
    [
        (FINANCE, {"requester_groups": frozenset({"S0FINANCE"})}, "deny"),
        (FINANCE, {"requester_groups": frozenset()}, "allow"),
        (FINANCE, {}, "ask"),
        (f"!({FINANCE})", {}, "ask"),
        (f"args.size() > 5 || {FINANCE}", {}, "ask"),
        # Whoever it was, this is so.
        (f"agent == 'refunds' || {FINANCE}", {}, "deny"),
        ("requester.groups.exists(g, g == 'S0FINANCE')", {}, "ask"),
        ("requester.kind != 'member'", {"requester_kind": "guest"}, "deny"),
        ("requester.kind != 'member'", {"requester_kind": "member"}, "allow"),
        ("requester.kind != 'member'", {}, "ask"),
        ("requester.kind in ['guest', 'stranger']", {"requester_kind": "stranger"}, "deny"),
    ],
)
def test_what_is_not_known_of_a_requester_asks(
    when: str, known: dict[str, object], said: str
) -> None:
    assert action(when, by(**known)) == said


def test_why_it_is_not_known_stands_in_the_reason() -> None:
    rule = {"tool": "*", "when": FINANCE, "action": "allow"}
    verdict = policy(rule).judge(by(requester_unknown="Slack did not say just now"))
    assert verdict.reason == (
        "its rule could not be checked: it is not known which groups whoever asked for the run is in:"
        " Slack did not say just now"
    )


@pytest.mark.parametrize(
    ("when", "why"),
    [
        ("requester.team == 'x'", "speaks of requester.team; there are requester.id"),
        ("requester == args.x", "speaks of requester itself"),
        ("requester['groups'] == []", "speaks of requester itself"),
        ("'groups' in requester", "speaks of requester itself"),
        ("has(requester.groups)", "need not ask whether a requester has"),
        ("requester.kind == 'membr'", r"the kind membr \(did you mean member\?\); there are bot, "),
        ("'membr' == requester.kind", "the kind membr"),
        ("requester.kind in ['guest', 'gst']", "the kind gst"),
        ("'finance' in requester.groups", "takes 'finance' for a group's id"),
        ("requester.groups == 'S0FINANCE'", "compares requester.groups with a text"),
        ("'S0FINANCE' != requester.groups", "compares requester.groups with a text"),
        ("size(requester.groups) > 0", "names no group by its id"),
        ("requester.id.endsWith(':U0ALICE')", "such as 'U0ALICE'"),
        ("requester.id == 'slack:T0PILOT:U0ALICE'", "such as 'U0ALICE'"),
        ("'\u04050FINANCE' in requester.groups", "cyrillic capital letter dze"),
    ],
)
def test_what_can_not_be_asked_of_a_requester_is_refused(when: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        Condition(when)


def test_only_what_a_rule_for_the_tool_speaks_of_is_looked_up() -> None:
    rules = policy(
        {"tool": "pay", "when": f"{FINANCE} || 'S0LEGAL' in requester.groups", "action": "allow"},
        {"tool": "look", "when": "requester.kind == 'member'", "action": "allow"},
        {"tool": "say", "when": "requester.id == 'U0ALICE'", "action": "allow"},
        {"tool": "*", "when": "args.x == 'S0OPS' && tainted", "action": "ask"},
    )
    assert rules.groups_of_requester(["pay"]) == frozenset({"S0FINANCE", "S0LEGAL"})
    assert rules.groups_of_requester(["look", "say"]) == frozenset()
    assert rules.groups_of_requester(["say"]) is None
    assert rules.groups_of_requester([]) is None
