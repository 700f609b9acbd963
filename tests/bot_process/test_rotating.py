from __future__ import annotations

import asyncio
from pathlib import Path

from agent.ports import Keeping
from bot.chores import rotate_keys
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
    rotating = asyncio.create_task(rotate_keys(store.rotation, "proc_1").go_on())

    async def done() -> Keeping | None:
        found = await store.rotation.status()
        return None if found.is_rotating else found

    status = await until(done)
    assert status is not None
    assert (status.clear, status.keys[0].facts) == (0, 302)
    rotating.cancel()
    await asyncio.gather(rotating, return_exceptions=True)
    await store.close()
