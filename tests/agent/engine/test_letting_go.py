"""What a store that is away keeps from being let go of is let go of when it is back."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from agent.engine.guard import LeaseGuard
from agent.engine.letting_go import let_go
from agent.errors import StoreUnavailable
from tests.agent.engine.bench import TERM, Bench, bench, says

LONG = timedelta(hours=1)


async def claimed(b: Bench, term: timedelta = TERM) -> LeaseGuard:
    await b.start()
    (lease,) = await b.store.run_leases.claim("p", TERM, 1)
    return LeaseGuard(lease, term)


async def test_it_is_due_as_soon_as_the_store_is_back(tmp_path: Path) -> None:
    async with bench(tmp_path, [], [says("ok")]) as b:
        guard = await claimed(b)
        is_away = asyncio.Event()

        async def defer() -> None:
            if not is_away.is_set():
                is_away.set()
                (tmp_path / "runs.db").rename(tmp_path / "aside.db")
            await b.store.run_leases.defer(guard.lease, until=b.clock.now())

        letting_go = asyncio.create_task(let_go(guard, asyncio.Event(), defer))
        await is_away.wait()
        with pytest.raises(StoreUnavailable):
            await b.store.run_leases.claim("other", TERM, 1)
        (tmp_path / "aside.db").rename(tmp_path / "runs.db")
        async with asyncio.timeout(10):
            await letting_go
        assert len(await b.store.run_leases.claim("other", TERM, 1)) == 1


@pytest.mark.parametrize("is_over", [True, False])
async def test_it_is_left_where_the_lease_is_over_or_all_is_to_end(
    tmp_path: Path, is_over: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with bench(tmp_path, [], [says("ok")]) as b:
        guard, stopping = await claimed(b, timedelta() if is_over else LONG), asyncio.Event()
        if not is_over:
            stopping.set()
        (tmp_path / "runs.db").rename(tmp_path / "aside.db")
        async with asyncio.timeout(10):
            await let_go(
                guard,
                stopping,
                lambda: b.store.run_leases.defer(guard.lease, until=b.clock.now()),
            )
        assert "falls due when its lease ends" in caplog.text
