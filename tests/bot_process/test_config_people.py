"""Who may do what to an agent's runs, and how many one person may start: what is wrong starts nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.engine.agents import Agent
from agent.rules.access import Access
from agent.rules.rule import People
from bot.config import load_config
from tests.bot_process.configs import GOOD, refusal


def with_keys(*keys: str) -> str:
    return GOOD.replace("{model: demo, ", f"{{model: demo, {', '.join(keys)}, ")


def agent_of(folder: Path, *keys: str) -> Agent:
    file = folder / "pilothouse.yml"
    file.write_text(with_keys(*keys) if keys else GOOD)
    (agent,) = load_config(file).agents
    return agent


def test_a_list_that_is_left_out_is_for_every_full_member(tmp_path: Path) -> None:
    agent = agent_of(tmp_path)
    assert (agent.access, agent.starts_per_hour) == (Access(), None)


def test_each_list_is_for_members_or_for_those_whom_it_names(tmp_path: Path) -> None:
    lists = "{start: members, steer: {users: [U1], groups: [S1]}, stop: {groups: [S2]}}"
    agent = agent_of(tmp_path, f"people: {lists}", "starts: {per_user_hour: 20}")
    access, per_hour = agent.access, agent.starts_per_hour
    assert access.start is None
    assert access.steer is not None
    assert access.stop is not None
    assert (access.steer.users, access.steer.groups) == (("U1",), ("S1",))
    assert People(groups=access.stop.groups) == People(groups=("S2",))
    assert per_hour == 20


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("people:", "people: there is nothing behind it; give it a value or take it out."),
        ("people: {}", "people: give at least one of start, steer and stop."),
        ("people: members", "people: there have to be keys with values here."),
        ("people: {starts: members}", "people.starts: there is no such key; did you mean start?"),
        ("people: {start: everyone}", "people.start: write members, or name people"),
        (
            "people: {start: }",
            "people.start: there is nothing behind it; give it a value or take it out.",
        ),
        ("people: {stop: []}", "people.stop: write members, or name people"),
        ("people: {stop: {}}", "people.stop: name at least one user or group, or write members."),
        ("people: {stop: {users: []}}", "people.stop: name at least one user or group"),
        (
            "people: {stop: {user: [U1]}}",
            "people.stop.user: there is no such key; did you mean users?",
        ),
        ("people: {stop: {users: [S1]}}", "people.stop.users: S1 is a group's id"),
        ("people: {stop: {users: [bob]}}", "people.stop.users: 'bob' is not an id"),
        ("people: {stop: {users: [U1], count: 2}}", "people.stop.count: there is no such key."),
        ("starts:", "starts: there is nothing behind it; give it a value or take it out."),
        ("starts: {}", "starts.per_user_hour: this key is needed."),
        (
            "starts: {per_user_hour: }",
            "starts.per_user_hour: there is nothing behind it; give it a value or take it out.",
        ),
        ("starts: {per_user_hour: 0}", "starts.per_user_hour: has to be 1 or more."),
        ("starts: {per_user_hour: 1.5}", "starts.per_user_hour: has to be a whole number."),
        (
            "starts: {per_user_hour: 20, per_hour: 1}",
            "starts.per_hour: there is no such key; did you mean per_user_hour?",
        ),
    ],
)
def test_what_is_wrong_refuses_the_start_and_is_named(
    tmp_path: Path, written: str, said: str
) -> None:
    assert refusal(tmp_path, with_keys(written)).startswith(f"3: agents.helper.{said}")
