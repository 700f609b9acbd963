"""The limits of a ``pilothouse.yml``: what can't be kept is named with its line and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.config import load_config
from tests.bot_process.configs import GOOD, refusal

WITH_TOOLS = GOOD.replace("bot.demo.tools", "tests.bot_process.limited_tools")


def rule(limit: str, tool: str = "pay_dollars", action: str = "allow") -> str:
    return WITH_TOOLS + f"policy:\n- tool: '{tool}'\n  action: {action}\n  limit: {{{limit}}}\n"


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("max: 5", "7: policy[0].limit: say what is added up: sum, such as args.amount, or count"),
        ("count: true", "7: policy[0].limit.max: this key is needed"),
        ("sum: args.amount, count: true, max: 5", "7: policy[0].limit.count: there is a sum"),
        ("count: false, max: 5", "7: policy[0].limit.count: write true where calls are counted"),
        ("count: 1, max: 5", "7: policy[0].limit.count: "),
        ("count: true, max: 0", "7: policy[0].limit.max: "),
        ("count: true, max: -1", "7: policy[0].limit.max: "),
        ("count: true, max: .nan", "7: policy[0].limit.max: "),
        ("count: true, max: .inf", "7: policy[0].limit.max: "),
        ("count: true, max: many", "7: policy[0].limit.max: "),
        ("count: true, max: 1.5", "7: policy[0].limit.max: calls are counted by whole numbers"),
        ("count: true, max: 5, most: 3", "7: policy[0].limit.most: there is no such key"),
        ("count: true, max: 5, per: [person]", "7: policy[0].limit.per[0]: "),
        ("count: true, max: 5, per: [day, day]", "7: policy[0].limit.per: day stands there twice"),
        ("count: true, max: 5, per: [day, week]", "7: policy[0].limit.per: day and week are two"),
        (
            "count: true, max: 5, zone: Berlin, per: [day]",
            "7: policy[0].limit.zone: there is no time zone 'Berlin'",
        ),
        ("count: true, max: 5, zone: Europe/Berlin", "7: policy[0].limit.zone: without hour, day"),
        ("count: true, max: 5, when_over: stop", "7: policy[0].limit.when_over: "),
        ("sum: 'args.amount +', max: 5", "7: policy[0].limit.sum: 'args.amount +' is not CEL"),
        ("sum: requester.id, max: 5", "7: policy[0].limit.sum: it adds up something of the call's"),
        ("sum: '5', max: 5", "7: policy[0].limit.sum: it adds up something of the call's"),
        ("sum: args.amuont, max: 5", "7: policy[0].limit.sum: pay_dollars has no argument amuont"),
        ("sum: args.note, max: 5", "7: policy[0].limit.sum: note of pay_dollars is no number"),
        ("sum: args.to, max: 5", "7: policy[0].limit.sum: to of pay_dollars is no number"),
        (
            "sum: args.amount + args.fee, max: 5",
            "7: policy[0].limit.sum: args.amount + args.fee adds",
        ),
    ],
)
def test_a_mistake_is_named_with_its_line_and_key(tmp_path: Path, limit: str, said: str) -> None:
    assert refusal(tmp_path, rule(limit)).startswith(said)


def test_amounts_of_different_currencies_are_not_added(tmp_path: Path) -> None:
    said = refusal(tmp_path, rule("sum: args.amount, max: 5", "pay_*"))
    assert said.startswith("7: policy[0].limit.sum: it would add up ")
    assert "USD (pay_dollars)" in said
    assert "EUR (pay_euros)" in said
    assert said.endswith("write a rule for each tool of pay_*.")


def test_what_lets_nothing_run_has_no_limit(tmp_path: Path) -> None:
    said = refusal(tmp_path, rule("count: true, max: 5", action="deny"))
    assert said.startswith("7: policy[0].limit: this rule lets nothing run that could be limited")


def test_what_goes_over_it_needs_somebody_who_may_decide(tmp_path: Path) -> None:
    ownerless = rule("count: true, max: 5").split("\n", 1)[1]
    assert "may be asked (allow pay_dollars within a limit; at most 5 calls in all" in refusal(
        tmp_path, ownerless
    )


@pytest.mark.parametrize(
    ("limit", "tool"),
    [
        ("count: true, per: [user, hour], max: 5", "*"),
        ("sum: args.amount, per: [user, day], max: 500.50, zone: Europe/Berlin", "pay_dollars"),
        ("sum: args.amount, max: 500, when_over: deny", "pay_euros"),
        ("sum: args.size, max: 500", "pay_anything"),
        ("sum: 'size(args.to)', per: [session, tool, month], max: 500", "pay_dollars"),
        ("sum: args.amount, per: [agent, channel, run, week], max: 500", "pay_anything"),
    ],
)
def test_a_good_one_is_taken(tmp_path: Path, limit: str, tool: str) -> None:
    file = tmp_path / "pilothouse.yml"
    approvers = "  approvers: {users: [U0BOB], count: 1}\n  expires: 1h\n"
    file.write_text(rule(limit, tool) + approvers)
    (one,) = load_config(file).policy.rules
    assert one.limit is not None
