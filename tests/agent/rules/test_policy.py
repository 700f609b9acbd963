"""The policy: the first rule that matches, and what can't be answered is asked."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from agent.rules.parts import Approvers
from agent.rules.policy import Policy
from agent.rules.rule import People
from tests.agent.rules.judging import policy, subject

SEED = (
    {"tool": "search_policy", "action": "allow"},
    {
        "tool": "process_refund",
        "when": "args.amount > 100",
        "action": "ask",
        "reason": "refund {args.amount} exceeds the $100 threshold",
        "approvers": {"groups": ["S0FINANCE"]},
    },
    {"tool": "process_refund", "when": "args.amount > 50", "action": "deny"},
    {"tool": "git.*", "action": "deny", "reason": "not from here"},
    {"tool": "p*", "action": "allow"},
)


@pytest.mark.parametrize(
    ("tool", "amount", "action", "rule"),
    [
        ("search_policy", 0, "allow", "allow search_policy"),
        ("process_refund", 180, "ask", "ask process_refund when args.amount > 100"),
        ("process_refund", Decimal("100.01"), "ask", "ask process_refund when args.amount > 100"),
        ("process_refund", 100, "deny", "deny process_refund when args.amount > 50"),
        ("process_refund", 50, "allow", "allow p*"),
        ("git.push", 0, "deny", "deny git.*"),
        ("git", 0, "ask", "no rule matches; the tool's own approval decides"),
        ("digit.push", 0, "ask", "no rule matches; the tool's own approval decides"),
        ("Process_refund", 0, "ask", "no rule matches; the tool's own approval decides"),
    ],
)
def test_the_first_rule_that_matches_decides(
    tool: str, amount: Decimal | int, action: str, rule: str
) -> None:
    verdict = policy(*SEED).judge(subject(tool, amount=amount))
    assert (verdict.action, verdict.rule) == (action, rule)


@pytest.mark.parametrize(("asks", "action"), [(True, "ask"), (False, "allow")])
def test_without_a_rule_the_tool_itself_decides(asks: bool, action: str) -> None:
    verdict = policy().judge(replace(subject(), asks_by_itself=asks))
    assert (verdict.action, verdict.reason) == (action, "no rule covers it")
    assert verdict.approvers == Approvers(groups=("S0OWNERS",))


def test_the_rules_approvers_decide_and_where_it_names_none_the_owners() -> None:
    named, unnamed = (
        policy({"tool": "*", "action": "ask", **more}).judge(subject())
        for more in ({"approvers": {"users": ["U0BOB"], "requester": True}}, {})
    )
    assert named.approvers == Approvers(users=("U0BOB",), requester=True)
    assert unnamed.approvers == Approvers(groups=("S0OWNERS",))


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("refund {args.amount} exceeds it", "refund «180» exceeds it"),
        ("{args.amount} and {args.amount}", "«180» and «180»"),
        ("{args.order}", "«{args.amount}»"),
        (
            "{args.missing} {amount} {0} {args.amount!r}",
            "… {amount} {0} {args.amount!r}"
            " (the rule speaks of args.missing, which this call does not have)",
        ),
        (None, "ask *"),
    ],
)
def test_a_reason_shows_the_values_and_nothing_else(reason: str | None, told: str) -> None:
    rule = {"tool": "*", "action": "ask", "reason": reason}
    verdict = policy(rule).judge(subject(amount=180, order="{args.amount}"))
    assert verdict.reason == told


@pytest.mark.parametrize("id", ["bob", "@bob", "finance", "@finance", "Bob", "U", "", "U0 123"])
def test_people_are_named_by_their_ids(id: str) -> None:
    for field in ("users", "groups"):
        with pytest.raises(ValidationError, match="write ids such as U0123 or S0123, not names"):
            People.model_validate({field: [id]})


@pytest.mark.parametrize(
    "rule",
    [
        {"tool": "*", "action": "ask", "approvers": {}},
        {"tool": "*", "action": "ask", "approvers": {"users": [], "groups": []}},
        {"tool": "*", "action": "ask", "approvers": {"requester": True}},
        {"tool": "", "action": "ask"},
        {"action": "ask"},
        {"tool": "*"},
        {"tool": "*", "action": "maybe"},
        {"tool": "*", "action": "ask", "whne": "true"},
        {"tool": "*", "action": "ask", "approvers": {"users": ["U0BOB"], "quorum": 1}},
        {"tool": "*", "action": "ask", "approvers": {"users": "U0BOB"}},
    ],
)
def test_a_rule_that_says_too_little_or_what_nobody_knows_is_refused(rule: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        policy(rule)


NAMED = {"approvers": {"users": ["U0BOB"]}}
SMALL = {"tool": "*", "when": "args.amount < 1", "action": "allow"}


@pytest.mark.parametrize(
    ("rules", "asks_by_itself", "found"),
    [
        ([], False, None),
        ([], True, "the tool's own approval"),
        ([{"tool": "*", "action": "allow"}], True, None),
        ([{"tool": "*", "action": "deny"}], True, None),
        ([{"tool": "*", "action": "ask"}], False, "ask *"),
        ([{"tool": "*", "action": "ask", **NAMED}], True, None),
        ([{"tool": "other", "action": "ask"}], False, None),
        # A condition that fails asks, whatever its rule says.
        ([SMALL], False, "allow * when args.amount < 1"),
        ([{**SMALL, **NAMED}], False, None),
        # One that does not hold leaves it to what comes behind.
        ([{**SMALL, **NAMED}], True, "the tool's own approval"),
        ([{**SMALL, **NAMED}, {"tool": "*", "action": "allow"}], True, None),
        ([{**SMALL, **NAMED}, {"tool": "*", "action": "ask"}], True, "ask *"),
        # What comes behind a rule without a condition is never reached.
        ([{"tool": "*", "action": "allow"}, {"tool": "*", "action": "ask"}], True, None),
    ],
)
def test_what_could_ask_of_nobody_is_found(
    rules: list[dict[str, Any]], asks_by_itself: bool, found: str | None
) -> None:
    nobody = policy(*rules, owners={})
    assert (
        nobody.may_ask_without_approvers("process_refund", asks_by_itself=asks_by_itself) == found
    )
    assert policy(*rules).may_ask_without_approvers("x", asks_by_itself=asks_by_itself) is None


def test_the_version_changes_with_every_change() -> None:
    rule = {"tool": "a", "action": "ask", "reason": "r", "when": "true", **NAMED}
    second = {"tool": "b", "action": "allow"}
    changes: list[Policy] = [
        policy(rule, second),
        policy(second, rule),
        policy(rule),
        policy(rule, second, owners={}),
        policy(rule, second, owners={"users": ["U0BOB"]}),
        *(
            policy({**rule, **change}, second)
            for change in (
                {"tool": "aa"},
                {"action": "deny"},
                {"reason": "s"},
                {"reason": None},
                {"when": "false"},
                {"approvers": {"groups": ["S0BOB"]}},
                {"approvers": {"users": ["U0BOB"], "requester": True}},
            )
        ),
    ]
    assert len({changed.version for changed in changes}) == len(changes)
    assert policy(rule, second).version == changes[0].version
    assert changes[0].judge(subject("b")).policy_version == changes[0].version
