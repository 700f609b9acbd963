"""Each fact's hash covers the fact before it, so that no fact can be changed or taken out unseen.

Pure. What is hashed is the body's bytes as they were first written; nothing is ever put into another
form to be checked. Each part is preceded by its length, so no two chains hash the same bytes.

With an audit key a hash is an HMAC, and says so: who has the database alone can't write a chain anew. Behind
such a fact none without it may stand, and it vouches for all that stand before it.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from struct import Struct

#: What the first fact follows.
BEGINNING = ""
#: How a break shows.
MISSING = "it is missing"
CHANGED = "it is not what was written"
ANOTHER_HEAD = "the head is another"
NOT_REMOVED = "what stood here is gone, and the control journal does not say that it was removed"
NEEDS_KEY = "its hash can't be checked without PILOTHOUSE_AUDIT_KEY"
LACKS_KEY = "it was written without the audit key, behind one that was written with it"

#: Of a part, in eight bytes.
_LENGTH = Struct(">Q").pack
#: How a hash begins that takes the audit key.
_KEYED = "hmac:"


@dataclass(frozen=True, slots=True)
class Unread:
    """Stands for a body that can't be had."""

    why: str


@dataclass(frozen=True, slots=True)
class Link:
    """A fact as the chain sees it."""

    seq: int
    event_id: str
    hash: str
    body: str | Unread
    #: The fact of the control journal by which something of the body was removed; None: it is as it was written.
    purged_by: int | None = None


@dataclass(frozen=True, slots=True)
class Break:
    """The first fact that is not what was written at this seq, and how that shows."""

    seq: int
    why: str


def hash_fact(
    previous: str, journal: str, seq: int, event_id: str, body: str, key: bytes | None = None
) -> str:
    """The hash, in hexadecimal, of a fact that follows the one with the hash ``previous``; with an audit key one
    that takes it.

    ``journal`` is the run's id, or ``CONTROL`` of ``agent.rules.anchors``: no fact fits into another journal."""
    parts = (previous, journal, str(seq), event_id, body)
    try:
        p, j, s, e, b = [part.encode() for part in parts]
    except UnicodeEncodeError:
        # What is no text can be asked for, and stands nowhere.
        p, j, s, e, b = [part.encode(errors="surrogatepass") for part in parts]
    n = _LENGTH
    covered = b"".join((n(len(p)), p, n(len(j)), j, n(len(s)), s, n(len(e)), e, n(len(b)), b))
    if key is None:
        return sha256(covered).hexdigest()
    return _KEYED + hmac.digest(key, covered, "sha256").hex()


def is_keyed(hash: object) -> bool:
    """Does this hash take the audit key?"""
    return isinstance(hash, str) and hash.startswith(_KEYED)


class Chain:
    """A journal's chain, as far as it has been followed: from its beginning, or from behind a fact whose
    hash is known. ``key`` is the audit key, if there is one."""

    def __init__(
        self, journal: str, seq: int = 0, previous: str = BEGINNING, *, key: bytes | None = None
    ) -> None:
        self._journal = journal
        self._key = key
        #: The last fact that was found whole, and its hash.
        self.seq = seq
        self.hash = previous

    def follow(self, link: Link) -> Break | None:
        """Go on to the next fact; how it shows that it is not the one that was written here."""
        seq = self.seq + 1
        if link.seq != seq:
            return Break(seq, MISSING)
        if why := self._why_not(link):
            return Break(seq, why)
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

    def _why_not(self, link: Link) -> str | None:
        """How it shows that this is not what was written here."""
        if isinstance(link.body, Unread):
            return link.body.why
        if not _is_text(link):
            return CHANGED
        key = None
        if is_keyed(link.hash):
            if self._key is None:
                return NEEDS_KEY
            key = self._key
        elif is_keyed(self.hash):
            return LACKS_KEY
        if link.purged_by is not None:
            # Only the hash is left; whether the rest was removed is for the control journal to say.
            return None
        seq = self.seq + 1
        hash = hash_fact(self.hash, self._journal, seq, link.event_id, link.body, key)
        return None if hash == link.hash else CHANGED


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
