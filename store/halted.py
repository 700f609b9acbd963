"""What is said in a run's row of what keeps it from going on, a person, a switch or a freeze window; and waking those
that a switch or a window keeps no more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Boolean, Connection, and_, bindparam, exists, or_, select, update

from agent.rules.events import Event, RunFailed, RunFinished
from agent.rules.interventions import (
    HaltsChanged,
    RunCancelled,
    RunHeld,
    RunResumed,
    StopRequested,
)
from agent.rules.parts import Halt
from store.at_most import AT_MOST
from store.now import NOW
from store.schema import runs, switches
from store.wakeups import stir

#: What keeps a run of which windows alone keep something; no switch is named so.
WINDOW = "window"
#: Nothing does.
NOTHING = ""

_IS_ON = exists().where(switches.c.switch == runs.c.halted_by, switches.c.is_on)
_IS_RELEASED = or_(
    and_(runs.c.halted_by != WINDOW, ~_IS_ON),
    and_(runs.c.halted_by == WINDOW, bindparam("with_windows", type_=Boolean)),
)
_RELEASED = (
    select(runs.c.run_id)
    .where(
        runs.c.halted_by != NOTHING,
        _IS_RELEASED,
        runs.c.holder.is_(None),
        or_(runs.c.wake_at.is_(None), runs.c.wake_at > NOW),
    )
    .order_by(runs.c.run_id)
    .limit(AT_MOST)
    .with_for_update(skip_locked=True, key_share=True)
)
_WAKE = (
    update(runs).where(runs.c.run_id.in_(bindparam("of_runs", expanding=True))).values(wake_at=NOW)
)


def hold_after(events: Iterable[Event]) -> bool | None:
    """Does a person hold the run from now on? None: as before."""
    is_held = None
    for event in events:
        match event:
            case RunHeld():
                is_held = True
            case RunResumed() | RunFinished() | RunFailed() | RunCancelled():
                is_held = False
            case _:
                pass
    return is_held


def halt_after(events: Iterable[Event]) -> str | None:
    """What the row of a run says once these are appended; None: as before."""
    kept = None
    for event in events:
        match event:
            case HaltsChanged(halts=halts):
                kept = kept_by(halts)
            case StopRequested() | RunFinished() | RunFailed() | RunCancelled():
                kept = NOTHING
            case _:
                pass
    return kept


def kept_by(halts: Iterable[Halt]) -> str:
    """What the row of a run says: a switch, if there is any among what keeps it."""
    kept = [halt.switch or WINDOW for halt in halts]
    return next((one for one in kept if one != WINDOW), kept[0] if kept else NOTHING)


def wake(connection: Connection, values: Mapping[str, Any]) -> int:
    """Make due what is released. Whoever works a run looks for itself."""
    found = connection.execute(_RELEASED, values).scalars().all()
    if found:
        connection.execute(_WAKE, {"of_runs": found, "now": values["now"]})
        stir(connection)
    return len(found)
