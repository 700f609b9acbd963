"""``pilothouse.yml``: what is wrong in it is named with file, line and key, and starts nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.errors import ConfigError
from bot.config import load_config
from bot.settings import DEMO_CONFIG
from tests.bot_process.configs import GOOD, limits, refusal


@pytest.fixture
def clean_path() -> Iterator[None]:
    before = list(sys.path)
    yield
    sys.path[:] = before


def test_the_demo_asks_finance_above_a_hundred() -> None:
    config = load_config(DEMO_CONFIG)
    assert [agent.name for agent in config.agents] == ["refunds"]
    rule = next(rule for rule in config.policy.rules if rule.when)
    assert rule.when == "args.amount > 100"
    assert rule.approvers is not None
    assert rule.approvers.groups == ("S0FINANCE",)
    assert not rule.approvers.requester


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1: there are no agents in it."),
        ("agents: {}\n", "1: agents: "),
        ("a: &a [*a]\n", "1: a: it is nested more than"),
        ("agent: {}\n", "1: agents: this key is needed."),
        (
            GOOD + "day: 2026-13-45\n",
            "4: '2026-13-45' is no timestamp; put it in quotes if it is a text.",
        ),
        (
            GOOD + "!!timestamp day: 1\n",
            "4: 'day' is no timestamp; put it in quotes if it is a text.",
        ),
        (GOOD + "on: 1\n", "4: on: YAML takes the key 'on' for true or false; put it in quotes."),
        (GOOD + "? \n: 1\n", "4: YAML takes the key '' for nothing"),
        (
            limits("{tokens: 010}"),
            "3: agents.helper.budget.tokens: put it in quotes if it is a text, or write plain digits: YAML takes '010'",
        ),
        (
            limits("{tokens: 5:00}"),
            "3: agents.helper.budget.tokens: put the time in quotes, or write plain digits: YAML takes '5:00'",
        ),
        (limits("{minutes: 0x10}"), "3: agents.helper.budget.minutes: put it in quotes"),
        (limits(f"{{tokens: {'9' * 6000}}}"), f"3: '{'9' * 60}…' is no int; put it in quotes"),
        (GOOD + 'a: "\\ud800"\n', "4: a: it has half of a character (U+D800), which no text has."),
        (GOOD + '"\\ud800": 1\n', "4: \\ud800: it has half of a character"),
        (GOOD + "# \x07\n", "4: it has a character that no text has (U+0007)."),
        (
            GOOD.replace("helper", "help\N{CYRILLIC SMALL LETTER IE}r"),
            "3: agents.help\N{CYRILLIC SMALL LETTER IE}r: ",
        ),
        (
            GOOD
            + "freeze: [{tools: 's\N{CYRILLIC SMALL LETTER IE}nd_*', from: '14:00', to: '15:00', zone: UTC}]\n",
            "4: freeze[0].tools: 's\N{CYRILLIC SMALL LETTER IE}nd_*' can be no tool's name: it has cyrillic",
        ),
        (GOOD + "extra: 1\n", "4: extra: there is no such key."),
        (
            GOOD.replace("tools:", "tool:"),
            "3: agents.helper.tool: there is no such key; did you mean tools?",
        ),
        (
            GOOD + "freeze: [{tools: x, from: 14:00, to: 1}]\n",
            "4: freeze[0].from: put the time in quotes",
        ),
        (
            GOOD + 'freeze: [{tools: x, from: "14:00", to: "18:00", zone: Berlin}]\n',
            "4: freeze[0].zone: there is no time zone 'Berlin' here",
        ),
        (
            GOOD + 'freeze: [{tools: x, from: "14:00", to: "14:00", zone: UTC}]\n',
            "4: freeze[0].to: it ends when it begins",
        ),
        (
            GOOD + 'freeze: [{tools: x, day: [fri], from: "14:00", to: "18:00", zone: UTC}]\n',
            "4: freeze[0].day: there is no such key; did you mean days?",
        ),
        (
            GOOD + 'freeze: [{tools: x, days: [friday], from: "14:00", to: "18:00", zone: UTC}]\n',
            "4: freeze[0].days[0]: has to be mon, tue, wed, thu, fri, sat or sun.",
        ),
        (GOOD + "owners: {users: [U1]}\n", "4: owners: stands twice."),
        (
            GOOD.replace("{users: [U0OWNER]}", "[U1]"),
            "1: owners: there have to be keys with values here.",
        ),
        (
            GOOD.replace("demo,", "opneai:gpt,"),
            "3: agents.helper.model: opneai:gpt names no provider",
        ),
        (GOOD.replace("model: demo,", ""), "3: agents.helper.model: this key is needed."),
        (GOOD.replace("bot.demo.tools", "no.such"), "3: agents.helper.tools[0]: no.such can't be"),
        (GOOD.replace("bot.demo.tools", "bot.demo"), "3: agents.helper.tools[0]: The module bot"),
        (GOOD.replace("}\nagents", "\nagents"), "2: "),
        (GOOD.replace("[U0OWNER]", "[]"), "1: owners: name at least one user or group"),
        (
            GOOD + "  other: {model: demo}\n",
            "2: agents: say default: true at one of them.",
        ),
        (
            GOOD.replace("demo,", "demo, dry_run: maybe,"),
            "3: agents.helper.dry_run: has to be true or false.",
        ),
        (
            GOOD.replace("users: [U0OWNER]", "groups: [U0OWNER]"),
            "1: owners.groups: U0OWNER is a person's id; people go under users.",
        ),
        (
            GOOD.replace("[U0OWNER]", "[S0OWNERS]"),
            "1: owners.users: S0OWNERS is a group's id; groups go under groups.",
        ),
        (
            GOOD.replace("helper", "1a"),
            "3: agents.1a: a name begins with a letter; letters, digits,",
        ),
        (
            GOOD.replace("[bot.demo.tools]", "bot.demo.tools"),
            "3: agents.helper.tools: has to be a list:",
        ),
        (
            GOOD.replace("demo,", "1,"),
            "3: agents.helper.model: has to be one text; put what looks like",
        ),
        (
            GOOD.replace("agents:\n  ", "agents: 1 #"),
            "2: agents: there have to be keys with values",
        ),
        (limits("{}"), "3: agents.helper.budget: give at least one of model_calls, tokens,"),
        (limits("{on_reached: stop}"), "3: agents.helper.budget: give at least one of"),
        (
            limits("{model_calls: 0}"),
            "3: agents.helper.budget.model_calls: has to be 1 or more.",
        ),
        (limits("{tokens: many}"), "3: agents.helper.budget.tokens: has to be a whole number."),
        (limits("{cost_usd: -1}"), "3: agents.helper.budget.cost_usd: has to be more than 0."),
        (
            limits("{cost_usd: .inf}"),
            "3: agents.helper.budget.cost_usd: has to be a number that ends somewhere.",
        ),
        (limits("{minutes: 0}"), "3: agents.helper.budget.minutes: has to be more than 0."),
        (
            limits("{cost_usd: 0.0000001}"),
            "3: agents.helper.budget.cost_usd: Give at most 6 decimal places.",
        ),
        (
            limits("{model_calls: 1000001}"),
            "3: agents.helper.budget.model_calls: Give at most 1,000,000.",
        ),
        (limits("{hours: 1}"), "3: agents.helper.budget.hours: there is no such key."),
        (
            limits("{tokens: 9, on_reached: shrug}"),
            "3: agents.helper.budget.on_reached: has to be ask or stop.",
        ),
        (
            limits("{tokens: 9}").replace("owners: {users: [U0OWNER]}\n", ""),
            "2: agents.helper.budget.on_reached: owners are asked when it is reached, and there are",
        ),
    ],
)
def test_a_mistake_is_named_with_its_line_and_key(tmp_path: Path, text: str, said: str) -> None:
    assert refusal(tmp_path, text).startswith(said)


def test_every_mistake_is_told_at_once(tmp_path: Path) -> None:
    said = refusal(tmp_path, GOOD + "one: 1\ntwo: 2\n")
    assert said.splitlines() == ["4: one: there is no such key.", "5: two: there is no such key."]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yml can't be read"):
        load_config(tmp_path / "none.yml")


def test_one_vote_may_be_said_and_the_default_stands_first(tmp_path: Path) -> None:
    file = tmp_path / "pilothouse.yml"
    file.write_text(
        "agents:\n  a: {model: demo}\n  b: {model: demo, default: true}\n"
        "policy:\n- {tool: x*, action: ask, approvers: {users: [U01], count: 1}}\n"
    )
    assert [agent.name for agent in load_config(file).agents] == ["b", "a"]


def test_the_environment_chooses_the_model(tmp_path: Path) -> None:
    file = tmp_path / "pilothouse.yml"
    file.write_text(GOOD.replace("demo,", "anthropic:x,"))
    assert load_config(file).agents[0].model.name == "anthropic:x"
    assert load_config(file, model="demo").agents[0].model.name == "demo"
    with pytest.raises(ConfigError, match="PILOTHOUSE_MODEL is wrong: gpt-5 is no model"):
        load_config(file, model="gpt-5")


@pytest.mark.usefixtures("clean_path")
def test_tools_are_found_beside_the_file_and_replace_nothing_of_python(tmp_path: Path) -> None:
    declared = (
        'from agent import tool\n@tool\ndef ping(host: str) -> str:\n    "Ping."\n    return host\n'
    )
    (tmp_path / "own_tools_of_this_test.py").write_text(declared)
    (tmp_path / "json.py").write_text("raise RuntimeError\n")
    file = tmp_path / "pilothouse.yml"
    file.write_text(GOOD.replace("bot.demo.tools", "own_tools_of_this_test"))
    (agent,) = load_config(file).agents
    assert [one.name for one in agent.toolbox] == ["ping"]
    assert sys.path[-1] == str(tmp_path)
