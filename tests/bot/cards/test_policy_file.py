"""How the policy file stands, in the Home of those who own agents."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agent.engine.in_force import FileStanding, Refused
from bot.slack.cards.home import Home, home_view
from tests.bot.cards.checking import check_home, shown
from tests.bot.cards.test_limits import NASTY

ONE = datetime(2026, 12, 1, 13, 0, tzinfo=UTC)
TWO = datetime(2026, 12, 1, 14, 5, tzinfo=UTC)


def drawn(standing: FileStanding) -> str:
    view = home_view(Home(policy_file=standing))
    check_home(view)
    return shown(view["blocks"])


def test_what_could_not_be_loaded_is_said_with_its_place_and_what_holds() -> None:
    why = "pilothouse.yml:5: policy[0].action: has to be allow, ask or deny."
    told = drawn(FileStanding("pilothouse.yml", "d", ONE, Refused(why, TWO)))
    assert why in told
    assert f"*pilothouse.yml* of <!date^{int(TWO.timestamp())}^" in told
    assert f"could not be loaded; that of <!date^{int(ONE.timestamp())}^" in told
    assert "stays in force." in told


def test_of_a_file_that_is_gone_no_time_is_said() -> None:
    told = drawn(FileStanding("a.yml", "d", None, Refused("a.yml can't be read: gone.")))
    assert "The policy file *a.yml* could not be loaded; the one before it stays in force." in told


def test_what_takes_a_restart_is_named() -> None:
    keys = tuple(f"agents.a{n}.model" for n in range(12))
    told = drawn(FileStanding("a.yml", "d", ONE, needs_restart=keys))
    assert "but for what takes a restart of every bot process: agents.a0.model, " in told
    assert "agents.a9.model and 2 more." in told


@pytest.mark.parametrize("text", NASTY)
def test_whatever_stands_in_it_fits(text: str) -> None:
    drawn(FileStanding(text or "x", "d", ONE, Refused(text or "x", TWO), (text or "x",) * 40))
