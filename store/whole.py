"""What is read is whole: nothing is given of a journal whose chain does not hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.errors import CorruptJournal
from store.bodies import Row
from store.chain import MISSING, Break, Chain

#: What a seq can be asked for.
LOWEST, HIGHEST = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True)
class Page:
    """Facts in their order, and what the head said of the last one at the same moment."""

    head_seq: int
    head_hash: str
    rows: Sequence[Row]


def first_of(after: int) -> int:
    """From where on to read what stands behind ``after``: the fact before it ties it to its past, and
    before the first one nothing may stand."""
    return after if after > 0 else LOWEST


def whole_rows(
    journal: str, page: Page, after: int, *, key: bytes | None, is_last: bool = True
) -> Sequence[Row]:
    """The rows of the page behind ``after``, each tied to the one before and the last to the head.

    The page begins with the fact at ``after``, if there is any; ``is_last`` is false where facts that
    were left out may follow; ``key`` is the audit key. Raises ``CorruptJournal``, which names the first that does not
    fit."""
    chain, rows = Chain(journal, key=key), page.rows
    if after > 0:
        if not rows and isinstance(page.head_seq, int) and after > page.head_seq:
            return ()
        if not rows or rows[0].seq != after:
            raise CorruptJournal(journal, after, MISSING)
        chain, rows = Chain(journal, after, rows[0].hash, key=key), rows[1:]
    for row in rows:
        _must_hold(journal, chain.follow(row))
    if is_last:
        _must_hold(journal, chain.end(page.head_seq, page.head_hash))
    return rows


def _must_hold(journal: str, broken: Break | None) -> None:
    if broken is not None:
        raise CorruptJournal(journal, broken.seq, broken.why)
