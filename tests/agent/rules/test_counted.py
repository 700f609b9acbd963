"""What is one is told as one."""

from __future__ import annotations

import pytest

from agent.rules.counted import counted


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 runs"), (1, "1 run"), (2, "2 runs"), (2_000, "2,000 runs")]
)
def test_one_is_told_as_one(number: int, words: str) -> None:
    assert counted(number, "run") == words
