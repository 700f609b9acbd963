"""When a limit's window begins and ends, by the clocks of its zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.rules.limit_windows import Window, begin_of, end_of
from agent.rules.zones import zone_named

BERLIN = "Europe/Berlin"
HOUR = timedelta(hours=1)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("window", "zone", "now", "begin", "end"),
    [
        ("day", BERLIN, "2026-11-30T18:00", "2026-11-29T23:00", "2026-11-30T23:00"),
        # Midnight itself is of the new day.
        ("day", BERLIN, "2026-11-30T23:00", "2026-11-30T23:00", "2026-12-01T23:00"),
        ("day", "UTC", "2026-11-30T23:59:59.999999", "2026-11-30T00:00", "2026-12-01T00:00"),
        ("day", "Asia/Kathmandu", "2026-11-30T18:14", "2026-11-29T18:15", "2026-11-30T18:15"),
        # 23 hours, and 25.
        ("day", BERLIN, "2026-03-29T12:00", "2026-03-28T23:00", "2026-03-29T22:00"),
        ("day", BERLIN, "2026-10-25T12:00", "2026-10-24T22:00", "2026-10-25T23:00"),
        # Clocks jump over midnight: the day begins at one.
        ("day", "America/Santiago", "2026-09-06T12:00", "2026-09-06T04:00", "2026-09-07T03:00"),
        # The hour before midnight comes twice: both are of the old day.
        ("day", "America/Santiago", "2026-04-05T03:30", "2026-04-04T03:00", "2026-04-05T04:00"),
        # Both hours from two to three.
        ("hour", BERLIN, "2026-10-25T00:30", "2026-10-25T00:00", "2026-10-25T01:00"),
        ("hour", BERLIN, "2026-10-25T01:30", "2026-10-25T01:00", "2026-10-25T02:00"),
        ("hour", "Asia/Kolkata", "2026-11-30T18:00", "2026-11-30T17:30", "2026-11-30T18:30"),
        # Half an hour is put back: an hour and a half.
        ("hour", "Australia/Lord_Howe", "2026-04-04T15:15", "2026-04-04T14:00", "2026-04-04T15:30"),
        # Half an hour is left out: half an hour.
        ("hour", "Australia/Lord_Howe", "2026-10-03T15:45", "2026-10-03T15:30", "2026-10-03T16:00"),
        ("week", BERLIN, "2026-11-29T22:59", "2026-11-22T23:00", "2026-11-29T23:00"),
        ("week", BERLIN, "2026-11-29T23:00", "2026-11-29T23:00", "2026-12-06T23:00"),
        ("week", BERLIN, "2026-10-25T12:00", "2026-10-18T22:00", "2026-10-25T23:00"),
        ("month", BERLIN, "2026-10-31T22:59", "2026-09-30T22:00", "2026-10-31T23:00"),
        ("month", "UTC", "2028-02-29T12:00", "2028-02-01T00:00", "2028-03-01T00:00"),
        ("month", "UTC", "2026-12-31T12:00", "2026-12-01T00:00", "2027-01-01T00:00"),
    ],
)
def test_a_window_goes_by_the_clocks_of_its_zone(
    window: Window, zone: str, now: str, begin: str, end: str
) -> None:
    there = zone_named(zone)
    assert begin_of(window, at(now), there) == at(begin)
    assert end_of(window, at(now), there) == at(end)


@given(
    st.integers(0, 15 * 365 * 24 * 3600),
    st.sampled_from(("hour", "day", "week", "month")),
    st.sampled_from(
        (
            "UTC",
            BERLIN,
            "America/Santiago",
            "Australia/Lord_Howe",
            "Africa/Casablanca",
            "Asia/Kolkata",
        )
    ),
)
def test_windows_follow_each_other_without_a_gap(seconds: int, window: Window, zone: str) -> None:
    now = datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    there = zone_named(zone)
    begin, end = begin_of(window, now, there), end_of(window, now, there)
    assert begin <= now < end
    assert begin_of(window, begin, there) == begin
    assert begin_of(window, end, there) == end
    assert begin_of(window, end - timedelta(microseconds=1), there) == begin


@pytest.mark.parametrize(
    "name", ["Berlin", "Europe/Nowhere", "", "../etc/passwd", "/etc", "Europe"]
)
def test_what_names_no_zone_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="there is no time zone"):
        zone_named(name)
