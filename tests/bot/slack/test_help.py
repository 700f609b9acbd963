"""What help tells one to ask for: only what there is somebody for."""

from __future__ import annotations

import pytest

from agent import Agent, ScriptedModel, Toolbox
from agent.ports import Model
from agent.tools import asking
from bot.demo import tools as demo_tools
from bot.demo.model import DemoModel
from bot.slack.help import help_on

SHOP = Toolbox.of_modules([demo_tools, asking])


def told(*given: tuple[Model, Toolbox]) -> str:
    named = [Agent(f"a{number}", model, tools) for number, (model, tools) in enumerate(given)]
    return help_on({one.name: one for one in named})


def test_with_the_demo_shop_its_phrases_are_told() -> None:
    said = told((DemoModel(), SHOP))
    assert "`/agent refund ORD-3300 180`" in said
    assert "the demo also takes `check ORD-1 ORD-2`" in said


@pytest.mark.parametrize("others", [(), ((DemoModel(), SHOP),)])
def test_with_tools_of_ones_own_the_demos_model_is_asked_what_it_can_do(
    others: tuple[tuple[Model, Toolbox], ...],
) -> None:
    said = told((DemoModel(), Toolbox()), *others)
    assert "`/agent hello`" in said
    assert "ORD-" not in said


def test_another_model_takes_any_words() -> None:
    said = told((ScriptedModel([]), SHOP), (DemoModel(), SHOP))
    assert "`/agent` and what is to be done, in your own words" in said
    assert "ORD-" not in said
    assert "demo" not in said
