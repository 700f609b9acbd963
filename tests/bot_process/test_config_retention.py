"""How long what ended is kept: what is wrong in the file starts nothing."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from agent.rules.retention import STATUSES, Retention
from bot.config import load_config
from tests.bot_process.configs import GOOD, refusal

DAY = timedelta(days=1)


def retention_of(folder: Path, written: str = "") -> Retention:
    file = folder / "pilothouse.yml"
    file.write_text(f"{GOOD}retention: {written}\n" if written else GOOD)
    return load_config(file).retention


def test_without_a_word_of_it_everything_is_kept(tmp_path: Path) -> None:
    assert retention_of(tmp_path).keeps_all


def test_a_length_is_for_every_ending_or_for_each_alone(tmp_path: Path) -> None:
    written = "{payloads: 12h, transcripts: {finished: 90d, failed: 200d}, audit: 1000d}"
    assert retention_of(tmp_path, written).kept_for == {
        "payloads": dict.fromkeys(STATUSES, timedelta(hours=12)),
        "transcripts": {"finished": 90 * DAY, "failed": 200 * DAY},
        "audit": dict.fromkeys(STATUSES, 1000 * DAY),
    }


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("30d", "there have to be keys with values here"),
        ("{}", "say how long payloads, transcripts or audit are kept, or take it out"),
        ("{payloads: 30}", "write a length of time such as 90d, or one for each"),
        ("{payloads: soon}", "'soon' is no length of time"),
        ("{payloads: 30m}", "30m is too short; 1 h is the least"),
        ("{payloads: {}}", "write a length of time such as 90d, or one for each"),
        ("{payloads: {failed: 3}}", "write a length of time such as 90d"),
        ("{payloads: {done: 30d}}", "there is no such key"),
        ("{payload: 30d}", "there is no such key; did you mean payloads?"),
        ("{transcripts: 6d}", "7 d is the least: a start that is delivered once more"),
        ("{audit: 6d}", "7 d is the least: a start that is delivered once more"),
        (
            "{payloads: 90d, transcripts: 30d}",
            "of finished runs they go with transcripts, after 30 d",
        ),
        (
            "{transcripts: {failed: 90d}, audit: {finished: 20d, failed: 30d}}",
            "of failed runs they go with audit, after 30 d",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, written: str, said: str) -> None:
    refused = refusal(tmp_path, f"{GOOD}retention: {written}\n")
    assert said in refused
    assert refused.startswith("4: retention")
