"""Each recipe of the policy's manual, and of the agents', can be used as it stands, and each key has one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from agent.rules.rule import Rule, RuleApprovers, RuleEscalation
from agent.rules.rule_grants import RuleGrants
from agent.rules.rule_limit import RuleLimit
from bot.config import AgentEntry, BudgetEntry, ConfigFile, load_config
from bot.config_people import PeopleEntry, StartsEntry
from bot.config_retention import ByEnding, RetentionEntry

ROOT = Path(__file__).parents[2]
MANUAL = "".join((ROOT / "docs" / name).read_text() for name in ("policy.md", "agents.md"))
RECIPES = re.findall(r"^## (.*?)\n.*?^```yaml\n(.*?)^```", MANUAL, re.S | re.M)
#: What a recipe that speaks of rules alone stands in.
AROUND = {
    "owners": {"groups": ["S0FINANCE"]},
    "agents": {"refunds": {"model": "demo", "tools": ["bot.demo.tools"]}},
}


@pytest.mark.parametrize(("title", "recipe"), RECIPES, ids=[title for title, _ in RECIPES])
def test_a_recipe_can_be_used_as_it_stands(tmp_path: Path, title: str, recipe: str) -> None:
    around = {key: part for key, part in AROUND.items() if key not in yaml.safe_load(recipe)}
    file = tmp_path / "pilothouse.yml"
    file.write_text(recipe + (yaml.safe_dump(around) if around else ""))
    config = load_config(file)
    assert config.unknown_tools == ()


def _keys(written: Any) -> set[str]:
    if isinstance(written, dict):
        return {str(key) for key in written}.union(*map(_keys, written.values()))
    return set().union(*map(_keys, written)) if isinstance(written, list) else set()


def test_each_key_has_a_recipe() -> None:
    models: tuple[type[BaseModel], ...] = (
        *(ConfigFile, AgentEntry, BudgetEntry, PeopleEntry, StartsEntry, RetentionEntry, ByEnding),
        *(Rule, RuleApprovers, RuleEscalation, RuleGrants, RuleLimit),
    )
    there = {key for model in models for key in model.model_fields}
    shown: set[str] = set().union(*(_keys(yaml.safe_load(recipe)) for _, recipe in RECIPES))
    assert there - shown == set()
    headings = " ".join(re.findall(r"^## (.*)", MANUAL, re.M))
    assert [key for key in Rule.model_fields if f"`{key}`" not in headings] == []


def test_the_readme_leads_to_it() -> None:
    readme = (ROOT / "README.md").read_text()
    assert all(f"(docs/{name})" in readme for name in ("policy.md", "agents.md"))
