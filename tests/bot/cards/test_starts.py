from __future__ import annotations

from datetime import UTC, datetime, timedelta

from agent.errors import TooManyStarts
from bot.slack.cards.mentions import when
from bot.slack.cards.starts import too_many_starts_in_plain, too_many_starts_text

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def told(free_at: datetime, most: int = 20) -> str:
    error = TooManyStarts("slack:T1:U1", "refunds", most, timedelta(hours=1), free_at)
    return too_many_starts_text(error)


def test_who_has_started_too_many_is_told_how_many_and_when_there_is_room_again() -> None:
    assert told(NOON) == (
        "Nothing was started: you have started 20 runs of refunds in the last hour, and one person may start"
        f" no more; again at {when(NOON)}."
    )
    assert "you have started 1 run of" in told(NOON, 1)


def test_in_the_minute_that_is_named_there_is_room() -> None:
    assert when(NOON + timedelta(minutes=1)) in told(NOON + timedelta(microseconds=1))


def test_at_a_field_it_says_in_how_many_minutes_there_is_room() -> None:
    error = TooManyStarts("slack:T1:U1", "refunds", 3, timedelta(hours=1), NOON)
    for before, minutes in ((timedelta(), 1), (timedelta(seconds=61), 2), (timedelta(hours=1), 60)):
        words = too_many_starts_in_plain(error, NOON - before)
        assert words.endswith(f"one person may start no more; again in {minutes} min.")
