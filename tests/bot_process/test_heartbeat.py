"""A process whose heartbeat can't be written is not ready, and says once why."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from agent.ports import Process
from bot.heartbeat import Heartbeat
from store import open_store
from tests.bot_process.test_demo import until
from tests.store.files import with_tables


async def test_it_is_tried_at_each_look_until_it_is_written_and_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, aside = tmp_path / "p.db", tmp_path / "aside.db"
    store = await open_store(with_tables(path))
    await store.processes.join(Process("p1", "test", ("refunds",), True, True))
    heartbeat = Heartbeat(store.processes, "p1", look_seconds=0.01)
    beating = asyncio.create_task(heartbeat.run())

    async def is_beating() -> bool:
        return heartbeat.is_beating

    async def is_silent() -> bool:
        return not heartbeat.is_beating and "no heartbeat now" in caplog.text

    with caplog.at_level(logging.INFO):
        await until(is_beating)
        for _ in range(2):
            path.rename(aside)
            await until(is_silent)
            aside.rename(path)
            await until(is_beating)

            async def is_said() -> bool:
                return "takes heartbeats again" in caplog.text

            await until(is_said)
            assert caplog.text.count("no heartbeat now") == 1
            caplog.clear()
    beating.cancel()
    await asyncio.gather(beating, return_exceptions=True)
    await store.close()
