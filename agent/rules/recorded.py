"""Events with what surrounds them: on their way into a journal, as the journal holds them, as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from agent.errors import UnknownEvent
from agent.rules.events import MODELS, Event
from agent.rules.ids import EventId, RunId
from agent.rules.upcasts import upcast, version_of

_ADAPTER: TypeAdapter[Event] = TypeAdapter(Event)
_VERSIONS: dict[str, int] = {model.model_fields["kind"].default: model.NEWEST for model in MODELS}


@dataclass(frozen=True, slots=True)
class Stamped:
    """An event with its id and its time: ready to be appended, any number of times."""

    id: EventId
    at: datetime
    event: Event


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event as the journal holds it."""

    run_id: RunId
    seq: int
    id: EventId
    at: datetime
    hash: str
    event: Event


def dump_event(event: Event) -> dict[str, Any]:
    """The event as JSON values: ``kind``, ``version`` and its own fields."""
    dumped: dict[str, Any] = _ADAPTER.serializer.to_python(event, mode="json")
    dumped["version"] = version_written(event)
    return dumped


def version_written(event: Event) -> int:
    """The form of what is new about a kind that older builds know; else the first."""
    return min(event.form, event.NEWEST) if event.form > event.UNVERSIONED else 1


def load_event(fields: Mapping[str, Any]) -> Event:
    """The event that these JSON values are, older forms brought up to date.

    Raises ``UnknownEvent`` for what a newer build wrote, pydantic's ``ValidationError`` for what
    no build could have written.
    """
    current = upcast(dict(fields))
    kind, version = str(current.get("kind")), version_of(current)
    if version > _VERSIONS.get(kind, 0):
        raise UnknownEvent(kind, version)
    if str(current.get("version")) == str(version):
        del current["version"]  # Which one is written is told by what the event says.
    return _ADAPTER.validate_python(current)


def describe_event(recorded: Recorded) -> dict[str, Any]:
    """The event as users see it: ``seq``, ``id``, ``at``, ``hash`` and the event's own fields.

    ``hash`` is the chain's; what an approval is bound to is shown as ``binding_hash``.
    """
    own = dump_event(recorded.event)
    if "hash" in own:
        own["binding_hash"] = own.pop("hash")
    return {
        "seq": recorded.seq,
        "id": recorded.id,
        "at": recorded.at.isoformat().replace("+00:00", "Z"),
        "hash": recorded.hash,
        **own,
    }
