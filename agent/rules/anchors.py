"""Heads of journals, taken out of the store: what shows later that a tail was cut off, a run removed, or
a chain written anew by somebody who has the whole database.

An anchor is a JSON object::

    {"pilothouse_anchor": 1,
     "taken_at": "2026-11-29T12:00:00Z",
     "heads": [{"journal": "control", "seq": 3, "hash": "…"}, {"journal": "run_…", "seq": 12, "hash": "…"}],
     "hash": "…"}

``heads`` are in the order of their journals' names. ``hash`` is the SHA-256, in hexadecimal, of the same
object without it, as canonical JSON (RFC 8785).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.rules.binding import digest

#: The control journal's name, where runs have their ids.
CONTROL = "control"
FORM: Literal[1] = 1


class Head(BaseModel):
    """Where a journal ends, and the hash that covers all that it holds up to there."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    journal: str
    seq: int = Field(ge=0)
    hash: str


@dataclass(frozen=True, slots=True)
class Break:
    """The first fact of a journal that is not what was written at this seq, and how that shows."""

    journal: str
    seq: int
    why: str


class Anchor(BaseModel):
    """The heads of all journals of a store at a time."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pilothouse_anchor: Literal[1] = FORM
    taken_at: str
    heads: tuple[Head, ...]


class NoAnchor(ValueError):
    """The text is no anchor, or not as it was written; the message says which."""


def anchor_of(heads: Sequence[Head], at: datetime) -> Anchor:
    return Anchor(
        taken_at=at.isoformat().replace("+00:00", "Z"),
        heads=tuple(sorted(heads, key=lambda head: head.journal)),
    )


def dump_anchor(anchor: Anchor) -> str:
    """The anchor as a file holds it."""
    fields = anchor.model_dump(mode="json")
    return json.dumps({**fields, "hash": digest(fields)}, indent=1) + "\n"


def load_anchor(text: str) -> Anchor:
    """Raises ``NoAnchor``."""
    try:
        fields = json.loads(text)
        written = fields.pop("hash")
        anchor = Anchor.model_validate(fields)
        found = digest(anchor.model_dump(mode="json"))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise NoAnchor("it is no anchor of this form") from error
    if found != written:
        raise NoAnchor("it has been changed since it was written")
    return anchor
