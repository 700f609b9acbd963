"""What is kept beside the journals, and was lost or changed there, is put right by them."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from contextlib import suppress

from agent.chores import REST_SECONDS
from agent.errors import (
    CorruptJournal,
    NotFound,
    PayloadsRemoved,
    Purged,
    StoreError,
    StoreUnavailable,
    UnknownEvent,
)
from agent.ports import RunRow, Store
from agent.rules.fold import fold
from agent.rules.ids import ApprovalId, RunId
from agent.rules.state import RunState

log = logging.getLogger(__name__)


async def read_state(store: Store, run_id: RunId) -> RunState:
    """The run as its journal has it. Raises ``NotFound``, ``CorruptJournal``, ``UnknownEvent``."""
    return fold(await store.journal.read(run_id))


def has_no_words(row: RunRow) -> bool:
    """Has what people and models said in the run been removed?"""
    return row.removed not in (None, "payloads")


async def must_have_payloads(store: Store, run_id: RunId) -> None:
    """Raises ``PayloadsRemoved`` where what the run was about has been removed."""
    row = await store.lists.run(run_id)
    if row is not None and row.removed is not None:
        raise PayloadsRemoved(run_id, row.status)


async def read_those_that_can_be(store: Store, run_ids: Iterable[RunId]) -> dict[RunId, RunState]:
    """One journal that can't be read hides no other: it is left out, and named in the log. What has been removed
    since somebody saw it is left out too."""
    states: dict[RunId, RunState] = {}
    for run_id in dict.fromkeys(run_ids):
        try:
            states[run_id] = await read_state(store, run_id)
        except Purged:
            continue
        except (CorruptJournal, UnknownEvent, NotFound) as error:
            log.warning("%s is left out: %s", run_id, error)
    return states


async def mend(store: Store, state: RunState) -> list[str]:
    """Put right what contradicts the run's journal; what that was. Raises ``CorruptJournal`` for what
    can't be."""
    mended = await store.projections.mend(state)
    if mended:
        log.warning("mended beside the journal of %s: %s", state.run_id, "; ".join(mended))
    return mended


async def mend_all(store: Store, *, at_sight: bool = False) -> list[RunId]:
    """Grants, switches, removals and limits, and each run that ``mend_suspects`` finds; which of these were
    mended. What can't be put right is named in the log.

    ``at_sight``: for a process that serves people meanwhile. What is in anybody's way is found without reading all
    that was ever removed, and sums are added up a little at a time."""
    try:
        if mended := await store.control.mend(at_sight=at_sight):
            log.warning("mended beside the control journal: %s", "; ".join(mended))
    except (CorruptJournal, UnknownEvent) as error:
        log.warning("grants and switches can't be mended: %s", error)
    if mended := await store.purges.mend(at_sight=at_sight):
        # Before the runs: one that seems to be partly removed takes no word.
        log.warning("mended of what was removed: %s", "; ".join(mended))
    runs = await mend_suspects(store)
    if mended := await store.limits.mend(rest=REST_SECONDS if at_sight else 0.0):
        log.warning("found beside the calls' reservations: %s", "; ".join(mended))
    return runs


async def mend_suspects(store: Store) -> list[RunId]:
    """The same for each run that waits, and of which nothing shows for what, and for each that has ended
    and whose questions are still listed; which were mended. One that can't be read is named in the log."""
    mended: list[RunId] = []
    async for run_id in store.projections.suspects():
        try:
            if await mend(store, await read_state(store, run_id)):
                mended.append(run_id)
        except StoreUnavailable:
            raise
        except UnknownEvent:
            continue  # a newer build's
        except (StoreError, NotFound) as error:
            log.warning("%s can't be mended: %s", run_id, error)
    return mended


async def find_asker(store: Store, approval_id: ApprovalId) -> RunState:
    """The run that asked this approval, also when its row was lost; nothing is written. Raises
    ``NotFound``, and what reading a journal raises."""
    row = await store.lists.approval(approval_id)
    if row is not None and (asker := await _asker(store, row.run_id, approval_id)):
        return asker
    for run_id in await store.projections.askers(approval_id):
        if asker := await _asker(store, run_id, approval_id):
            return asker
    if row is not None:
        # Nobody else asked it: what is wrong with the run that the row names, whoever asks is to hear.
        with suppress(NotFound):
            await read_state(store, row.run_id)
    if gone := await store.purges.of_approval(approval_id):
        raise Purged(gone.run_id, gone.at, gone.head_seq)
    raise NotFound("approval", approval_id)


async def _asker(store: Store, run_id: RunId, approval_id: ApprovalId) -> RunState | None:
    """The run, if it can be read and asked this."""
    try:
        state = await read_state(store, run_id)
    except (CorruptJournal, UnknownEvent, NotFound):
        return None
    return state if approval_id in state.approvals else None
