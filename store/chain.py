"""Each fact's hash covers the fact before it, so that no fact can be changed or taken out unseen.

Pure. What is hashed is the body's bytes as they were first written; nothing is ever put into another
form to be checked. Each part is preceded by its length, so no two chains hash the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

#: What the first fact follows.
BEGINNING = ""
#: What the control journal has in the place of a run's id.
CONTROL = "control"


@dataclass(frozen=True, slots=True)
class Link:
    """A fact as the chain sees it."""

    seq: int
    event_id: str
    hash: str
    body: str


@dataclass(frozen=True, slots=True)
class Break:
    """The first fact that is not what was written at this seq, and how that shows."""

    seq: int
    why: str


def hash_fact(previous: str, journal: str, seq: int, event_id: str, body: str) -> str:
    """The hash, in hexadecimal, of a fact that follows the one with the hash ``previous``.

    ``journal`` is the run's id, or ``CONTROL``: no fact fits into another journal."""
    digest = sha256()
    for part in (previous, journal, str(seq), event_id, body):
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


def find_break(journal: str, links: Iterable[Link], head_seq: int, head_hash: str) -> Break | None:
    """The first changed, missing, reordered or inserted fact; None when all are whole.

    ``links`` are in the order of their seq; the head is what a row beside them says of the last one.
    """
    seq, previous = 0, BEGINNING
    for link in links:
        seq += 1
        if link.seq != seq:
            return Break(seq, "it is missing")
        if hash_fact(previous, journal, seq, link.event_id, link.body) != link.hash:
            return Break(seq, "it is not what was written")
        previous = link.hash
    if seq < head_seq:
        return Break(seq + 1, "it is missing")
    if seq > head_seq or previous != head_hash:
        return Break(seq, "the head is another")
    return None
