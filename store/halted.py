"""What is said in a run's row of what keeps it from going on, a person, a switch or a freeze window; and waking those
that a switch or a window keeps no more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Connection,
    and_,
    bindparam,
    exists,
    func,
    literal,
    or_,
    select,
    update,
)

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

#: Stands for all windows that keep something of it; no switch is named so.
WINDOW = "window"
#: Nothing does.
NOTHING = ""

#: Between two that keep parts of the same run.
_NEXT = "\n"


def _is_kept_by(name: ColumnElement[str] | str) -> ColumnElement[bool]:
    """Does the row of the run name it?"""
    named = literal(_NEXT) + runs.c.halted_by + literal(_NEXT)
    return func.replace(named, literal(_NEXT) + name + literal(_NEXT), "") != named


#: Whatever else keeps it as before: what this one kept goes on, or it is said no more that this one keeps it.
_IS_RELEASED = or_(
    exists().where(_is_kept_by(switches.c.switch), ~switches.c.is_on),
    and_(bindparam("with_windows", type_=Boolean), _is_kept_by(WINDOW)),
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
    """What the row of a run says: each switch that keeps any of it, and whether a window does, a line each."""
    return _NEXT.join(dict.fromkeys(halt.switch or WINDOW for halt in halts))


def wake(connection: Connection, values: Mapping[str, Any]) -> int:
    """Make due what is released. Whoever works a run looks for itself."""
    found = connection.execute(_RELEASED, values).scalars().all()
    if found:
        connection.execute(_WAKE, {"of_runs": found, "now": values["now"]})
        stir(connection)
    return len(found)
