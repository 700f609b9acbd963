"""A fact's body: the text of an event, its id and its time, as they are hashed and kept."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from agent.errors import CorruptJournal
from agent.rules.events import Event, Recorded, Stamped, dump_event, dump_text, load_event
from agent.rules.ids import EventId, RunId


@dataclass(frozen=True, slots=True)
class Fact:
    """An event that is to be appended, with its body as it will stand."""

    id: EventId
    at: datetime
    event: Event
    body: str


@dataclass(frozen=True, slots=True)
class Row:
    """A fact as the journal's table holds it."""

    seq: int
    event_id: str
    at: datetime
    hash: str
    body: str


def write_body(stamped: Stamped) -> Fact:
    """The fact that this event becomes. Raises ``ValueError`` for a time without a zone."""
    if stamped.at.tzinfo is None:
        raise ValueError(f"{stamped.at!r} has no time zone")
    at = stamped.at.astimezone(UTC)
    fields = {"id": stamped.id, "at": _show(at), **dump_event(stamped.event)}
    return Fact(stamped.id, at, stamped.event, dump_text(fields))


def read_body(run_id: RunId, row: Row) -> Recorded:
    """The fact behind a row. Raises ``CorruptJournal``, ``UnknownEvent``."""
    try:
        fields: dict[str, Any] = json.loads(row.body)
        if (fields["id"], fields["at"]) != (row.event_id, _show(row.at)):
            raise ValueError("its id or its time differs from its row")
        event = load_event(fields)
    except (ValueError, TypeError, KeyError) as error:
        # pydantic's error is a ValueError; its text holds payload, which no log should.
        why = type(error).__name__ if type(error) is not ValueError else str(error)
        raise CorruptJournal(run_id, row.seq, why) from error
    return Recorded(run_id, row.seq, EventId(row.event_id), row.at, row.hash, event)


def _show(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
