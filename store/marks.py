"""Marks: what the audit key says of runs that it does not cover yet.

A run that has gone on since there is one has a head that takes the key, which vouches for all before it. Of one that
has not, its row holds a mark, so that nobody can write its chain anew, or that of a later run without the key. Once
all are marked, a head that neither takes the key nor has a mark of it is somebody else's: nothing of such a run is
read, and nothing is appended behind it, for that would vouch for it.
"""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, select, update

from agent.errors import CorruptJournal
from agent.rules.anchors import CONTROL
from store.chain import hash_fact, is_keyed
from store.keys import is_same, prove_audit, prove_marked
from store.schema import keys, rewriting, runs

UNMARKED = "its last fact was written without the audit key, and has no mark of it"
_MARK = "mark"
_IS_AUDIT = keys.c.kind == "audit"
_PROOF = select(keys.c.proof).where(_IS_AUDIT)
_IS_DONE = select(rewriting.c.is_done).where(rewriting.c.kind == "marks")
_SEAL = update(keys).where(_IS_AUDIT).values(proof=bindparam("new_proof"))
_MARK_OF = select(runs.c.mark).where(runs.c.run_id == bindparam("of_run"))


def mark(key: bytes, run_id: str, head_seq: int, head_hash: str) -> str:
    """The mark of a run that stands there."""
    return hash_fact(head_hash, run_id, head_seq, _MARK, "", key)


def seal_marks(connection: Connection, key: bytes) -> None:
    """All is marked that is to be. From now on nothing is marked any more."""
    connection.execute(_SEAL, {"new_proof": prove_marked(key)})


def are_sealed(connection: Connection, key: bytes) -> bool:
    return is_same(prove_marked(key), connection.execute(_PROOF).scalar())


def is_audit_key(key: bytes, proof: object) -> bool:
    """Is it the key that has proved itself so?"""
    return is_same(prove_audit(key), proof) or is_same(prove_marked(key), proof)


def must_be_vouched_for(connection: Connection, key: bytes | None) -> bool:
    """Is there an audit key, and has everything been marked that ended before it? What it does not vouch for then was
    written by somebody else."""
    if key is None:
        return False
    return are_sealed(connection, key) or bool(connection.execute(_IS_DONE).scalar())


def is_vouched_for(
    key: bytes | None, run_id: str, head_seq: int, head_hash: str, kept: object
) -> bool:
    """Does the audit key vouch for this head, by its hash or by the mark that is kept of it? Without one nothing has
    to."""
    if key is None or is_keyed(head_hash):
        return True
    return is_same(mark(key, run_id, head_seq, head_hash), kept)


def must_be_ours(
    connection: Connection, key: bytes | None, run_id: str, head_seq: int, head_hash: str
) -> None:
    """Raises ``CorruptJournal`` for the head of a run that somebody without the audit key has written. Nothing is
    looked up for one that takes the key, as those of all runs at work do."""
    if key is None or is_keyed(head_hash) or not must_be_vouched_for(connection, key):
        return
    kept = connection.execute(_MARK_OF, {"of_run": run_id}).scalar()
    if not is_vouched_for(key, run_id, head_seq, head_hash, kept):
        raise CorruptJournal(run_id, head_seq, UNMARKED)


def control_must_be_ours(
    connection: Connection, key: bytes | None, head_seq: int, head_hash: str
) -> None:
    """The same of the control journal, which takes the key from the fact on that says so."""
    if key is None or is_keyed(head_hash):
        return
    if connection.execute(_PROOF).scalar() is not None:
        raise CorruptJournal(CONTROL, head_seq, UNMARKED)
