"""How far something is, as a waiting terminal is told."""

from __future__ import annotations

import pytest

from bot.cli import console


@pytest.mark.parametrize(
    ("numbers", "words"),
    [((1, 1), "So far: 1 run, 1 fact.\n"), ((2, 3_000), "So far: 2 runs, 3,000 facts.\n")],
)
def test_one_is_told_as_one(
    numbers: tuple[int, int],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(console, "TOLD_EVERY_SECONDS", 0.0)
    console.so_far("run", "fact")(*numbers)
    assert capsys.readouterr().err == words
