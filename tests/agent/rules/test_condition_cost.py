"""No call makes a condition look at more than there is time for: what would be too much is asked."""

from __future__ import annotations

import time
from typing import Any

import pytest

from agent.errors import ConfigError
from agent.rules.condition_cost import DEPTH_LIMIT
from agent.rules.condition_text import code_of, literals, steepness
from agent.rules.conditions import Condition
from agent.rules.pattern_cost import PatternCost, cost_of
from tests.agent.rules.judging import policy, subject


@pytest.mark.parametrize(
    ("source", "steep"),
    [
        ("args.x > 1 && args.xs == args.ys", 0),
        ("args.xs.all(x, x > 1) && args.ys.exists(y, y > 1)", 1),
        ("args.xs.all(x, x in args.ys)", 2),
        ("args.xs.all(x, args.ys.exists(y, x == y))", 2),
        ("args.xs.filter(x, x > 1) == []", 2),
        ("args.xs.map(x, args.xs) == []", 3),
        ("args.xs.all(x, args.xs.all(y, args.xs.all(z, z > y)))", 3),
        ("args.x == '.all(x, args.xs.all(y, y))' // .map(x, args)", 0),
        ("args . xs . all ( x , x > 1 )", 1),
    ],
)
def test_how_the_work_grows_is_read_from_the_condition(source: str, steep: int) -> None:
    assert steepness(code_of(source)) == steep


def test_literals_and_code_are_told_apart() -> None:
    source = """args.a == "x\\"y" && args.b == r'\\' // "no" """
    assert [one.text for one in literals(source)] == ['x\\"y', "\\"]
    assert len(code_of(source)) == len(source)
    assert "no" not in code_of(source)


def judged(when: str, **args: Any) -> str:
    began = time.monotonic()
    verdict = policy({"tool": "*", "when": when, "action": "deny"}).judge(subject(**args))
    # Far more than it takes, and far less than it would.
    assert time.monotonic() - began < 20
    return verdict.reason if verdict.action == "ask" else verdict.action


@pytest.mark.parametrize(
    "when",
    [
        "args.xs.filter(x, x > 3) == []",
        "args.xs.map(x, args.xs) == []",
        "args.xs.all(x, args.xs.all(y, y == x || y != x))",
        "args.xs.all(x, args.xs.all(y, args.xs.all(z, z == x || y != x)))",
    ],
)
def test_what_would_take_too_much_work_asks(when: str) -> None:
    reason = judged(when, xs=list(range(20_000)))
    assert "would take too much work" in reason
    assert judged(when, xs=[1, 2, 3]) != reason


def test_a_single_look_at_each_is_not_too_much() -> None:
    assert judged("args.xs.all(x, x >= 0)", xs=list(range(20_000))) == "deny"


def test_what_is_nested_too_deeply_asks() -> None:
    deep: Any = 1
    for _ in range(500):
        deep = [deep]
    reason = judged("args.x == args.x", x=deep)
    assert reason.endswith(f"nested deeper than {DEPTH_LIMIT} levels")


@pytest.mark.parametrize(
    ("when", "why"),
    [
        ("args.name.matches('(')", "has the pattern '\\(', which can't be used"),
        ("args.name.matches('(a{1,1000}){1,1000}')", "which can't be used"),
        ("args.name.matches(args.pattern)", "needs the pattern of matches written out"),
        ("args.name.matches('a' + args.pattern)", "needs the pattern of matches written out"),
        (
            "args.name.matches('a' == 'b' ? 'c' : args.p)",
            "needs the pattern of matches written out",
        ),
        (r"args.name.matches(r'\w{130}')", "too much work each time"),
        ("args.names.all(n, n.matches(n))", "needs the pattern of matches written out"),
        ("(" * 900 + "true" + ")" * 900, "nested too deeply"),
        ("[" * 900 + "]" * 900 + " == []", "nested too deeply"),
    ],
)
def test_what_can_not_be_checked_in_time_is_refused_when_it_is_loaded(when: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why) as refused:
        Condition(when)
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize("written", [r"'(?:(?:x{60}){60}){20}'", r"r'^.{1,4000}$'"])
def test_a_long_pattern_is_not_tried_with_a_long_text(written: str) -> None:
    reason = judged(f"args.s.matches({written})", s="x" * 90_000)
    assert "with texts of 90,001 characters its pattern would take too much work" in reason
    assert "too much work" not in judged(f"args.s.matches({written})", s="x" * 50)


def test_a_pattern_that_takes_long_to_make_ready_is_not_tried_with_each_of_many() -> None:
    when = r"args.xs.all(x, !x.matches(r'\w{20}y'))"
    assert "would take too much work" in judged(when, xs=["a"] * 2_000)
    assert judged(when, xs=["a"] * 3) == "deny"


@pytest.mark.parametrize(
    ("pattern", "steps", "readying"),
    [
        ("abc", 3, 3),
        ("^a|b$", 2, 2),
        ("(?:a{3}b){5}", 20, 20),
        ("(?P<name>a{2,4})+", 4, 4),
        ("a{2,}", 2, 2),
        ("[]a-z]x", 2, 11),
        (r"\{\w.", 3, 4012),
        ("(?i)a{9}", 9, 9),
        ("((a", 1, 1),
    ],
)
def test_the_work_of_a_pattern_is_read_from_it(pattern: str, steps: int, readying: int) -> None:
    assert cost_of(pattern) == PatternCost(steps, readying)


def test_a_pattern_may_be_as_bad_as_it_likes_for_others() -> None:
    assert judged("args.s.matches(r'^(a+)+b$')", s="a" * 90_000) != "deny"
