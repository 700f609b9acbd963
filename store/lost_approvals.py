"""Where an approval was asked whose row was lost: what the journals say."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, select, text, tuple_

from agent.errors import Unstorable
from agent.rules.ids import ApprovalId, RunId
from agent.rules.json_text import dump_text
from store.cipher import Cipher, key_of
from store.clock import StoreClock
from store.names import Name
from store.reader import Reader
from store.schema import journal, runs

#: After a search that found nothing there is none for so long: each reads many facts, and somebody may
#: go on asking for what never was.
REST = timedelta(seconds=5)

#: The newest of those that have not ended.
_RUNS_AT_MOST = 10_000
#: So many runs may have the words in them by chance, or because somebody wanted them there.
_FOUND_AT_MOST = 5
#: No id of ours is as long.
_LONGEST = 100

_UNFINISHED = (
    select(runs.c.run_id)
    # A literal, as in ``store.approvals``.
    .where(text("runs.status = 'active'"))
    .order_by(runs.c.started_at.desc(), runs.c.run_id.desc())
    .limit(_RUNS_AT_MOST)
    .subquery()
)
_ASKERS = (
    select(journal.c.run_id)
    .join(_UNFINISHED, _UNFINISHED.c.run_id == journal.c.run_id)
    .where(
        journal.c.body.like('%"kind":"approval/_requested"%', escape="/"),
        journal.c.body.like(bindparam("words", type_=Name), escape="/"),
    )
    .distinct()
    .limit(_FOUND_AT_MOST)
)
#: Of facts that are encrypted; a part of them is read at a time.
_AT_A_TIME = 500
_SEALED = (
    select(journal.c.run_id, journal.c.seq, journal.c.body)
    .join(_UNFINISHED, _UNFINISHED.c.run_id == journal.c.run_id)
    .where(
        tuple_(journal.c.run_id, journal.c.seq)
        > tuple_(
            bindparam("after_run", type_=Name), bindparam("after_seq", type_=journal.c.seq.type)
        )
    )
    .order_by(journal.c.run_id, journal.c.seq)
    .limit(_AT_A_TIME)
)
_ASKS = '"kind":"approval_requested"'
_ESCAPED = str.maketrans({"/": "//", "%": "/%", "_": "/_"})


class LostApprovals:
    """Searches the journals of unfinished runs, one search at a time."""

    def __init__(self, reader: Reader, clock: StoreClock, cipher: Cipher) -> None:
        self._reader = reader
        self._cipher = cipher
        self._clock = clock
        self._searching = asyncio.Lock()
        self._in_vain_at: datetime | None = None

    async def askers(self, approval_id: ApprovalId) -> list[RunId]:
        """As the port says."""
        if len(approval_id) > _LONGEST:
            return []
        async with self._searching:
            if self._rests():
                return []
            found = await self._search(approval_id)
            self._in_vain_at = None if found else self._clock.now()
        return found

    def _rests(self) -> bool:
        if self._in_vain_at is None:
            return False
        # A clock that was set back keeps nobody waiting.
        return timedelta(0) <= self._clock.now() - self._in_vain_at < REST

    async def _search(self, approval_id: ApprovalId) -> list[RunId]:
        words = f'"approval_id":{dump_text(approval_id)}'
        values = {"words": f"%{words.translate(_ESCAPED)}%"}
        try:
            found = await self._reader.run(
                lambda c: [RunId(id) for id in c.execute(_ASKERS, values).scalars()]
            )
        except Unstorable:
            # Nothing has such a name.
            return []
        if self._cipher.newest is not None:
            found += await self._search_encrypted(words, _FOUND_AT_MOST - len(found))
        return found

    async def _search_encrypted(self, words: str, at_most: int) -> list[RunId]:
        """The same where no database can look into what it keeps."""
        found: list[RunId] = []
        after: tuple[str, int] = ("", 0)
        while len(found) < at_most:
            rows = await self._after(*after)
            for run_id, seq, kept in rows:
                after = (run_id, seq)
                body = self._cipher.read(run_id, seq, kept) if key_of(kept) else None
                asks = isinstance(body, str) and _ASKS in body and words in body
                if asks and run_id not in found:
                    found.append(RunId(run_id))
            if len(rows) < _AT_A_TIME:
                break
        return found[:at_most]

    async def _after(self, run_id: str, seq: int) -> Sequence[Any]:
        place = {"after_run": run_id, "after_seq": seq}
        return await self._reader.run(lambda c: c.execute(_SEALED, place).all())
