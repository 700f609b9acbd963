"""Marks: what the audit key says of runs that ended before there was one.

A run that has gone on since has a head that takes the key, which vouches for all before it. Of one that has not, its
row holds a mark, so that nobody can write its chain anew, or that of a later run without the key.
"""

from __future__ import annotations

import hmac

from sqlalchemy import Boolean, Connection, bindparam, func, select

from store.chain import hash_fact, is_keyed
from store.schema import rewriting

UNMARKED = "its last fact was written without the audit key, and has no mark of it"
_MARK = "mark"
#: Are all marked that are to be? Before there is an audit key nobody asks.
_ARE_MARKED = select(
    func.coalesce(
        select(rewriting.c.is_done).where(rewriting.c.kind == "marks").scalar_subquery(),
        bindparam("unless_begun", False, type_=Boolean),
    )
)


def mark(key: bytes, run_id: str, head_seq: int, head_hash: str) -> str:
    """The mark of a run that stands there."""
    return hash_fact(head_hash, run_id, head_seq, _MARK, "", key)


def must_be_vouched_for(connection: Connection, key: bytes | None) -> bool:
    """Is there an audit key, and has everything been marked that ended before it? What it does not vouch for then was
    written by somebody else."""
    return key is not None and bool(connection.execute(_ARE_MARKED).scalar())


def is_vouched_for(
    key: bytes | None, run_id: str, head_seq: int, head_hash: str, kept: object
) -> bool:
    """Does the audit key vouch for this head, by its hash or by the mark that is kept of it? Without one nothing has
    to."""
    if key is None or is_keyed(head_hash):
        return True
    return isinstance(kept, str) and hmac.compare_digest(
        mark(key, run_id, head_seq, head_hash), kept
    )
