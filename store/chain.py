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
#: How a break shows.
MISSING = "it is missing"
CHANGED = "it is not what was written"
ANOTHER_HEAD = "the head is another"
NOT_REMOVED = "what stood here is gone, and the control journal does not say that it was removed"


@dataclass(frozen=True, slots=True)
class Link:
    """A fact as the chain sees it."""

    seq: int
    event_id: str
    hash: str
    body: str
    #: The fact of the control journal by which something of the body was removed; None: it is as it was written.
    purged_by: int | None = None


@dataclass(frozen=True, slots=True)
class Break:
    """The first fact that is not what was written at this seq, and how that shows."""

    seq: int
    why: str


def hash_fact(previous: str, journal: str, seq: int, event_id: str, body: str) -> str:
    """The hash, in hexadecimal, of a fact that follows the one with the hash ``previous``.

    ``journal`` is the run's id, or ``CONTROL`` of ``agent.rules.anchors``: no fact fits into another journal."""
    digest = sha256()
    for part in (previous, journal, str(seq), event_id, body):
        # What is no text can be asked for, and stands nowhere.
        data = part.encode(errors="surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


class Chain:
    """A journal's chain, as far as it has been followed: from its beginning, or from behind a fact whose
    hash is known."""

    def __init__(self, journal: str, seq: int = 0, previous: str = BEGINNING) -> None:
        self._journal = journal
        #: The last fact that was found whole, and its hash.
        self.seq = seq
        self.hash = previous

    def follow(self, link: Link) -> Break | None:
        """Go on to the next fact; how it shows that it is not the one that was written here."""
        seq = self.seq + 1
        if link.seq != seq:
            return Break(seq, MISSING)
        if not _is_text(link):
            return Break(seq, CHANGED)
        # Of what was removed only the hash is left; whether it was is for the control journal to say.
        if link.purged_by is None and self._hash(link) != link.hash:
            return Break(seq, CHANGED)
        self.seq, self.hash = seq, link.hash
        return None

    def end(self, head_seq: object, head_hash: object) -> Break | None:
        """How it shows that this is not the end of which a head, kept elsewhere, knows."""
        if not isinstance(head_seq, int):
            return Break(self.seq, ANOTHER_HEAD)
        if self.seq < head_seq:
            return Break(self.seq + 1, MISSING)
        if self.seq > head_seq or self.hash != head_hash:
            return Break(self.seq, ANOTHER_HEAD)
        return None

    def _hash(self, link: Link) -> str:
        return hash_fact(self.hash, self._journal, self.seq + 1, link.event_id, link.body)


def digest_of_kept(links: Iterable[Link]) -> str:
    """What a fact of the control journal covers of facts of which something was removed."""
    digest = sha256()
    for link in links:
        for part in (str(link.seq), link.event_id, link.hash, link.body):
            data = str(part).encode(errors="surrogatepass")
            digest.update(len(data).to_bytes(8, "big"))
            digest.update(data)
    return digest.hexdigest()


def _is_text(link: Link) -> bool:
    """A file's columns take anything."""
    return all(isinstance(part, str) for part in (link.event_id, link.hash, link.body))
