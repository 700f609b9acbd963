"""Freeze windows: hours of the week in which calls of some tools do not start.

The hours are those of a clock on the wall of the window's zone, so they are other instants after a change of that
clock. An hour that comes twice is in the window both times, and one that is left out ends nothing early: a window
goes from the first instant at which the wall shows its beginning, or later, to the last at which it shows less
than its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from fnmatch import fnmatchcase
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from agent.rules.lookalikes import odd_character
from agent.rules.tool_globs import names_one_tool
from agent.rules.wrong_key import wrong_key
from agent.rules.zones import zone_named

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAYS: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_A_DAY = timedelta(days=1)
_A_MOMENT = timedelta(microseconds=1)
_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)|24:00")
#: A window ends a day after it begins at the latest, and a zone may leave out a day.
_NEAR = range(-3, 2)


def _hour(written: object) -> timedelta:
    """As long after midnight as this time of day."""
    if isinstance(written, timedelta):
        return written
    if isinstance(written, int):
        raise ValueError('put the time in quotes, as in "14:00"')
    if not isinstance(written, str) or not _TIME.fullmatch(written):
        raise ValueError(
            'give a time of day as hours and minutes in quotes, as in "14:00" or "24:00"'
        )
    hours, minutes = written.split(":")
    return timedelta(hours=int(hours), minutes=int(minutes))


def _known_zone(name: str) -> str:
    zone_named(name)
    return name


def _plain(tools: str) -> str:
    """A name that only looks like a tool's would freeze nothing, and nobody would see why."""
    if odd := odd_character(tools):
        raise ValueError(f"{tools!r} can be no tool's name: {odd}")
    return tools


def _different(days: tuple[Day, ...]) -> tuple[Day, ...]:
    if not days:
        raise ValueError("name at least one day, or take it out: then it is every day")
    if len(set(days)) < len(days):
        raise ValueError("a day stands there twice")
    return days


TimeOfDay = Annotated[timedelta, BeforeValidator(_hour)]


class FreezeWindow(BaseModel):
    """While it is open the calls of ``tools`` do not start. Without ``days`` it opens every day; one that ends before
    it begins goes over midnight, and is of the day on which it begins."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    #: A tool's name, or a glob.
    tools: Annotated[str, Field(min_length=1), AfterValidator(_plain)]
    days: Annotated[tuple[Day, ...], AfterValidator(_different)] | None = None
    opens: TimeOfDay = Field(alias="from")
    to: TimeOfDay
    zone: Annotated[str, AfterValidator(_known_zone)]
    reason: Annotated[str, Field(min_length=1)] | None = None

    def model_post_init(self, context: object) -> None:
        if self.opens >= _A_DAY:
            raise wrong_key("from", 'a day begins at "00:00", not at "24:00".')
        if self.opens == self.to:
            raise wrong_key(
                "to", 'it ends when it begins; for a whole day say from "00:00" to "24:00".'
            )

    @property
    def names_one_tool(self) -> bool:
        """Or is it for all that a glob matches?"""
        return names_one_tool(self.tools)

    def is_about(self, tool: str) -> bool:
        return fnmatchcase(tool, self.tools)

    def is_frozen(self, now: datetime) -> bool:
        return self.ends_at(now) is not None

    def ends_at(self, now: datetime) -> datetime | None:
        """When it ends that is open ``now``; None: it is not."""
        return max((end for start, end in self._around(now) if start <= now < end), default=None)

    def _around(self, now: datetime) -> Iterator[tuple[datetime, datetime]]:
        """Each time that it is open around ``now``, from when to when."""
        zone = zone_named(self.zone)
        today = now.astimezone(zone).date()
        for days in _NEAR:
            day = _later(today, days)
            if day is None or (self.days is not None and DAYS[day.weekday()] not in self.days):
                continue
            begins = datetime.combine(day, time()) + self.opens
            ends = datetime.combine(day, time()) + self.to
            if self.to <= self.opens:
                ends += _A_DAY
            yield _first_at(begins, zone), _last_before(ends, zone)

    @property
    def in_words(self) -> str:
        days = ", ".join(day.capitalize() for day in self.days) if self.days else "every day"
        return f"{self.tools}: {days} from {_show(self.opens)} to {_show(self.to)} {self.zone}"

    def end_in_words(self, until: datetime) -> str:
        """A time as a clock on the wall of its zone shows it."""
        wall = until.astimezone(zone_named(self.zone))
        hour = f"{wall:%H:%M}"
        if hour == "00:00":
            wall, hour = wall - timedelta(minutes=1), "24:00"
        return f"{DAYS[wall.weekday()].capitalize()} {hour} {self.zone}"


def _later(day: date, days: int) -> date | None:
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


def _show(of_day: timedelta) -> str:
    minutes = int(of_day.total_seconds()) // 60
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _first_at(wall: datetime, zone: tzinfo) -> datetime:
    """The first instant at which a clock there shows this or more."""
    first, second = _instants(wall, zone)
    return first if first <= second else _change(second, first, zone)


def _last_before(wall: datetime, zone: tzinfo) -> datetime:
    """The end of the last instant at which it shows less."""
    first, second = _instants(wall, zone)
    if first > second:
        return _change(second, first, zone)
    # The hour that comes twice may begin with it: then before its second time it shows more.
    just_before = (second - _A_MOMENT).astimezone(zone).replace(tzinfo=None, fold=0)
    return second if just_before < wall else first


def _instants(wall: datetime, zone: tzinfo) -> tuple[datetime, datetime]:
    """Where it comes twice the first before the second, where it is left out the other way round."""
    both = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    first, second = both
    return first, second


def _change(before: datetime, after: datetime, zone: tzinfo) -> datetime:
    """The instant between these at which the clock is changed."""
    offset = before.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = (before + (after - before) / 2).replace(microsecond=0)
        if middle.astimezone(zone).utcoffset() == offset:
            before = middle
        else:
            after = middle
    return after
