"""A fact of the control journal: what its row names, and whether it is what was written.

Who looks for one fact alone reads it together with the hash of the one before it. That ties it to its
past as far as a look at two rows can; ``verify`` follows all of it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row as SqlRow

from agent.errors import CorruptJournal
from agent.rules.anchors import CONTROL
from agent.rules.control import (
    ControlEvent,
    GrantGiven,
    GrantRevoked,
    PolicyLoaded,
    RecordedControl,
    SwitchTurned,
)
from store.bodies import Row, read_control_body
from store.chain import BEGINNING, MISSING, Chain
from store.keys import Keys
from store.schema import control_journal

#: The fact before one, and its hash, as ``whole_fact`` wants it.
BEFORE = control_journal.alias("before")
IS_BEFORE = BEFORE.c.seq == control_journal.c.seq - 1
PREVIOUS = BEFORE.c.hash.label("previous")


def names_in(event: ControlEvent) -> dict[str, str | None]:
    """What a row repeats of its fact, by which the fact is found."""
    return {
        "policy_of": event.agent if isinstance(event, PolicyLoaded) else None,
        "gives": event.grant_id if isinstance(event, GrantGiven) else None,
        "revokes": event.grant_id if isinstance(event, GrantRevoked) else None,
        "turns": event.switch if isinstance(event, SwitchTurned) else None,
    }


def whole_fact(found: SqlRow[Any], keys: Keys) -> RecordedControl:
    """The fact of a row that has ``previous`` too. Raises ``CorruptJournal``, ``UnknownEvent``."""
    seq, previous = found.seq, BEGINNING if found.seq == 1 else found.previous
    if not isinstance(seq, int) or not isinstance(previous, str):
        raise CorruptJournal(CONTROL, seq, MISSING)
    row = Row.of(CONTROL, found, keys)
    if broken := Chain(CONTROL, seq - 1, previous, key=keys.audit).follow(row):
        raise CorruptJournal(CONTROL, broken.seq, broken.why)
    return read_control_body(row)
