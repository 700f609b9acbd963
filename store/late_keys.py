"""What is written with a key that was retired meanwhile, or with none although there are keys.

A process counts as one that writes with its key while it beats: a command that nobody knows of, and a process that
was frozen for longer than that, may come too late. What they write is brought under the newest key like all else, and
their key is needed until then.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import (
    ColumnElement,
    Connection,
    Text,
    and_,
    bindparam,
    exists,
    literal_column,
    or_,
    select,
    update,
)

from store.keys import Keys
from store.schema import keys, rewriting

#: What is gone through when a key is taken into use.
BODIES = ("control", "runs")

_MINE = bindparam("of_writing_key", type_=Text)
# As written, here and below: where a statement is driven without SQLAlchemy it takes nothing but what is given.
_OF_ENCRYPTION = keys.c.kind == literal_column("'encryption'")
_NO_KEY: ColumnElement[str] = literal_column("''")


def is_left_behind(key: ColumnElement[str]) -> ColumnElement[bool]:
    """Will nobody look for what is written with this key? ``""`` is none."""
    return or_(
        exists().where(_OF_ENCRYPTION, keys.c.key_id == key, keys.c.is_in_use.is_(False)),
        and_(key == _NO_KEY, exists().where(_OF_ENCRYPTION)),
    )


IS_LEFT_BEHIND = is_left_behind(_MINE).label("is_left_behind")
_LOOK = select(IS_LEFT_BEHIND)
_USE_AGAIN = (
    update(keys)
    .where(_OF_ENCRYPTION, keys.c.key_id == _MINE, keys.c.is_in_use.is_(False))
    .values(is_in_use=True)
)
_BEGIN_ANEW = (
    update(rewriting)
    .where(rewriting.c.kind.in_(BODIES))
    # Whoever is in the middle of it may have gone past: what they write is not done any more. And nobody waits for
    # the lease of whoever has come to the end.
    .values(
        is_done=False,
        journal="",
        seq=0,
        found=0,
        holder=None,
        lease_expires_at=None,
        fence=rewriting.c.fence + 1,
    )
)
_UNDO = _BEGIN_ANEW.where(rewriting.c.is_done.is_(True))


def writing_key(held: Keys) -> str:
    """What ``is_left_behind`` is asked about."""
    return held.cipher.newest or ""


def written_with(held: Keys) -> Mapping[str, str]:
    """The value that ``IS_LEFT_BEHIND`` takes."""
    return {"of_writing_key": writing_key(held)}


def look_again(connection: Connection) -> None:
    """Something may be left that is not under the newest key: nothing of it counts as done."""
    connection.execute(_UNDO)


def bring_along(connection: Connection, held: Keys) -> None:
    """See to it that what is written now is found, and the key that it takes kept until then."""
    connection.execute(_USE_AGAIN, written_with(held))
    connection.execute(_BEGIN_ANEW)


def bring_along_if_late(connection: Connection, held: Keys) -> None:
    """The same, for whoever has not looked."""
    if connection.execute(_LOOK, written_with(held)).scalar_one():
        bring_along(connection, held)
