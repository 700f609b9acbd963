"""What the figures run as another process: ``python -m benchmarks.beside WHAT URL …``."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from datetime import timedelta

from agent.engine.guard import LeaseGuard
from agent.engine.holding import LeaseLoop
from agent.errors import StoreError
from agent.ports import Process
from store import SqlStore, open_store
from tests.store.story import begin, replied, stamps

TERM = timedelta(seconds=30)
#: As in a bot: how often it looks for the dead, and how many looks there are between two heartbeats.
LOOK_SECONDS, LOOKS_A_BEAT = 1.0, 10


async def append(store: SqlStore, times: str) -> None:
    """Begin a run and append to it now and then; say when each append had been committed."""
    run_id = await begin(store.journal, store.clock, "run_appended")
    chance = random.Random(times)
    for seq in range(1, int(times) + 1):
        await asyncio.sleep(chance.uniform(0.06, 0.12))
        await store.journal.intend(run_id, stamps(store.clock, replied()), expected_seq=seq)
        sys.stdout.write(f"{time.monotonic()}\n")
        sys.stdout.flush()


async def idle(store: SqlStore, seconds: str) -> None:
    """Be a bot that has nothing to do; say how much of a processor that took, in seconds."""

    async def work(guard: LeaseGuard, _: asyncio.Event) -> None:
        raise StoreError(f"{guard.lease.run_id} should not be due")

    await store.processes.join(Process("idle", "bench", ("refunds",), True, True))
    loops = [
        LeaseLoop(leases, store.wakeups, work, holder="idle", term=TERM, concurrency=10, agents=of)
        for leases, of in ((store.run_leases, ["refunds"]), (store.thread_leases, None))
    ]
    running = [asyncio.create_task(loop.run()) for loop in loops]
    await asyncio.sleep(1)  # What is done once at the beginning is not counted.
    before = time.process_time()
    for look in range(int(float(seconds) / LOOK_SECONDS)):
        await store.processes.bury_dead()
        if look % LOOKS_A_BEAT == 0:
            await store.processes.beat("idle")
        await asyncio.sleep(LOOK_SECONDS)
    sys.stdout.write(f"{time.process_time() - before}\n")
    for loop in loops:
        await loop.stop()
    await asyncio.gather(*running)


async def main(what: str, url: str, *words: str) -> None:
    store = await open_store(url)
    try:
        await {"append": append, "idle": idle}[what](store, words[0])
    finally:
        await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
