"""The steps from an empty database to the present tables: forward only, Alembic's own form.

Old and new builds run side by side, so a step expands, and what it makes needless is taken away one
release later (see ``floor``). A database that is further than this build is left as it is.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, inspect, select
from sqlalchemy import column as sql_column
from sqlalchemy import table as sql_table

from agent.errors import SchemaRefused

#: The newest step's revision. Revisions are numbers of four digits, and count up.
HEAD = "0013"

_STEP = re.compile("[0-9]{4}")
_IS_LOST = (
    "The database is damaged: there are tables, and the row of alembic_version that says at which step they"
    " are is gone, or names none. Nothing was changed. Bring the database back from a copy."
)
_ONE_AT_A_TIME = threading.Lock()
_VERSION = sql_table("alembic_version", sql_column("version_num"))
_SELECT_VERSION = select(_VERSION.c.version_num)


def migrate(connection: Connection, lock: Callable[[Connection], None]) -> None:
    """Bring the database to ``HEAD`` inside this transaction. ``lock`` waits until no other process
    does, and keeps the others waiting until the commit.

    Raises ``SchemaRefused`` while a process lives that could not go on afterwards."""
    lock(connection)
    # Alembic's context is one a process, whatever the database.
    with _ONE_AT_A_TIME:
        if is_behind(connection):
            _upgrade(connection)


def is_behind(connection: Connection) -> bool:
    """Has this build a step that the database has not?"""
    return (version(connection) or "") < HEAD


def version(connection: Connection) -> str | None:
    """The step that the tables are at; None where there are none. Raises ``SchemaRefused`` where it was
    lost."""
    tables = inspect(connection).get_table_names()
    found = None
    if _VERSION.name in tables:
        found = as_step(connection.execute(_SELECT_VERSION).scalar_one_or_none())
    if found is None and "runs" in tables:
        raise SchemaRefused(_IS_LOST)
    return found


def as_step(found: object) -> str | None:
    """A step, as it stands in a table; None for what is none: a file's column takes anything."""
    return found if isinstance(found, str) and _STEP.fullmatch(found) else None


def pending(at: str | None) -> tuple[str, ...]:
    """The steps that this build would take from there."""
    return tuple(f"{n:04}" for n in range(int(at or 0) + 1, int(HEAD) + 1))


def _upgrade(connection: Connection) -> None:
    # Half a second to import, and hardly ever needed.
    from alembic import command
    from alembic.config import Config

    config = Config()
    here = str(Path(__file__).parent).replace("%", "%%")
    config.set_main_option("script_location", here)
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, HEAD)
