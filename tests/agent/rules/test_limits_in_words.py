"""A limit in words: what is used, left, and when it begins anew; and why a call is too much."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from agent.rules.limits_in_words import limit_in_words, over_in_words
from agent.rules.parts import LimitUse
from agent.rules.rule_limit import RuleLimit

MIDNIGHT = datetime(2026, 11, 30, 23, tzinfo=UTC)


def use(used: str = "320", amount: str = "180", max: str = "500", **more: Any) -> LimitUse:
    said = {"what": "args.amount", "currency": "USD", "zone": "Europe/Berlin", **more}
    return LimitUse.model_validate({"key": "k", "used": used, "amount": amount, "max": max, **said})


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (
            use(per=("user", "day"), until=MIDNIGHT),
            "$320.00 of $500.00 used by Alice today · $180.00 left"
            " · resets Tue 00:00 Europe/Berlin",
        ),
        (
            use(per=("month", "channel"), until=MIDNIGHT),
            "$320.00 of $500.00 used in this channel this month · $180.00 left"
            " · resets Tue 1 Dec 00:00 Europe/Berlin",
        ),
        (
            use("3", "1", "5", what=None, currency=None, per=("hour", "tool"), until=MIDNIGHT),
            "3 of 5 calls used by this tool this hour · 2 left · resets 00:00 Europe/Berlin",
        ),
        (use("900"), "$900.00 of $500.00 used · $0.00 left"),
        (
            use("1234567.50", max="2000000", currency=None),
            "1,234,567.5 of 2,000,000 (args.amount) used · 765,432.5 left",
        ),
        (use("3000", max="5000", currency="JPY"), "¥3,000 of ¥5,000 used · ¥2,000 left"),
    ],
)
def test_what_is_used_and_left(limit: LimitUse, words: str) -> None:
    assert limit_in_words(limit, "Alice") == words


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (
            use("380", per=("day", "user")),
            "$180.00 more would make $560.00 of $500.00, the limit for each person a day",
        ),
        (
            use("5", "1", "5", what=None, currency=None, per=("run",)),
            "1 call more would make 6 of 5 calls, the limit in each run",
        ),
        (
            use("5", "1.5", "5", what="args.gb", currency=None),
            "1.5 (args.gb) more would make 6.5 of 5 (args.gb), the limit in all",
        ),
        (use("480", "20.004"), "$20.004 more would make $500.004 of $500.00, the limit in all"),
    ],
)
def test_why_it_is_too_much(limit: LimitUse, words: str) -> None:
    assert over_in_words(limit) == words


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (
            {"sum": "args.amount", "per": ["day", "user"], "max": 500, "zone": "Europe/Berlin"},
            "at most 500 of args.amount for each person a day (Europe/Berlin), more is asked about",
        ),
        (
            {"count": True, "max": 1000, "when_over": "deny"},
            "at most 1,000 calls in all, more is refused",
        ),
    ],
)
def test_a_rule_says_its_limit(written: dict[str, Any], words: str) -> None:
    assert RuleLimit.model_validate(written).in_words == words
    assert Decimal(words.split()[2].replace(",", "")) == written["max"]
