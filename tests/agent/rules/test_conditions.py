"""Conditions: checked when they are loaded, and a question where they have no answer."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from agent.errors import ConfigError
from agent.rules.conditions import Condition, ConditionFailed
from agent.rules.policy import ARGUMENTS_LIMIT
from tests.agent.rules.judging import policy, subject

UNLIKE = (
    "it compares or combines values of kinds that do not go together, such as a text and a number"
)
NASTY: list[Any] = [
    None,
    "180",
    "NaN",
    float("nan"),
    Decimal("NaN"),
    Decimal("sNaN"),
    [180],
    {"amount": 180},
    True,
    date(2026, 1, 1),
    object(),
    "\ud800",
]


@pytest.mark.parametrize("action", ["allow", "ask", "deny"])
@pytest.mark.parametrize("amount", NASTY, ids=lambda value: repr(value).partition(" at 0x")[0])
def test_a_condition_that_can_not_be_answered_asks_and_says_why(amount: Any, action: str) -> None:
    rules = (
        {"tool": "*", "when": "args.amount < 100", "action": action},
        {"tool": "*", "action": "allow"},
    )
    verdict = policy(*rules).judge(subject(amount=amount))
    assert verdict.action == "ask"
    assert verdict.reason.startswith("its rule could not be checked: ")
    assert "\n" not in verdict.reason


@pytest.mark.parametrize(
    "when",
    [
        "args.missing > 1",
        "args.amount / 0 > 1",
        "args.amount % 0 == 1",
        "args.lines[5] == 1",
        "args.amount + 9223372036854775807 > 1",
        "timestamp(args.name) > timestamp('2026-01-01T00:00:00Z')",
        "args.name.deeper.still == 1",
        "args.amount",
        "args.name",
        "args.lines",
        "'yes'",
    ],
)
def test_every_way_of_giving_no_boolean_asks(when: str) -> None:
    rule = {"tool": "*", "when": when, "action": "allow"}
    verdict = policy(rule).judge(subject(amount=180, name="x", lines=[1]))
    assert verdict.action == "ask"
    assert verdict.reason.startswith("its rule could not be checked: ")


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("args.amonut > 1", "the rule speaks of args.amonut, which this call does not have"),
        ('args["a-b"] > 1', "the rule speaks of args.a-b, which this call does not have"),
        ("args.item.name > 1", UNLIKE),
        ("args.amount + args.item.name == 'x'", UNLIKE),
        ("args.item.amonut > 1", "the rule speaks of amonut, which is not there"),
        ("args.item.item > 1 && args.item.item > 1", "the rule speaks of item, which is not there"),
    ],
)
def test_what_a_condition_speaks_of_in_vain_is_named(when: str, said: str) -> None:
    rule = {"tool": "*", "when": when, "action": "allow"}
    verdict = policy(rule).judge(subject(amount=180, item={"price": 1, "name": "x"}))
    assert verdict.reason == f"its rule could not be checked: {said}"


@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        ("args.amount > 1 && has(args.note)", {"amount", "note"}),
        ("args [ 'a-b' ] == args . c", {"a-b", "c"}),
        ("args.to.city == 'x' && args.lines.all(x, x.args.y == args.z)", {"to", "lines", "z"}),
        ("args.exists(k, k == 'x') || size(args) > 1", set()),
        ("'args.a' == \"it's args.b\" || args.c == 'say \\'args.d\\''", {"c"}),
        ("args.c.matches(r'\\args.d') // args.e", {"c"}),
        ("[args].all(args, args.x > 1)", set()),
    ],
)
def test_a_condition_knows_which_arguments_it_speaks_of(source: str, arguments: set[str]) -> None:
    assert Condition(source).arguments == arguments


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("args.amount > > 3", "column 15: '>' is not expected"),
        ("args.amount = 3", "column 13: '=' is not expected"),
        ("args.amount >", "column 14: it ends too early"),
        ("(args.amount > 3", "column 17: ')' is missing"),
        ("args..x", "column 6: '..' is not expected"),
        ("args.amount > 3\n&& ) x", "line 2, column 4: ')' is not expected"),
        ("has(args['x'])", "column 9: invalid argument to has() macro"),
        ("'abc", 'column 1: "\'abc" is not expected'),
    ],
)
def test_a_slip_in_a_condition_is_told_by_where_it_is(source: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Condition(source)
    assert str(refused.value) == f"{source!r} is not CEL: {said}"


@settings(max_examples=200, deadline=None)
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text()
        | st.decimals()
        | st.binary(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_no_argument_whatsoever_breaks_a_condition(value: Any) -> None:
    for when in ("args.x > 100", "args.x == 1", "args.x[0] / args.x[1] > 1", "size(args.x) > 1"):
        verdict = policy({"tool": "*", "when": when, "action": "deny"}).judge(subject(x=value))
        assert verdict.action in ("ask", "deny")


def test_arguments_that_are_too_large_are_asked_where_there_is_a_condition() -> None:
    conditional = {"tool": "*", "when": "args.amount < 100", "action": "allow"}
    at, above = (replace(subject(amount=1), size=ARGUMENTS_LIMIT + n) for n in (0, 1))
    assert policy(conditional).judge(at).action == "allow"
    verdict = policy(conditional).judge(above)
    assert (verdict.action, verdict.reason) == (
        "ask",
        "its rule could not be checked: the arguments are larger than 100,000 bytes",
    )
    assert policy({"tool": "*", "action": "allow"}).judge(above).action == "allow"


def test_a_condition_may_speak_of_agent_requester_channel_and_session() -> None:
    when = (
        "agent == 'refunds' && requester.id.endsWith('U0ALICE') && channel == 'C0SUPPORT'"
        " && session == 'session_1'"
    )
    assert policy({"tool": "*", "when": when, "action": "deny"}).judge(subject()).action == "deny"
    nowhere = policy({"tool": "*", "when": "channel == ''", "action": "deny"})
    asked = subject()
    assert nowhere.judge(replace(asked, place=replace(asked.place, channel=None))).action == "deny"


@pytest.mark.parametrize(
    ("when", "why"),
    [
        ("args.amount >", "is not CEL"),
        ("amount > 100", "speaks of amount; a condition knows agent, args"),
        ("args.amount > limit && untrusted", "speaks of limit, untrusted"),
        ("args.name.startswith('x')", "calls startswith; a condition can call"),
        ("abs(args.amount) > 1", "calls abs;"),
        ("tainted == 'yes'", "compares tainted with what it never is; write tainted"),
        ("args.amount > 5 && 1 == tainted", "compares tainted with what it never is"),
        ("true" + " " * 2_000, "may have 2000 characters, not 2004"),
    ],
)
def test_a_condition_that_can_not_be_right_is_refused_when_it_is_loaded(
    when: str, why: str
) -> None:
    with pytest.raises(ConfigError, match=why):
        Condition(when)
    with pytest.raises(ValidationError, match=why):
        policy({"tool": "*", "when": when, "action": "ask"})


@pytest.mark.parametrize(
    "when",
    [
        "args.lines.all(line, line.size() > 0)",
        "args.lines.exists( l , l == 'x') || args.lines.map(m, m).size() == 2",
        "has(args.amount) && args.kind in ['a', 'b'] ? !true : -args.amount > 2.5",
        "timestamp(args.day).getFullYear() == 2026 && duration('1h') > duration('1s')",
        "tainted == true && args.tainted == 'yes' || 'a' == args.kind && !tainted",
        "string(args.amount).contains('9') && args.name.matches('^x')",
    ],
)
def test_what_the_library_knows_may_be_used(when: str) -> None:
    assert Condition(when).source == when


def test_a_condition_that_gives_no_boolean_says_what_it_gives() -> None:
    with pytest.raises(ConditionFailed, match="it gives int, not a boolean"):
        Condition("args.amount + 1").holds({"args": {"amount": 1}})


def test_not_a_number_is_not_below_a_limit() -> None:
    """Compared in Python it would simply be false, and the call would be allowed."""
    rule = {"tool": "*", "when": "args.amount > 100", "action": "ask"}
    verdict = policy(rule, {"tool": "*", "action": "allow"}).judge(subject(amount=math.nan))
    assert verdict.action == "ask"
