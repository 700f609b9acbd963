"""The golden journals that this version writes: written again they are the same, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.rules.replaying.replay import replay
from tests.agent.engine.golden_stories import STORIES, as_lines, row
from tests.agent.rules.golden import JOURNALS, assert_part_of


@pytest.mark.parametrize("name", STORIES)
async def test_a_story_told_twice_is_the_same_byte_for_byte(name: str, tmp_path: Path) -> None:
    told = []
    for time in ("first", "second"):
        (tmp_path / time).mkdir()
        told.append(as_lines(await STORIES[name](tmp_path / time)))
    assert told[0] == told[1]


@pytest.mark.parametrize("name", STORIES)
async def test_a_story_is_told_as_it_was_when_its_journal_was_kept(
    name: str, tmp_path: Path
) -> None:
    """New fields may come, and with them other hashes; nothing that was there may go or change."""
    kept = (JOURNALS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    for line, one in zip(kept, await STORIES[name](tmp_path), strict=True):
        written = json.loads(line)
        del written["hash"]
        assert_part_of(written, row(one))


@pytest.mark.parametrize("name", STORIES)
async def test_a_story_is_what_this_build_would_do_again(name: str, tmp_path: Path) -> None:
    assert replay(await STORIES[name](tmp_path)) == []
