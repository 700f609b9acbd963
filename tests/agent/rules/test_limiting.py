"""Limits: what a call adds, under which key, and whether that is too much."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.rules.circumstances import NOTHING_KNOWN, Circumstances
from agent.rules.limit_amounts import amount_of
from agent.rules.parts import Verdict
from agent.rules.policy import Policy, Subject
from agent.rules.rule_limit import RuleLimit
from tests.agent.rules.judging import policy, subject

NOW = datetime(2026, 11, 30, 18, tzinfo=UTC)
DAY = {"sum": "args.amount", "per": ["user", "day"], "max": 500, "zone": "Europe/Berlin"}


def limited(action: str = "allow", **changes: Any) -> Policy:
    rule = {"tool": "process_refund", "action": action, "limit": {**DAY, **changes}}
    return policy({key: value for key, value in rule.items() if value is not None})


def asks_about(amount: Any = Decimal(180), **place: Any) -> Subject:
    asked = subject(amount=amount)
    return replace(asked, place=replace(asked.place, **{"parameters": IN_DOLLARS, **place}))


IN_DOLLARS = {
    "properties": {"amount": {"type": "number", "format": "money", "x-currency": "USD"}},
}


def used(of: Policy, subject: Subject, amount: str = "0", at: datetime = NOW) -> Circumstances:
    """So much of every limit that such a call may touch."""
    keys = of.limits_of(subject.place, at)
    return Circumstances(used=dict.fromkeys(keys, Decimal(amount)), at=at)


def judged(of: Policy, amount: Any = Decimal(180), before: str = "0") -> Verdict:
    asked = asks_about(amount)
    return of.judge(asked, used(of, asked, before))


def key(of: Policy, asked: Subject, at: datetime = NOW) -> str:
    (one,) = of.limits_of(asked.place, at)
    return one


@pytest.mark.parametrize(
    ("amount", "before", "action"),
    [
        ("180", "0", "allow"),
        ("180", "320", "allow"),
        ("180.01", "320", "ask"),
        ("180", "320.01", "ask"),
        ("0", "900", "allow"),
        # No digit is lost, in whichever place.
        ("0.000000000000000001", "500", "ask"),
        ("99999999999999999999.999999999999999999", "0", "ask"),
    ],
)
def test_up_to_its_limit_a_rule_says_what_it_says(amount: str, before: str, action: str) -> None:
    assert judged(limited(), Decimal(amount), before).action == action


def test_what_is_too_much_is_asked_about_or_refused_with_the_same_words() -> None:
    asked, refused = (judged(limited(when_over=over), before="380") for over in ("ask", "deny"))
    assert (asked.action, refused.action) == ("ask", "deny")
    assert asked.reason == refused.reason
    assert asked.reason == (
        "$180.00 more would make $560.00 of $500.00, the limit for each person a day"
    )
    assert asked.limit is not None
    stood = (asked.limit.used, asked.limit.amount, asked.limit.max)
    assert stood == (Decimal(380), Decimal(180), Decimal(500))
    assert asked.limit.until == datetime(2026, 11, 30, 23, tzinfo=UTC)


def test_a_rule_that_asks_anyway_says_both() -> None:
    verdict = judged(limited("ask", max=100))
    assert verdict.reason.startswith("ask process_refund within a limit; $180.00 more would make")


def test_it_stands_in_the_verdict_also_where_there_is_room() -> None:
    verdict = judged(limited(), before="100")
    assert verdict.limit is not None
    assert not verdict.limit.is_over
    assert verdict.form == 6, "an older build would keep no limit"


def test_no_grant_is_given_for_going_over_it_and_none_covers_that() -> None:
    rule = {
        "tool": "process_refund",
        "action": "ask",
        "grants": {"scopes": ["run"]},
        "limit": DAY,
    }
    assert judged(policy(rule)).granting is not None
    assert judged(policy(rule), before="500").granting is None


def test_a_refusal_does_not_say_why_it_would_be_asked_about() -> None:
    refused = judged(limited("ask", when_over="deny"), before="500")
    assert refused.action == "deny"
    assert refused.reason.startswith("$180.00 more would make $680.00 of $500.00")


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({}, "the rule speaks of args.amount, which this call does not have"),
        ({"amount": None}, "args.amount is no number but nothing"),
        ({"amount": "much"}, "args.amount is no number but of type str"),
        ({"amount": True}, "args.amount is no number but of type bool"),
        ({"amount": [1]}, "args.amount is no number but of type list"),
        ({"amount": Decimal("NaN")}, "args.amount is no number but NaN"),
        ({"amount": Decimal("-Infinity")}, "args.amount is no number but -Infinity"),
        ({"amount": float("inf")}, "args.amount is no number but inf"),
        ({"amount": Decimal(-1)}, "args.amount is less than nothing: -1"),
        ({"amount": Decimal("1e-19")}, "args.amount has more digits than can be counted"),
        ({"amount": Decimal("1e20")}, "args.amount has more digits than can be counted"),
        ({"amount": Decimal("1e999999")}, "args.amount has more digits than can be counted"),
    ],
)
@pytest.mark.parametrize("over", ["ask", "deny"])
def test_what_cant_be_counted_is_asked_about(values: dict[str, Any], why: str, over: str) -> None:
    of = limited(when_over=over)
    asked = replace(asks_about(), values=values)
    verdict = of.judge(asked, used(of, asked))
    assert (verdict.action, verdict.limit) == ("ask", None)
    assert verdict.reason == f"its limit could not be checked: {why}"


def test_what_is_not_known_is_asked_about() -> None:
    of = limited()
    for around in (NOTHING_KNOWN, Circumstances(at=NOW)):
        verdict = of.judge(asks_about(), around)
        assert verdict.action == "ask"
        assert verdict.reason.endswith("what is used of it is not known here")


def test_arguments_that_are_too_large_to_be_looked_at_are_asked_about() -> None:
    of = limited()
    asked = replace(asks_about(), size=1_000_000)
    assert "larger than" in of.judge(asked, used(of, asked)).reason


@pytest.mark.parametrize(
    ("source", "args", "amount"),
    [
        ("args.amount", {"amount": Decimal("0.1")}, "0.1"),
        ("args.amount", {"amount": 0.1}, "0.1"),
        ("args.amount", {"amount": "12.50"}, "12.50"),
        ("args.order.total", {"order": {"total": Decimal("1.10")}}, "1.10"),
        ("size(args.to)", {"to": ["a", "b", "c"]}, "3"),
        ("args.price * double(args.items)", {"price": Decimal("0.1"), "items": 3}, "0.3"),
        ("args.fee + args.amount", {"fee": Decimal("0.1"), "amount": Decimal("0.2")}, "0.3"),
    ],
)
def test_what_is_added_up_is_exact(source: str, args: dict[str, Any], amount: str) -> None:
    limit = RuleLimit.model_validate({"sum": source, "max": 1})
    assert amount_of(limit, args) == Decimal(amount)


def test_what_cant_be_worked_out_exactly_is_asked_about() -> None:
    of = limited(sum="args.amount * 2.0")
    assert "too large to be worked out" in judged(of, Decimal(10) ** 9).reason


def test_what_would_take_too_much_work_to_add_up_is_asked_about() -> None:
    of = limited(sum="size(args.xs.filter(x, args.xs.exists(y, y == x)))")
    asked = replace(asks_about(), values={"xs": list(range(2_000))})
    assert "would take too much work" in of.judge(asked, used(of, asked)).reason


def test_calls_are_counted_by_one() -> None:
    of = policy(
        {"tool": "*", "action": "allow", "limit": {"count": True, "per": ["tool"], "max": 2}}
    )
    assert judged(of, before="1").action == "allow"
    over = judged(of, before="2")
    assert over.reason == "1 call more would make 3 of 2 calls, the limit for each tool"


class TestAKey:
    @pytest.mark.parametrize(
        ("by", "changes"),
        [
            ("user", {"requester": "slack:T0PILOT:U0FRANK"}),
            ("agent", {"agent": "other"}),
            ("channel", {"channel": "C0OPS"}),
            ("channel", {"channel": None}),
            ("session", {"session": "session_2"}),
            ("run", {"run_id": "run_2"}),
        ],
    )
    def test_is_of_what_it_counts_by_and_of_nothing_else(
        self, by: str, changes: dict[str, Any]
    ) -> None:
        one, other = asks_about(), asks_about(**changes)
        counts, counts_not = limited(per=[by, "day"]), limited(per=["day"])
        assert key(counts, one) != key(counts, other)
        assert key(counts_not, one) == key(counts_not, other)

    def test_is_of_its_window(self) -> None:
        of, asked = limited(), asks_about()
        midnight = datetime(2026, 11, 30, 23, tzinfo=UTC)
        assert key(of, asked) == key(of, asked, midnight - timedelta(microseconds=1))
        assert key(of, asked) != key(of, asked, midnight)
        forever = policy(
            {"tool": "*", "action": "allow", "limit": {"sum": "args.amount", "max": 5}}
        )
        assert key(forever, asked) == key(forever, asked, midnight + timedelta(days=900))

    @pytest.mark.parametrize(
        "changes", [{"max": 900}, {"when_over": "deny"}, {"per": ["day", "user"]}]
    )
    def test_outlives_what_changes_nothing_that_is_counted(self, changes: dict[str, Any]) -> None:
        assert key(limited(), asks_about()) == key(limited(**changes), asks_about())
        assert key(limited(), asks_about()) == key(limited("ask"), asks_about())

    @pytest.mark.parametrize(
        "changes", [{"sum": "args.fee"}, {"zone": "UTC"}, {"per": ["user", "week"]}]
    )
    def test_is_shared_by_no_other_limit(self, changes: dict[str, Any]) -> None:
        assert key(limited(), asks_about()) != key(limited(**changes), asks_about())

    def test_is_shared_by_no_other_rule(self) -> None:
        of = policy(
            {"tool": "process_refund", "when": "args.amount > 9", "action": "allow", "limit": DAY},
            {"tool": "process_refund", "action": "allow", "limit": DAY},
            {"tool": "send_voucher", "action": "allow", "limit": DAY},
        )
        assert len(of.limits_of(asks_about().place, NOW)) == 2

    def test_keeps_currencies_apart(self) -> None:
        euros = {
            "properties": {"amount": {"type": "number", "format": "money", "x-currency": "EUR"}}
        }
        of = limited()
        assert key(of, asks_about()) != key(of, asks_about(parameters=euros))

    def test_of_a_call_that_would_add_two_currencies_is_none_and_it_is_asked_about(self) -> None:
        both = {
            "properties": {
                "fee": {"type": "number", "format": "money", "x-currency": "EUR"},
                **IN_DOLLARS["properties"],
            }
        }
        of = limited(sum="args.amount + args.fee")
        values = {"amount": Decimal(1), "fee": Decimal(1)}
        asked = replace(asks_about(parameters=both), values=values)
        assert not of.limits_of(asked.place, NOW)
        assert of.judge(asked, Circumstances(at=NOW)).reason == (
            "its limit could not be checked: args.amount + args.fee adds EUR and USD"
        )


@given(st.lists(st.decimals(0, 400, places=2), max_size=12))
def test_what_is_let_through_never_comes_to_more_than_its_limit(amounts: list[Decimal]) -> None:
    of, total = limited(), Decimal(0)
    for amount in amounts:
        verdict = judged(of, amount, str(total))
        is_too_much = amount > 0 and total + amount > 500
        assert (verdict.action == "ask") is is_too_much
        if verdict.action == "allow":
            total += amount
    assert total <= 500
