"""Which models can be named, and what is missing where one is to be asked."""

from __future__ import annotations

import ast
import asyncio
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from agent.engine.agents import Agent
from agent.errors import Blocked, ConfigError
from agent.models import providers
from agent.models.library import LibraryModel
from agent.models.providers import PROVIDERS, lack_of
from agent.ports import ModelRequest
from agent.rules.budgets import Budget
from agent.tools.registry import Toolbox
from bot.models import check_models, hand_on

ROOT = Path(__file__).parents[2]
CLAUDE = "anthropic:claude-sonnet-5-5"


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS.values():
        for variable in provider.variables:
            monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("claude", "claude is no model: say demo, or PROVIDER:MODEL"),
        ("anthropic:", "anthropic: is no model"),
        ("opneai:gpt-5", "names no provider that is known here; did you mean openai:gpt-5?"),
        ("skynet:t800", "names no provider that is known here; there are openai, openai-chat"),
    ],
)
def test_a_model_that_is_none_is_refused_by_its_name(name: str, why: str) -> None:
    with pytest.raises(ConfigError) as refused:
        LibraryModel(name)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        (CLAUDE, "", "needs ANTHROPIC_API_KEY, which is not set."),
        (CLAUDE, "ANTHROPIC_API_KEY", None),
        ("openai:gpt-5", "", "needs OPENAI_API_KEY (or OPENAI_BASE_URL), which is not set."),
        ("openai-chat:mine", "OPENAI_BASE_URL", None),
        ("ollama:qwen3", "OLLAMA_API_KEY", "needs OLLAMA_BASE_URL, which is not set."),
    ],
)
def test_a_key_that_is_missing_is_named(
    name: str, given: str, says: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if given:
        monkeypatch.setenv(given, "http://127.0.0.1:9/v1")
    lack = LibraryModel(name).lacks()
    assert (lack and lack.message) == (says and f"The model {name} {says}")


@pytest.mark.parametrize(
    ("name", "by"),
    [
        (CLAUDE, 'make extra EXTRA=anthropic, or pip install "pilothouse[anthropic]"'),
        ("ollama:qwen3", 'make extra EXTRA=openai, or pip install "pilothouse[openai]"'),
        ("groq:llama", 'pip install "pydantic-ai-slim[groq]"'),
    ],
)
def test_packages_that_are_missing_are_said_before_any_key(
    name: str, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers, "LIBRARY", "no_such_library")
    lack = lack_of(name)
    assert lack is not None
    assert lack.message == f"The model {name} needs packages that are not installed."
    assert by in lack.fix


def test_a_model_that_can_not_be_asked_here_blocks_and_fails_nothing() -> None:
    model = LibraryModel(CLAUDE)
    with pytest.raises(Blocked, match="ANTHROPIC_API_KEY") as blocked:
        asyncio.run(model.reply(ModelRequest("", (), ())))
    assert (blocked.value.code, "Set it" in blocked.value.fix) == ("no_credentials", True)
    with pytest.raises(ConfigError, match=r"The agent a: The model anthropic:.* not set\. Set it"):
        check_models([Agent("a", model, Toolbox(), budget=Budget(model_calls=1))])


def test_what_is_the_providers_own_in_a_dotenv_is_handed_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "from the environment")
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    written = {"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "y", "AWS_DEFAULT_REGION": "z"}
    # What is not set before is taken away again.
    for name in ("ANTHROPIC_API_KEY", "PATH_OF_MINE", "ANTHROPIC_BASE_URL", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    hand_on({**written, "PATH_OF_MINE": "no", "ANTHROPIC_BASE_URL": None})
    found = {name: os.environ.get(name) for name in (*written, "PATH_OF_MINE")}
    assert found == written | {"OPENAI_API_KEY": "from the environment", "PATH_OF_MINE": None}


def test_the_library_is_imported_by_nothing_that_is_imported_without_it() -> None:
    """It takes seconds, and the demo needs none of it."""
    imports = {
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."): set(
            imported(ast.parse(path.read_text(encoding="utf-8")).body)
        )
        for package in ("agent", "store", "bot")
        for path in (ROOT / package).rglob("*.py")
    }
    heavy = {name for name, those in imports.items() if any(map(is_library, those))}
    while more := {name for name, those in imports.items() if those & heavy} - heavy:
        heavy |= more
    assert {"agent.models.wire", "agent.tools.mcp.connection"} <= heavy
    assert all(name.startswith(("agent.models.", "agent.tools.mcp.")) for name in heavy)


def imported(body: Sequence[ast.stmt]) -> Iterator[str]:
    """What a module imports when it is imported itself; what stands under an ``if`` is for the types."""
    for statement in body:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            yield statement.module
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)


_LIBRARIES = (
    *("pydantic_ai", "genai_prices", "openai", "anthropic"),
    *("mcp", "fastmcp", "jsonschema"),
)


def is_library(module: str) -> bool:
    return module.partition(".")[0] in _LIBRARIES
