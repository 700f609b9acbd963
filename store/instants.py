"""How instants are stored: as integer microseconds since 1970, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import BigInteger
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: What is read where a stored instant can't be one: nothing of ours is as late.
END_OF_TIME = datetime.max.replace(tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(duration: timedelta) -> int:
    """A duration, as it is added to a stored instant."""
    return duration // _MICROSECOND


def as_number(at: datetime) -> int:
    """An aware instant, as it is stored."""
    return (at - EPOCH) // _MICROSECOND


class Instant(TypeDecorator[datetime]):
    """An aware ``datetime``; it comes back in UTC. Numbers sort and compare alike on every database.

    A naive one raises ``ValueError``: nobody knows what it means. What somebody put there that is no
    instant reads as the end of time: it keeps nothing beside it from being read.
    """

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone")
        return as_number(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        try:
            return EPOCH + value * _MICROSECOND
        except (TypeError, OverflowError):
            return END_OF_TIME
