"""A removal in pieces, each with what stands there afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select

from agent.errors import NotFound
from agent.ports.purges import Removal
from agent.rules.events import Event
from agent.rules.purges import ALL_GONE, Removed
from agent.rules.redacting import without_payloads, without_words
from store.bodies import Row, read_body, write_left
from store.chain import Link, Unread, digest_of_kept
from store.keys import Keys
from store.reading import read_rows
from store.schema import runs

#: So many of a run's facts are removed at once; always from the same ones on, so that whatever goes later goes in
#: the same pieces.
PIECE = 100
#: So many facts, and so many runs, one transaction removes at most: nobody waits for longer than a few of
#: their own would take.
FACTS_AT_ONCE, RUNS_AT_ONCE = 100, 10

_LEFT_OF: dict[Removed, Callable[[Event], Event]] = {
    "payloads": without_payloads,
    "transcripts": without_words,
}

_BEGUN = select(runs.c.purged, runs.c.purged_to).where(runs.c.run_id == bindparam("of_run"))


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of a fact's body, as it is hashed: the keys it is kept with are another matter."""

    seq: int
    body: str


@dataclass(frozen=True, slots=True)
class Piece:
    """What one transaction removes of one run."""

    removal: Removal
    from_seq: int
    to_seq: int
    #: What stands there afterwards; only of those that are rewritten.
    rewritten: tuple[Left, ...] = ()
    kept: str = ""

    @property
    def is_first(self) -> bool:
        return self.from_seq == 1

    @property
    def is_last(self) -> bool:
        return self.to_seq >= self.removal.head_seq

    @property
    def facts(self) -> int:
        return self.to_seq - self.from_seq + 1


def what_stands(connection: Connection, removal: Removal, keys: Keys) -> tuple[int, Sequence[Row]]:
    """How far the removal has come, and what stands there: all of it, or nothing where nothing will. Raises
    ``CorruptJournal``: what is not whole is evidence, and is not removed."""
    begun = connection.execute(_BEGUN, {"of_run": removal.run_id}).one_or_none()
    # A file's column takes anything: what is no number is told by nobody who removed.
    done = begun.purged_to if begun is not None and isinstance(begun.purged_to, int) else 0
    if begun is None or begun.purged == ALL_GONE:
        return done, ()
    try:
        return done, read_rows(connection, removal.run_id, keys)
    except NotFound:
        # Another has begun to remove all of it since.
        return done, ()


def pieces_of(removal: Removal, done: int, rows: Sequence[Row]) -> Iterator[Piece]:
    """What is to be removed, from where it has come to on. Raises ``UnknownEvent``."""
    for from_seq in range(done + 1, removal.head_seq + 1, PIECE):
        to_seq = min(from_seq + PIECE - 1, removal.head_seq)
        if removal.removed == "audit":
            yield Piece(removal, from_seq, to_seq)
        elif rows:
            yield _with_what_is_left(removal, rows[from_seq - 1 : to_seq])


def _with_what_is_left(removal: Removal, rows: Sequence[Row]) -> Piece:
    left, rewritten = [], []
    for row in rows:
        body = _left_of(removal, row)
        left.append(Link(row.seq, row.event_id, row.hash, body))
        # The last says how far it has come, also where nothing of it goes.
        if body != row.body or row.purged_by is not None or row is rows[-1]:
            rewritten.append(Left(row.seq, body))
    return Piece(removal, rows[0].seq, rows[-1].seq, tuple(rewritten), kept=digest_of_kept(left))


def _left_of(removal: Removal, row: Row) -> str:
    event = read_body(removal.run_id, row).event
    left = _LEFT_OF[removal.removed](event)
    if left != event or isinstance(row.body, Unread):
        return write_left(row, left)
    return row.body


def batches(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """Those that are removed together."""
    batch: list[Piece] = []
    for piece in pieces:
        facts = sum(one.facts for one in batch) + piece.facts
        if batch and (facts > FACTS_AT_ONCE or len(batch) == RUNS_AT_ONCE):
            yield batch
            batch = []
        batch.append(piece)
    if batch:
        yield batch
