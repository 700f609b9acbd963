"""No call makes a condition look at more than there is time for: what would be too much is asked."""

from __future__ import annotations

import time
from typing import Any

import pytest

from agent.errors import ConfigError
from agent.rules.condition_cost import DEPTH_LIMIT
from agent.rules.condition_text import code_of, literals, steepness
from agent.rules.conditions import Condition
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
        ("args.names.all(n, n.matches(n))", "needs the pattern of matches written out"),
        ("(" * 900 + "true" + ")" * 900, "nested too deeply"),
        ("[" * 900 + "]" * 900 + " == []", "nested too deeply"),
    ],
)
def test_what_can_not_be_checked_in_time_is_refused_when_it_is_loaded(when: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why) as refused:
        Condition(when)
    assert len(str(refused.value)) < 600


def test_a_pattern_may_be_as_bad_as_it_likes_for_others() -> None:
    assert judged("args.s.matches(r'^(a+)+b$')", s="a" * 90_000) != "deny"
