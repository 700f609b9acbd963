"""What is written with a key that was retired meanwhile, or by a process that lacks a key.

A process counts as one that writes with its key while it beats: a command that nobody knows of, and a process that
was frozen for longer than that, may come too late. What they write is brought under the newest key like all else, and
their key is needed until then. Who has no key where there are some writes nothing: it would stand in the clear, or
could not be told from a forgery.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import (
    Boolean,
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

from store.cipher import SETTING
from store.keys import AUDIT_SETTING, Keys, lacks_key
from store.schema import keys, rewriting

#: What is gone through when a key is taken into use.
BODIES = ("control", "runs")

_MINE = bindparam("of_writing_key", type_=Text)
# As written, here and below: where a statement is driven without SQLAlchemy it takes nothing but what is given.
_OF_ENCRYPTION = keys.c.kind == literal_column("'encryption'")
_OF_AUDIT = keys.c.kind == literal_column("'audit'")
_NO_KEY: Final[ColumnElement[str]] = literal_column("''")
#: The names of the values that ``IS_LEFT_BEHIND`` takes.
WRITTEN_WITH: Final = ("of_writing_key", "of_lacking_audit")
_LACKS_AUDIT = bindparam("of_lacking_audit", type_=Boolean)
#: Will nobody look for what is written with this key? Or must it not be written at all?
IS_LEFT_BEHIND = or_(
    exists().where(_OF_ENCRYPTION, keys.c.key_id == _MINE, keys.c.is_in_use.is_(False)),
    and_(_MINE == _NO_KEY, exists().where(_OF_ENCRYPTION)),
    and_(_LACKS_AUDIT, exists().where(_OF_AUDIT)),
)
_LOOK = select(IS_LEFT_BEHIND.label("is_left_behind"))
_KINDS = select(keys.c.kind).distinct()
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


def written_with(held: Keys) -> Mapping[str, str | bool]:
    """The values that ``IS_LEFT_BEHIND`` takes."""
    return dict(zip(WRITTEN_WITH, (held.cipher.newest or "", held.audit is None), strict=True))


def look_again(connection: Connection) -> None:
    """Something may be left that is not under the newest key: nothing of it counts as done."""
    connection.execute(_UNDO)


def bring_along(connection: Connection, held: Keys) -> None:
    """See to it that what is written now is found, and the key that it takes kept until then. Raises ``StoreError``
    for whoever has no key of a kind that there is by now."""
    kinds = set(connection.execute(_KINDS).scalars())
    if held.cipher.newest is None and "encryption" in kinds:
        raise lacks_key(SETTING)
    if held.audit is None and "audit" in kinds:
        raise lacks_key(AUDIT_SETTING)
    connection.execute(_USE_AGAIN, {"of_writing_key": held.cipher.newest})
    connection.execute(_BEGIN_ANEW)


def bring_along_if_late(connection: Connection, held: Keys) -> None:
    """The same, for whoever has not looked."""
    if connection.execute(_LOOK, written_with(held)).scalar_one():
        bring_along(connection, held)
