"""Which of several agents is meant."""

from __future__ import annotations

import re

import pytest

from agent import Agent, ScriptedModel, Toolbox
from bot.slack.choosing import (
    AnswersElsewhere,
    Meant,
    agent_of,
    choices,
    meant_by,
    where_it_answers,
    without_own_name,
)


def agent(name: str, *channels: str, is_default: bool = False) -> Agent:
    return Agent(name, ScriptedModel([]), Toolbox(), channels=channels, is_default=is_default)


AGENTS = {
    one.name: one
    for one in (
        agent("refunds", "C0SUPPORT", is_default=True),
        agent("Deploys", "C0OPS"),
        agent("notes"),
    )
}
BOUND = {one.name: one for one in (agent("refunds", "C0SUPPORT"),)}


@pytest.mark.parametrize(
    ("channel", "text", "meant"),
    [
        ("C0SUPPORT", "refund ORD-1", Meant("refunds", "refund ORD-1")),
        ("C0OPS", "web 1.2", Meant("Deploys", "web 1.2")),
        ("C0OTHER", "refund ORD-1", Meant("refunds", "refund ORD-1")),
        ("D0ALICE", "refund ORD-1", Meant("refunds", "refund ORD-1")),
        ("C0OPS", "notes: sum it up", Meant("notes", "sum it up", is_named=True)),
        ("C0OPS", "refunds: ORD-1", Meant("refunds", "ORD-1", is_named=True)),
        ("D0ALICE", "deploys: web", Meant("Deploys", "web", is_named=True)),
        ("C0OPS", " DEPLOYS :web\n1.2 ", Meant("Deploys", "web\n1.2", is_named=True)),
        ("C0OPS", "deploys:", Meant("Deploys", "", is_named=True)),
        # What is no agent's name is a word like any other.
        ("C0OTHER", "note: buy milk", Meant("refunds", "note: buy milk")),
        ("C0OTHER", "ask deploys: web", Meant("refunds", "ask deploys: web")),
        ("C0OTHER", "deploys", Meant("refunds", "deploys")),
        ("C0OTHER", "notes://a.example", Meant("refunds", "notes://a.example")),
        ("C0OTHER", "x" * 50_000, Meant("refunds", "x" * 50_000)),
    ],
)
def test_it_is_meant_by_its_name_or_its_channel_or_by_default(
    channel: str, text: str, meant: Meant
) -> None:
    assert meant_by(AGENTS, "U0ALICE", channel, text) == meant


def test_one_that_is_named_outside_of_its_channels_is_told_where_it_answers() -> None:
    with pytest.raises(AnswersElsewhere) as told:
        meant_by(AGENTS, "U0ALICE", "C0SUPPORT", "deploys: web")
    assert told.value.why == "Deploys answers in <#C0OPS>"


def test_without_a_default_nobody_answers_elsewhere_but_the_only_one_directly() -> None:
    assert meant_by(BOUND, "U0ALICE", "C0SUPPORT", "x").agent == "refunds"
    assert meant_by(BOUND, "U0ALICE", "D0ALICE", "x").agent == "refunds"
    with pytest.raises(AnswersElsewhere) as told:
        meant_by(BOUND, "U0ALICE", "C0OPS", "x")
    assert told.value.why == "no agent answers here: refunds in <#C0SUPPORT>"


def test_one_can_choose_among_those_that_answer_there() -> None:
    assert [one.name for one in choices(AGENTS, "C0OPS")] == ["Deploys", "refunds", "notes"]
    assert [one.name for one in choices(AGENTS, "C0SUPPORT")] == ["refunds", "notes"]
    assert list(choices(BOUND, "C0OPS")) == []


def test_where_it_answers_is_said() -> None:
    said = [where_it_answers(one) for one in AGENTS.values()]
    assert said == [
        "wherever no other does; in <#C0SUPPORT> anyway",
        "in <#C0OPS>",
        "anywhere, by its name",
    ]
    many = agent("many", *(f"C{n}" for n in range(9)))
    assert re.search(r"<#C4> and 4 more$", where_it_answers(many))


def test_only_its_own_name_is_taken_away() -> None:
    assert without_own_name("refunds", "Refunds: ORD-1") == "ORD-1"
    assert without_own_name("refunds", "deploys: web") == "deploys: web"


def test_the_first_is_the_default_where_none_says_so() -> None:
    named = {one.name: one for one in (agent("a"), agent("b", "C0OPS"))}
    assert [one and one.name for one in (agent_of(named, "C0"), agent_of(named, "C0OPS"))] == [
        "a",
        "b",
    ]
