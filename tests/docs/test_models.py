"""docs/models.md names every provider, where it says that it does, and what it takes."""

from __future__ import annotations

import re
from pathlib import Path

from agent.models.providers import EXTRAS, PROVIDERS

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs" / "models.md").read_text()


def test_every_provider_stands_in_its_row_with_its_extra() -> None:
    rows = [line.split("|")[1:4] for line in DOCS.splitlines() if line.startswith("| `")]
    named = {name: row for row in rows for name in re.findall(r"`([a-z-]+)`", row[0])}
    assert set(PROVIDERS) - set(named) == {"openai-responses", "azure-responses"}
    for name, (_, extra, wanted) in named.items():
        provider = PROVIDERS[name]
        assert extra.strip().startswith(
            f"`{provider.extra}`" if provider.extra in EXTRAS else "none"
        )
        if "their own" not in wanted and "the same" not in wanted:
            assert all(f"`{variable}`" in wanted for variable in provider.variables), name


def test_every_extra_has_a_lock() -> None:
    assert {path.stem for path in (ROOT / "locks").glob("*.lock")} == {*EXTRAS, "mcp"}
    pinned = re.compile(r"^pydantic-ai-slim==2\.\d+\.\d+ ", re.MULTILINE)
    for extra in (*EXTRAS, "mcp"):
        assert len(pinned.findall((ROOT / "locks" / f"{extra}.lock").read_text())) == 1
