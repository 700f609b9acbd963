"""Freeze windows: open and closed as a clock on the wall shows it, held against looking at that clock again and
again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from agent.rules.freeze import DAYS, FreezeWindow

A_MINUTE = timedelta(minutes=1)
#: All windows here, and all changes of clocks, begin and end at one of these.
A_QUARTER = timedelta(minutes=15)
#: Where clocks are changed by an hour, by half an hour, at midnight, not at all; and where a day was left out.
ZONES = (
    *(
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "America/Sao_Paulo",
        "Africa/Cairo",
    ),
    *("Asia/Kolkata", "UTC"),
)
#: Around changes of clocks, there or elsewhere, and days like any other.
DAYS_TO_LOOK_AT = (
    *("2026-03-29", "2026-10-25", "2026-03-08", "2026-11-01", "2026-04-05", "2026-10-04"),
    *("2018-11-04", "2018-02-18", "2026-04-24", "2026-10-30", "2026-12-31", "2026-07-01"),
)


def window(**written: object) -> FreezeWindow:
    fields = {"tools": "deploy.*", "from": "14:00", "to": "24:00", "zone": "Europe/Berlin"}
    return FreezeWindow.model_validate({**fields, **written})


def at(written: str, zone: str = "Europe/Berlin", fold: int = 0) -> datetime:
    wall = datetime.fromisoformat(written).replace(tzinfo=ZoneInfo(zone), fold=fold)
    return wall.astimezone(UTC)


def frozen_quarters(one: FreezeWindow, noon: datetime) -> set[datetime]:
    """By the clock on the wall alone: of each day's window, from the first look at which it shows its beginning or
    more to the last at which it shows less than its end."""
    zone = ZoneInfo(one.zone)
    minutes = [noon + n * A_QUARTER for n in range(-72 * 4, 72 * 4)]
    walls = [minute.astimezone(zone).replace(tzinfo=None, fold=0) for minute in minutes]
    found: set[datetime] = set()
    for day in {wall.date() for wall in walls}:
        if one.days is not None and DAYS[day.weekday()] not in one.days:
            continue
        midnight = datetime.combine(day, datetime.min.time())
        begins, ends = midnight + one.opens, midnight + one.to
        if one.to < one.opens:
            ends += timedelta(days=1)
        later = [m for m, wall in zip(minutes, walls, strict=True) if wall >= begins]
        less = [m for m, wall in zip(minutes, walls, strict=True) if wall < ends]
        found |= {m for m in minutes if later and less and later[0] <= m <= less[-1]}
    return found


@settings(deadline=None)
@example("America/New_York", "2026-11-01", 0, 2, None)
@given(
    st.sampled_from(ZONES),
    st.sampled_from(DAYS_TO_LOOK_AT),
    st.integers(0, 47),
    st.integers(1, 48),
    st.none() | st.sets(st.sampled_from(DAYS), min_size=1).map(tuple),
)
def test_it_is_open_as_a_clock_on_the_wall_says(
    zone: str, day: str, begins: int, ends: int, days: tuple[str, ...] | None
) -> None:
    if begins == ends:
        return
    hours = {name: f"{n // 2:02}:{n % 2 * 30:02}" for name, n in (("from", begins), ("to", ends))}
    one = window(zone=zone, days=days, **hours)
    noon = datetime.fromisoformat(f"{day}T12:00+00:00")
    frozen = frozen_quarters(one, noon)
    looked_at = [noon + n * A_QUARTER for n in range(-36 * 4, 36 * 4)]
    assert [one.is_frozen(minute) for minute in looked_at] == [m in frozen for m in looked_at]
    for minute in looked_at:
        end = one.ends_at(minute)
        if end is not None and end < noon + timedelta(hours=70):
            assert minute < end
            assert end - A_QUARTER in frozen


def test_on_friday_afternoons() -> None:
    one = window(days=["fri"])
    assert not one.is_frozen(at("2026-12-04T13:59"))
    assert one.ends_at(at("2026-12-04T14:00")) == at("2026-12-05T00:00")
    assert one.is_frozen(at("2026-12-04T23:59:59"))
    assert not one.is_frozen(at("2026-12-05T00:00"))
    assert not one.is_frozen(at("2026-12-03T15:00"))
    assert one.in_words == "deploy.*: Fri from 14:00 to 24:00 Europe/Berlin"
    assert one.end_in_words(at("2026-12-05T00:00")) == "Fri 24:00 Europe/Berlin"


def test_over_midnight_it_is_of_the_day_on_which_it_begins() -> None:
    one = window(days=["fri"], to="06:00", **{"from": "22:00"})
    assert one.ends_at(at("2026-12-05T05:59")) == at("2026-12-05T06:00")
    assert not one.is_frozen(at("2026-12-04T05:59"))
    assert one.end_in_words(at("2026-12-05T06:00")) == "Sat 06:00 Europe/Berlin"


def test_an_hour_that_comes_twice_is_in_it_both_times() -> None:
    # Clocks go back from 03:00 to 02:00.
    one = window(to="02:30", **{"from": "01:00"})
    assert one.ends_at(at("2026-10-25T02:15")) == at("2026-10-25T02:30", fold=1)
    assert one.is_frozen(at("2026-10-25T02:45"))
    assert one.is_frozen(at("2026-10-25T02:29", fold=1))


def test_an_hour_that_is_left_out_ends_nothing_early() -> None:
    # Clocks go from 02:00 to 03:00.
    change = datetime(2026, 3, 29, 1, tzinfo=UTC)
    assert window(to="02:30", **{"from": "01:00"}).ends_at(at("2026-03-29T01:59")) == change
    late = window(to="04:00", **{"from": "02:30"})
    assert not late.is_frozen(change - A_MINUTE)
    assert late.ends_at(change) == at("2026-03-29T04:00")


def test_it_is_about_the_tools_that_it_names() -> None:
    assert window().is_about("deploy.web")
    assert not window().is_about("Deploy.web")
    assert not window().is_about("process_refund")


@pytest.mark.parametrize(
    ("written", "key", "says"),
    [
        ({"from": 840}, "from", "in quotes"),
        ({"to": "25:00"}, "to", "hours and minutes"),
        ({"to": "14"}, "to", "hours and minutes"),
        ({"from": "24:00", "to": "06:00"}, "from", "not at"),
        ({"to": "14:00"}, "to", "ends when it begins"),
        ({"zone": "Europe/Berlim"}, "zone", "no time zone 'Europe/Berlim'"),
        ({"zone": "Europe"}, "zone", "no time zone"),
        ({"zone": "../../etc/passwd"}, "zone", "no time zone"),
        ({"zone": ""}, "zone", "no time zone"),
        ({"days": []}, "days", "at least one day"),
        ({"days": ["fri", "fri"]}, "days", "twice"),
        ({"days": ["friday"]}, "days", "mon"),
        ({"day": "fri"}, "day", "Extra"),
        ({"tools": ""}, "tools", "at least 1"),
    ],
)
def test_what_can_not_be_kept_is_refused(written: dict[str, object], key: str, says: str) -> None:
    with pytest.raises(ValidationError) as refused:
        window(**written)
    (problem,) = refused.value.errors()
    assert says in problem["msg"]
    assert key in (*problem["loc"], problem.get("ctx", {}).get("at"))


def test_near_the_ends_of_time_there_is_no_window_that_is_not_there() -> None:
    assert not window(days=["fri"]).is_frozen(datetime.min.replace(tzinfo=UTC) + timedelta(days=5))
