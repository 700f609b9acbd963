"""A fact's body: the text of an event, its id and its time, as they are hashed and kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, NamedTuple, TypeVar

from sqlalchemy import Row as SqlRow

from agent.errors import CorruptJournal, StoreError, UnknownEvent, Unstorable
from agent.rules.anchors import CONTROL
from agent.rules.control import (
    ControlEvent,
    RecordedControl,
    StampedControl,
    dump_control,
    load_control,
)
from agent.rules.events import Event
from agent.rules.ids import EventId, RunId
from agent.rules.json_text import depth_of, dump_text, dump_values, load_text
from agent.rules.recorded import Recorded, Stamped, dump_event, load_event
from store.chain import Link, Unread, hash_fact, is_keyed
from store.keys import NO_KEYS, Keys

E = TypeVar("E")

#: Deeper than any value of an event can be; of what else there is, schemas are nested.
DEEPEST = 300
_REPLACEMENT = "\ufffd"


class Fact(NamedTuple, Generic[E]):
    """An event that is to be appended, with its body as it will be hashed, and the keys that it is kept with."""

    id: EventId
    at: datetime
    event: E
    body: str
    keys: Keys = NO_KEYS

    def kept(self, journal: str, seq: int) -> str:
        """The body as the table holds it at this place."""
        return self.keys.cipher.keep(journal, seq, self.body)

    def hash_behind(self, previous: str, journal: str, seq: int) -> str:
        """The hash that ties it to the fact before it. Raises ``StoreError`` where that takes an audit key, and
        there is none here: nothing may follow it without."""
        if self.keys.audit is None and is_keyed(previous):
            raise StoreError(
                "This process was started without PILOTHOUSE_AUDIT_KEY, which the database's chains take by now."
                " Nothing was appended. Start it again with the key."
            )
        return hash_fact(previous, journal, seq, self.id, self.body, self.keys.audit)


@dataclass(frozen=True, slots=True)
class Row:
    """A fact as the journal's table holds it, with its body as it was written."""

    seq: int
    event_id: str
    at: datetime
    hash: str
    body: str | Unread
    #: As in ``Link``.
    purged_by: int | None = None

    @classmethod
    def of(cls, journal: str, found: SqlRow[Any] | SqlRow[*tuple[Any, ...]], keys: Keys) -> Row:
        """The row as it was found, its body read with the keys."""
        body = keys.cipher.read(journal, found.seq, found.body)
        # The control journal has no such column: nothing of it is removed.
        purged_by = getattr(found, "purged_by", None)
        return cls(found.seq, found.event_id, found.at, found.hash, body, purged_by)

    @property
    def link(self) -> Link:
        return Link(self.seq, self.event_id, self.hash, self.body, self.purged_by)


def write_body(stamped: Stamped, keys: Keys = NO_KEYS) -> Fact[Event]:
    """The fact that this event becomes. Raises ``ValueError`` for a time without a zone, ``Unstorable``
    for what JSON can't say, or could not be read again.

    Half a surrogate pair is no character: it becomes a replacement character, in the fact's event too.
    """
    return _write(stamped.id, stamped.at, stamped.event, dump_event, load_event, keys)


def write_control_body(stamped: StampedControl, keys: Keys = NO_KEYS) -> Fact[ControlEvent]:
    """The same for an event of the control journal."""
    return _write(stamped.id, stamped.at, stamped.event, dump_control, load_control, keys)


def write_left(row: Row, event: Event) -> str:
    """The body of a row of whose event this is left."""
    return dump_text({"id": row.event_id, "at": _show(row.at), **dump_event(event)})


def read_body(run_id: RunId, row: Row) -> Recorded:
    """The fact behind a row. Raises ``CorruptJournal``, ``UnknownEvent``."""
    try:
        event = _read(run_id, row, load_event)
    except UnknownEvent as error:
        raise UnknownEvent(error.kind, error.version, row.seq) from error
    return Recorded(run_id, row.seq, EventId(row.event_id), row.at, row.hash, event)


def read_control_body(row: Row) -> RecordedControl:
    """The same for a row of the control journal."""
    event = _read(CONTROL, row, load_control)
    return RecordedControl(row.seq, EventId(row.event_id), row.at, row.hash, event)


def _write(
    id: EventId,
    at: datetime,
    event: E,
    dump: Callable[[E], dict[str, Any]],
    load: Callable[[Mapping[str, Any]], E],
    keys: Keys,
) -> Fact[E]:
    if at.tzinfo is None:
        raise ValueError(f"{at!r} has no time zone")
    at = at.astimezone(UTC)
    try:
        body = dump_values({"id": id, "at": _show(at), **dump(event)})
        # Each level has two brackets.
        if len(body) > 2 * DEEPEST and depth_of(body) > DEEPEST:
            raise Unstorable(f"an event that is nested more than {DEEPEST} deep")
        if _REPLACEMENT in body:
            # What is told of it now is what will be read.
            event = load(load_text(body))
    except (ValueError, RecursionError, TypeError) as error:
        # No number of JSON, or too long a one; its text may hold payload.
        raise Unstorable(f"an event that JSON can't say ({type(error).__name__})") from error
    return Fact(id, at, event, body, keys)


def must_fit(journal: str, row: Row) -> None:
    """Raises ``CorruptJournal`` for a row whose body is not what the row says that it is."""
    _read(journal, row, lambda fields: None)


def _read(journal: str, row: Row, load: Callable[[Mapping[str, Any]], E]) -> E:
    if isinstance(row.body, Unread):
        raise CorruptJournal(journal, row.seq, row.body.why)
    try:
        fields: dict[str, Any] = load_text(row.body)
        if (fields["id"], fields["at"]) != (row.event_id, _show(row.at)):
            raise ValueError("its id or its time differs from its row")
        return load(fields)
    except (ValueError, TypeError, KeyError) as error:
        # pydantic's error is a ValueError; its text holds payload, which no log should.
        why = type(error).__name__ if type(error) is not ValueError else str(error)
        raise CorruptJournal(journal, row.seq, why) from error


def _show(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
