"""A rule as it is written: what it may say, and how it reads."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from agent.rules.parts import Approvers, Delivery, Escalation, Patience, Verdict
from agent.rules.policy import Policy
from agent.rules.rule import Rule
from tests.agent.rules.judging import policy, subject

BOTH = ["S0FINANCE", "S0LEGAL"]
LEGAL: dict[str, Any] = {"groups": ["S0LEGAL"]}
ELSEWHERE: dict[str, Any] = {"groups": ["S0OPS"]}


def verdict(**keys: Any) -> Verdict:
    return policy({"tool": "*", "action": "ask", **keys}).judge(subject(amount=180))


@pytest.mark.parametrize(
    ("keys", "approvers"),
    [
        ({}, Approvers(groups=("S0OWNERS",))),
        (
            {"approvers": {"groups": ["S0FINANCE"], "count": 2}},
            Approvers(groups=("S0FINANCE",), count=2),
        ),
        (
            {"approvers": {"users": ["U0BOB"], "requester": True}},
            Approvers(users=("U0BOB",), requester=True),
        ),
        # Without approvers it is those groups that decide, and not the owners.
        ({"one_from_each": BOTH}, Approvers(one_from_each=("S0FINANCE", "S0LEGAL"))),
        (
            {"approvers": {"users": ["U0BOB"], "count": 3}, "one_from_each": BOTH},
            Approvers(users=("U0BOB",), count=3, one_from_each=("S0FINANCE", "S0LEGAL")),
        ),
    ],
)
def test_who_decides_and_how_many_stands_in_the_verdict(
    keys: dict[str, Any], approvers: Approvers
) -> None:
    assert verdict(**keys).approvers == approvers


@pytest.mark.parametrize(
    ("written", "valid_for"),
    [
        ("30s", timedelta(seconds=30)),
        ("10m", timedelta(minutes=10)),
        ("2h", timedelta(hours=2)),
        ("1d", timedelta(days=1)),
        (None, None),
    ],
)
def test_how_long_a_yes_is_good_stands_in_the_verdict(
    written: str | None, valid_for: timedelta | None
) -> None:
    assert verdict(valid_for=written).valid_for == valid_for


@pytest.mark.parametrize(
    ("keys", "patience"),
    [
        ({}, Patience(expires=timedelta(days=7))),
        ({"expires": "24h"}, Patience(expires=timedelta(hours=24))),
        (
            {"on_expiry": "stop", "remind": "6d"},
            Patience(expires=timedelta(days=7), on_expiry="stop", remind=timedelta(days=6)),
        ),
        (
            {"escalate": [{"after": "4h", **LEGAL}]},
            Patience(
                expires=timedelta(days=7),
                escalate=(Escalation(after=timedelta(hours=4), groups=("S0LEGAL",)),),
            ),
        ),
        # The expiry itself asks whoever was not reached until then.
        (
            {
                "expires": "1h",
                "on_expiry": "escalate",
                "escalate": [{"after": "1h", "users": ["U0BOB"]}],
            },
            Patience(
                expires=timedelta(hours=1),
                on_expiry="escalate",
                escalate=(Escalation(after=timedelta(hours=1), users=("U0BOB",)),),
            ),
        ),
    ],
)
def test_how_long_people_are_waited_for_stands_in_the_verdict(
    keys: dict[str, Any], patience: Patience
) -> None:
    assert verdict(**keys).patience == patience


def test_who_approves_is_asked_once_more_where_its_rule_says_so_and_only_then() -> None:
    rule: dict[str, Any] = {"tool": "process_refund", "when": "args.amount > 100"}
    rule["action"] = "ask"
    plain, sure = policy(rule), policy({**rule, "confirm": True})
    assert [one.judge(subject(amount=180)).confirm for one in (plain, sure)] == [False, True]
    assert not sure.judge(subject(amount=1)).confirm
    # What is not said leaves no trace.
    assert plain.version != sure.version
    assert "confirm" not in plain.judge(subject(amount=180)).rule


@pytest.mark.parametrize(
    ("keys", "delivery"),
    [
        ({}, Delivery()),
        ({"card": "thread", "notify": "mention"}, Delivery()),
        ({"card": "dm"}, Delivery(card="dm")),
        ({"card": "C0OPS", "notify": "channel"}, Delivery(card="C0OPS", notify="channel")),
        ({"notify": "none"}, Delivery(notify="none")),
    ],
)
def test_where_people_are_asked_stands_in_the_verdict(
    keys: dict[str, Any], delivery: Delivery
) -> None:
    assert verdict(**keys).delivery == delivery
    allowed = policy({"tool": "*", "action": "allow", "when": "true", **keys}).judge(subject())
    assert allowed.delivery == Delivery()


def test_what_is_not_asked_waits_for_nobody() -> None:
    allowed = policy({"tool": "*", "action": "allow"}).judge(subject())
    assert allowed.patience == Patience()
    keys = {"when": "args.amount > 100", "expires": "1h"}
    rule: dict[str, Any] = {"tool": "*", "action": "allow", **keys}
    assert policy(rule).judge(subject(amount=180)).patience == Patience()
    # A condition that can't be checked asks.
    unknown = policy(rule).judge(subject())
    assert unknown.action == "ask"
    assert unknown.patience == Patience(expires=timedelta(hours=1))


def test_what_the_tool_itself_asks_waits_for_a_week() -> None:
    assert policy().judge(subject()).patience == Patience(expires=timedelta(days=7))


def test_where_no_rule_matches_a_yes_is_good_for_ever_and_one_suffices() -> None:
    without_a_rule = policy().judge(subject())
    assert without_a_rule.valid_for is None
    assert without_a_rule.approvers == Approvers(groups=("S0OWNERS",))


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({}, "ask process_refund when args.amount > 100"),
        ({"approvers": {"groups": ["S0FINANCE"]}}, "ask process_refund when args.amount > 100"),
        (
            {"approvers": {"groups": ["S0FINANCE"], "count": 2}},
            "ask process_refund when args.amount > 100; 2 different people say yes",
        ),
        (
            {"one_from_each": BOTH, "valid_for": "90m"},
            "ask process_refund when args.amount > 100; one yes from each of S0FINANCE, S0LEGAL;"
            " a yes is good for 1 h 30 min",
        ),
        (
            {"approvers": {"users": ["U0BOB"], "requester": True}},
            "ask process_refund when args.amount > 100; also by whoever asked for the run",
        ),
        (
            {"expires": "24h", "on_expiry": "deny"},
            "ask process_refund when args.amount > 100; when nobody decides for 1 d it is not done",
        ),
        (
            {"expires": "90m"},
            "ask process_refund when args.amount > 100; when nobody decides for 1 h 30 min it waits"
            " until it is asked again",
        ),
        (
            {"on_expiry": "stop"},
            "ask process_refund when args.amount > 100; when nobody decides for 7 d the run is"
            " stopped",
        ),
        (
            {
                "remind": "2h",
                "on_expiry": "escalate",
                "escalate": [
                    {"after": "4h", "groups": ["S0LEGAL"], "users": ["U0BOB"]},
                    {"after": "9d", "users": ["U0ERIN"]},
                ],
            },
            "ask process_refund when args.amount > 100; a reminder every 2 h; S0LEGAL, U0BOB too"
            " after 4 h; when nobody decides for 7 d others are asked: U0ERIN",
        ),
        (
            {
                "expires": "1h",
                "on_expiry": "escalate",
                "escalate": [{"after": "1h", **LEGAL}, {"after": "3h", "users": ["U0ERIN"]}],
            },
            "ask process_refund when args.amount > 100; when nobody decides for 1 h others are asked:"
            " S0LEGAL, then U0ERIN",
        ),
        # Whoever is to be asked was asked by then.
        (
            {"on_expiry": "escalate", "escalate": [{"after": "4h", **LEGAL}]},
            "ask process_refund when args.amount > 100; S0LEGAL too after 4 h; when nobody decides"
            " for 7 d it waits until it is asked again",
        ),
        (
            {"grants": {"scopes": ["run", "thread"], "longest": "2h"}},
            "ask process_refund when args.amount > 100; may be allowed for the run or the thread, 2 h"
            " at most",
        ),
        (
            {"confirm": True},
            "ask process_refund when args.amount > 100; whoever approves is asked whether they mean"
            " it",
        ),
        ({"confirm": False}, "ask process_refund when args.amount > 100"),
        (
            {"grants": {"scopes": ["run"]}},
            "ask process_refund when args.amount > 100; may be allowed for the run, 8 h at most",
        ),
        ({"card": "dm"}, "ask process_refund when args.amount > 100; asked in direct messages"),
        (
            {"card": "C0OPS", "notify": "none"},
            "ask process_refund when args.amount > 100; asked in C0OPS; nobody is rung",
        ),
    ],
)
def test_a_rule_says_in_words_all_that_it_demands(keys: dict[str, Any], words: str) -> None:
    rule = {"tool": "process_refund", "when": "args.amount > 100", "action": "ask", **keys}
    told = policy(rule).judge(subject(amount=180))
    assert told.rule == words
    # Why it is asked is shorter: who decides stands elsewhere on the card.
    assert told.reason == "ask process_refund when args.amount > 100"


NEEDS_TWO = {"approvers": {"groups": ["S0FINANCE"], "count": 2}}
FINANCE = {"approvers": {"groups": ["S0FINANCE"]}}


@pytest.mark.parametrize(
    ("action", "keys", "idle"),
    [
        ("allow", NEEDS_TWO, "approvers.count"),
        ("allow", {"one_from_each": BOTH}, "one_from_each"),
        ("allow", {"valid_for": "1h"}, "valid_for"),
        ("allow", {**NEEDS_TWO, "valid_for": "1h"}, "approvers.count and valid_for"),
        ("deny", FINANCE, "approvers"),
        ("deny", {"one_from_each": BOTH}, "one_from_each"),
        ("deny", {"valid_for": "1h"}, "valid_for"),
        ("allow", {"expires": "1h"}, "expires"),
        ("allow", {"on_expiry": "deny"}, "on_expiry"),
        ("deny", {"remind": "1h"}, "remind"),
        ("allow", {"escalate": [{"after": "1h", **LEGAL}]}, "escalate"),
        ("allow", {"card": "dm"}, "card"),
        ("deny", {"notify": "none"}, "notify"),
    ],
)
def test_a_rule_that_never_asks_demands_nothing_of_a_yes(
    action: str, keys: dict[str, Any], idle: str
) -> None:
    with pytest.raises(ValidationError) as raised:
        Rule.model_validate({"tool": "*", "action": action, **keys})
    assert f"this rule never asks anybody; take {idle} out" in str(raised.value)
    # A condition that can't be checked asks, whatever the rule does otherwise.
    assert Rule.model_validate({"tool": "*", "action": action, "when": "true", **keys})


def test_whom_an_allowing_rule_names_may_have_to_settle_what_became_of_an_effect() -> None:
    one: dict[str, Any] = {"approvers": {"groups": ["S0FINANCE"], "count": 1, "requester": True}}
    allowed = policy({"tool": "*", "action": "allow", **one}).judge(subject())
    assert allowed.approvers == Approvers(groups=("S0FINANCE",), requester=True)


def test_a_condition_that_can_not_be_checked_asks_those_of_its_rule_and_as_many() -> None:
    rule = {"tool": "*", "action": "allow", "when": "args.missing > 1", "valid_for": "1h"}
    asked = policy({**rule, "one_from_each": BOTH}).judge(subject(amount=1))
    assert asked.action == "ask"
    assert asked.approvers == Approvers(one_from_each=("S0FINANCE", "S0LEGAL"))
    assert asked.valid_for == timedelta(hours=1)


def test_groups_that_each_give_a_yes_are_somebody_to_ask() -> None:
    rule = {"tool": "*", "action": "ask", "one_from_each": BOTH}
    assert policy(rule, owners={}).may_ask_without_approvers("x", asks_by_itself=True) is None


def test_the_policys_version_changes_with_each_of_these_keys() -> None:
    rule: dict[str, Any] = {"tool": "a", "action": "ask", "approvers": {"groups": ["S0FINANCE"]}}
    changes: list[dict[str, Any]] = [
        {},
        {"approvers": {"groups": ["S0FINANCE"], "count": 2}},
        {"one_from_each": BOTH},
        {"one_from_each": BOTH[::-1]},
        {"valid_for": "1h"},
        {"valid_for": "2h"},
    ]
    versions = {policy({**rule, **change}).version for change in changes}
    assert len(versions) == len(changes)
    assert (
        policy({**rule, "valid_for": "60m"}).version == policy({**rule, "valid_for": "1h"}).version
    )


def test_the_version_of_a_policy_that_says_nothing_new_is_what_it_always_was() -> None:
    """It stands in journals: a new key of rules that nobody wrote must not change it."""
    written = {
        "tool": "process_refund",
        "when": "args.amount > 100",
        "action": "ask",
        "reason": "over",
        "approvers": {"groups": ["S0FINANCE"], "count": 2},
        "one_from_each": BOTH,
        "valid_for": "1h",
    }
    rules = [written, {"tool": "*", "action": "allow"}]
    owned = Policy.model_validate({"owners": {"users": ["U0CAROL"]}, "rules": rules})
    assert owned.version == "a0a582d1bf22"
    assert Policy().version == "a29cc5985b67"
    for later in ({"expires": "1d"}, {"card": "dm"}, {"notify": "none"}):
        assert policy({**written, **later}).version != policy(written).version
