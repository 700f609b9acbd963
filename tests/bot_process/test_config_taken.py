"""``pilothouse.yml``: what is said there is what holds."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from agent.rules.budgets import Budget
from agent.rules.limiting import Place
from agent.rules.parts import Approvers, Escalation, Patience, Verdict
from agent.rules.policy import Policy, Subject
from bot.config import load_config
from tests.bot_process.configs import GOOD, limits


def test_who_has_to_say_yes_and_for_how_long_it_holds_is_taken_from_the_file(
    tmp_path: Path,
) -> None:
    file = tmp_path / "pilothouse.yml"
    file.write_text(
        GOOD + "policy:\n- tool: process_refund\n  action: ask\n"
        "  approvers: {groups: [S01], count: 3, requester: true}\n"
        "  one_from_each: [S02, S03]\n  valid_for: 90m\n"
    )
    verdict = _verdict(load_config(file).policy)
    assert verdict.approvers == Approvers(
        groups=("S01",), requester=True, count=3, one_from_each=("S02", "S03")
    )
    assert verdict.valid_for == timedelta(minutes=90)


def test_a_group_that_must_say_yes_is_somebody_who_decides(tmp_path: Path) -> None:
    file = tmp_path / "pilothouse.yml"
    file.write_text(
        "agents:\n  a: {model: demo, tools: [agent.tools.asking, bot.demo.tools]}\n"
        "policy:\n- {tool: '*', action: ask, one_from_each: [S02, S03]}\n"
    )
    approvers = _verdict(load_config(file).policy).approvers
    assert approvers == Approvers(one_from_each=("S02", "S03"))


def test_a_question_can_be_asked_without_anybody_being_named_for_it(tmp_path: Path) -> None:
    file = tmp_path / "pilothouse.yml"
    file.write_text(
        "agents:\n  a: {model: demo, tools: [agent.tools.asking]}\n"
        "policy:\n- {tool: ask_user, action: ask}\n"
    )
    (agent,) = load_config(file).agents
    assert [tool.name for tool in agent.toolbox] == ["ask_user"]


def test_what_silence_means_is_taken_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "pilothouse.yml"
    file.write_text(
        GOOD + "policy:\n- tool: process_refund\n  action: ask\n  expires: 24h\n"
        "  on_expiry: escalate\n  remind: 2h\n"
        "  escalate: [{after: 4h, groups: [S01]}, {after: 2d, users: [U02]}]\n"
    )
    assert _verdict(load_config(file).policy).patience == Patience(
        expires=timedelta(hours=24),
        on_expiry="escalate",
        remind=timedelta(hours=2),
        escalate=(
            Escalation(after=timedelta(hours=4), groups=("S01",)),
            Escalation(after=timedelta(days=2), users=("U02",)),
        ),
    )


@pytest.mark.parametrize("policy", ["", "policy: [{tool: process_refund, action: ask}]\n"])
def test_where_nothing_is_said_a_question_waits_for_a_week(tmp_path: Path, policy: str) -> None:
    file = tmp_path / "pilothouse.yml"
    file.write_text(GOOD + policy)
    assert _verdict(load_config(file).policy).patience == Patience(expires=timedelta(days=7))


def test_a_budget_is_the_agents(tmp_path: Path) -> None:
    file = tmp_path / "pilothouse.yml"
    file.write_text(limits("{model_calls: 40, tokens: 9000, cost_usd: 2.50, minutes: 0.5}"))
    (agent,) = load_config(file).agents
    assert agent.budget == Budget(40, 9000, Decimal("2.5"), Decimal("0.5"), "ask")
    file.write_text(GOOD)
    (agent,) = load_config(file).agents
    assert agent.budget is None


def test_a_budget_that_stops_needs_no_owners(tmp_path: Path) -> None:
    file = tmp_path / "pilothouse.yml"
    written = limits("{tokens: 9, on_reached: stop}")
    file.write_text(written.replace("owners: {users: [U0OWNER]}\n", ""))
    (agent,) = load_config(file).agents
    assert agent.budget == Budget(tokens=9, on_reached="stop")


def _verdict(policy: Policy) -> Verdict:
    """Of a refund of $180."""
    return policy.judge(
        Subject(
            place=Place(
                tool="process_refund",
                agent="helper",
                requester="slack:T0PILOT:U0ALICE",
                channel=None,
                session="session_1",
                run_id="run_1",
            ),
            values={"amount": 180},
            shown={},
            size=20,
            asks_by_itself=True,
            own_reason="",
        )
    )
