"""What the command line prints, without the secrets that are among calls' arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import JsonValue

from agent.engine.agents import schemas_of
from agent.errors import CorruptJournal
from agent.rules.control import GrantGiven, RecordedControl
from agent.rules.fold import apply
from agent.rules.recorded import Recorded
from agent.rules.secrets import hide_secrets
from agent.rules.state import RunState
from agent.rules.veiling import Schemas, known_in, veiled_event

if TYPE_CHECKING:
    from bot.compose import Opened


def veiled_events(events: Sequence[Recorded], house: Opened) -> list[Recorded]:
    """The events as they may be shown; also of a journal that can be followed only so far."""
    state = _as_far_as_it_goes(events)
    if state is None:
        return list(events)
    known = known_in(state, schemas_of(house.runtime.agents))
    return [replace(one, event=veiled_event(one.event, state, known)) for one in events]


def veiled_control(one: RecordedControl, house: Opened) -> RecordedControl:
    """A fact that belongs to no run as it may be shown: a grant is for arguments."""
    event = one.event
    if not isinstance(event, GrantGiven):
        return one
    where = veiled_where(event, schemas_of(house.runtime.agents))
    return replace(one, event=event.model_copy(update={"where": where}))


def veiled_where(given: GrantGiven, schemas: Schemas) -> dict[str, JsonValue]:
    """The arguments that a grant is for. Of a tool that is not here any more each may be a secret."""
    unknown = {"properties": {name: {"writeOnly": True} for name in given.where}}
    return hide_secrets(given.where, schemas.get(given.tool, unknown))


def _as_far_as_it_goes(events: Sequence[Recorded]) -> RunState | None:
    state: RunState | None = None
    for one in events:
        try:
            state = apply(state, one)
        except CorruptJournal:
            break
    return state
