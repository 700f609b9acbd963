"""Whether what is kept beside the journals says what the journals say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agent.errors import CorruptJournal, NotFound, StoreError, StoreUnavailable, UnknownEvent
from agent.rules.fold import fold
from agent.rules.ids import RunId
from store.keys import NO_KEYS, Keys
from store.odd_values import odd_values
from store.open import SqlStore, open_store

Look = Callable[[], Awaitable[list[str]]]
IN_THE_WAY = "Until that is put right nothing is compared: rows are found by it."


async def differences_at(
    url: str,
    *,
    listen_url: str | None = None,
    keys: Keys = NO_KEYS,
    progress: Callable[[int], None] | None = None,
) -> list[str]:
    """The same of the database at ``url``, whose tables are up to date, and what stands there that no build writes.
    Nothing is changed. Raises as ``open_store``."""
    odd = await odd_values(url)
    words = [one.words for one in odd]
    if any(one.is_in_the_way for one in odd):
        return [*words, IN_THE_WAY]
    store = await open_store(url, listen_url=listen_url, listens=False, keys=keys, only_looks=True)
    try:
        return words + await differences(store, progress)
    finally:
        await store.close()


async def differences(store: SqlStore, progress: Callable[[int], None] | None = None) -> list[str]:
    """Each difference in words. What can't be compared, for it can't be read, is one too. ``progress`` is told how many
    runs were looked at. Raises ``StoreUnavailable``."""
    looks: list[tuple[str, Look]] = [
        ("grants and switches", store.control.differences),
        ("limits", store.limits.differences),
        ("removals", store.purges.differences),
        ("runs", lambda: _of_runs(store, progress)),
    ]
    return [words for what, look in looks for words in await _look(what, look)]


async def _of_runs(store: SqlStore, progress: Callable[[int], None] | None) -> list[str]:
    looked_at = 0
    found = [
        f"{run_id}: there are facts, and no row of it" async for run_id in store.verifier.orphans()
    ]
    async for run_id in store.verifier.runs():
        found += [f"{run_id}: {one}" for one in await _of_run(store, run_id)]
        looked_at += 1
        if progress is not None:
            progress(looked_at)
    return found


async def _of_run(store: SqlStore, run_id: RunId) -> list[str]:
    try:
        return await store.projections.differences(fold(await store.journal.read(run_id)))
    except (CorruptJournal, UnknownEvent) as error:
        return [str(error)]
    except NotFound as error:
        # It was there when it was listed. If its time has come since, nothing is wrong with it.
        is_removed = await store.verifier.check_tombstone(run_id) is not None
        return [] if is_removed else [str(error)]


async def _look(what: str, look: Look) -> list[str]:
    try:
        return await look()
    except StoreUnavailable:
        raise
    except StoreError as error:
        return [f"{what} could not be compared: {error}"]
