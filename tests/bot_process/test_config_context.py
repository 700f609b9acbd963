"""How much an agent's model is to be told at once: what is wrong starts nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.config import load_config
from tests.bot_process.configs import GOOD, refusal

CLAUDE = GOOD.replace("model: demo", "model: anthropic:claude-sonnet-5-5")


def with_context(value: str, text: str = CLAUDE) -> str:
    return text.replace("tools:", f"context_tokens: {value}, tools:")


@pytest.mark.parametrize(("written", "tokens"), [(CLAUDE, None), (with_context("100000"), 100_000)])
def test_it_is_what_the_file_says_or_as_much_as_the_model_takes(
    written: str, tokens: int | None, tmp_path: Path
) -> None:
    file = tmp_path / "pilothouse.yml"
    file.write_text(written)
    (agent,) = load_config(file).agents
    assert (agent.context_tokens, agent.context.tokens) == (tokens, tokens)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("999", "has to be 1000 or more"),
        ("-1", "has to be 1000 or more"),
        ("100k", "has to be a whole number"),
    ],
)
def test_what_no_model_could_work_with_is_refused(value: str, words: str, tmp_path: Path) -> None:
    said = refusal(tmp_path, with_context(value))
    assert words in said
    assert "context_tokens" in said


def test_the_demos_model_is_told_all_of_it(tmp_path: Path) -> None:
    said = refusal(tmp_path, with_context("100000", GOOD))
    assert "context_tokens: the demo's model goes by all that was said" in said
    (tmp_path / "pilothouse.yml").write_text(with_context("100000"))
    (agent,) = load_config(tmp_path / "pilothouse.yml", model="demo").agents
    assert agent.context_tokens is None
