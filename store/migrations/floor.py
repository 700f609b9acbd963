"""Which builds may run on the tables: those that know the step that a row of ``schema_floor`` names.

A step that only adds leaves it as it is, and older builds go on. A step that takes something away calls
``raise_floor`` first, and comes a release after the builds that can do without.
"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import (
    BigInteger,
    Connection,
    bindparam,
    delete,
    not_,
    or_,
    select,
    type_coerce,
    update,
)

from agent.errors import SchemaRefused
from store.instants import microseconds
from store.migrations import as_step
from store.now import DATABASE_NOW
from store.schema import processes, schema_floor

#: A process that was heard of since may still live: longer than any pause between two heartbeats.
LIVES_FOR = timedelta(minutes=10)
#: What a build knew that did not yet say what it knows, at the most.
_BEFORE_IT_WAS_SAID = "0003"

#: The step that made the floor, and where that lies until it is raised.
SINCE, LOWEST = "0004", "0001"

#: What to do about it. Whoever knows the step that the tables are at may use them in any case.
IS_LOST = (
    "The database is damaged: the row that says which builds may run on it is gone from schema_floor, or names no step."
    " Nothing was changed. Bring the database back from a copy; or, if you know what has happened, put in,"
    " in place of what is there, the row that is safe: INSERT INTO schema_floor (id, must_know) SELECT 1, version_num FROM"
    " alembic_version"
)

_READ_FLOOR = select(schema_floor.c.must_know)
# Locked where a database can: who joins and who raises the floor wait for each other.
_FLOOR = _READ_FLOOR.with_for_update(read=True)
_RAISE = (
    update(schema_floor)
    .where(schema_floor.c.must_know < bindparam("revision"))
    .values(must_know=bindparam("revision"))
)
_KNOWS_LESS = or_(processes.c.schema.is_(None), processes.c.schema < bindparam("revision"))
_WAS_HEARD_OF = type_coerce(processes.c.beat_at, BigInteger) > (
    type_coerce(DATABASE_NOW, BigInteger) - microseconds(LIVES_FOR)
)
_KNOW_LESS = (
    select(processes.c.process_id, processes.c.build, processes.c.schema)
    .where(_KNOWS_LESS, _WAS_HEARD_OF)
    .order_by(processes.c.process_id)
)
# Whoever was only stopped that long joins anew with its next heartbeat, and is refused.
_FORGET = delete(processes).where(_KNOWS_LESS, not_(_WAS_HEARD_OF))


def read_floor(connection: Connection) -> str | None:
    """The step that a build must know, of tables at ``SINCE`` or later; None where that was lost."""
    return as_step(connection.execute(_READ_FLOOR).scalar_one_or_none())


def admit(connection: Connection, knows: str, *, joins: bool = True) -> None:
    """May a build that knows the steps up to ``knows`` run here? It may until this transaction ends. Whoever only looks
    ``joins`` nobody: nothing waits for it.

    Raises ``SchemaRefused``."""
    floor = _FLOOR if joins else _READ_FLOOR
    must_know = as_step(connection.execute(floor).scalar_one_or_none())
    if must_know is None:
        raise SchemaRefused(IS_LOST)
    if must_know > knows:
        raise SchemaRefused(
            f"This build is too old for the database: it knows the tables up to step {knows}, and whoever"
            f" uses them must know step {must_know}. Nothing was changed. Start a newer build of"
            " pilothouse; `pilothouse db check`, by the newer one, says which may run."
        )


def raise_floor(connection: Connection, revision: str, why: str | None = None) -> None:
    """From the commit on a build must know ``revision``: to be called before something is taken away, or whatever
    else ``why`` says.

    Raises ``SchemaRefused`` while a process that knows less may still be alive."""
    if as_step(connection.execute(_FLOOR).scalar_one_or_none()) is None:
        raise SchemaRefused(IS_LOST)
    connection.execute(_RAISE, {"revision": revision})
    if found := connection.execute(_KNOW_LESS, {"revision": revision}).all():
        why = why or f"the next step takes away what builds before step {revision} need"
        raise SchemaRefused(
            f"The tables were left as they are: {why}, and such builds still run: {', '.join(_say(*row) for row in found)}. Stop them"
            f" first. Of one that was killed, this is forgotten {LIVES_FOR.seconds // 60} minutes after"
            " it was last heard of."
        )
    connection.execute(_FORGET, {"revision": revision})


def _say(process_id: str, build: str, schema: str | None) -> str:
    return f"{process_id} (build {build or 'unknown'}, step {schema or _BEFORE_IT_WAS_SAID})"
