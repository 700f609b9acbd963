from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.errors import StoreUnavailable
from agent.ports import Keeping
from bot.rotating import rotate
from store import open_store
from store.keys import new_key, parse_keys
from tests.agent.engine.bench import until
from tests.store.story import begin, replied, stamps


async def test_a_bot_at_work_encrypts_what_was_in_the_clear(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'pilothouse.db'}"
    store = await open_store(url)
    run_id = await begin(store.journal, store.clock)
    facts = stamps(store.clock, *(replied() for _ in range(300)))
    await store.journal.intend(run_id, facts, expected_seq=1)
    await store.close()

    store = await open_store(url, keys=parse_keys(f"2026:{new_key()}"))
    rotating = asyncio.create_task(rotate(store.rotation, "proc_1"))

    async def done() -> Keeping | None:
        found = await store.rotation.status()
        return None if found.is_rotating else found

    status = await until(done)
    assert status is not None
    assert (status.clear, status.keys[0].facts) == (0, 302)
    rotating.cancel()
    await asyncio.gather(rotating, return_exceptions=True)
    await store.close()


async def test_a_store_that_is_away_is_said_once_and_asked_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.rotating.LOOK_SECONDS", 0.01)
    url = f"sqlite:///{tmp_path / 'pilothouse.db'}"
    store = await open_store(url, keys=parse_keys(f"2026:{new_key()}"))
    await store.close()
    rotating = asyncio.create_task(rotate(store.rotation, "proc_1"))

    async def was_said() -> bool:
        return bool(caplog.records)

    await until(was_said)
    # It is asked again and again since.
    for _ in range(3):
        with pytest.raises(StoreUnavailable):
            await store.rotation.go_on("proc_2")
        await asyncio.sleep(0.02)
    assert not rotating.done()
    rotating.cancel()
    await asyncio.gather(rotating, return_exceptions=True)
    assert [one.getMessage() for one in caplog.records] == [
        "nothing is brought under the newest key now: The store is closed."
    ]
