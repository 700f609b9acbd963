"""What the tests run as another process: ``python -m tests.store.child WHAT URL NAME``."""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta

from agent.errors import LeaseLost
from agent.ports import Process
from agent.rules.ids import RunId
from store import SqlStore, open_store
from store.keys import parse_keys
from tests.store.story import begin, replied, returned, stamp

TERM = timedelta(hours=1)
MOMENT = timedelta(seconds=1)


def say(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


async def claim_all(store: SqlStore, name: str) -> None:
    """Claim one by one until nothing is due; say each."""
    while leases := await store.run_leases.claim(name, TERM, 1):
        say(*(lease.run_id for lease in leases))


async def hold(store: SqlStore, name: str) -> None:
    """Be alive and hold what is due, until killed."""
    await store.processes.join(Process(name, "test", ("refunds",), True, True))
    runs = await store.run_leases.claim(name, TERM, 100)
    threads = await store.thread_leases.claim(name, TERM, 100)
    say("holds", str(len(runs)), str(len(threads)))
    await asyncio.Event().wait()


async def append(store: SqlStore, name: str) -> None:
    """Append once, when told to on stdin."""
    say("ready")
    await asyncio.to_thread(sys.stdin.readline)
    event = stamp(store.clock, replied())
    await store.journal.intend(RunId(name), [event], expected_seq=1)


async def come_late(store: SqlStore, name: str) -> None:
    """Claim for a moment; append when told to on stdin, and say how that went."""
    (lease,) = await store.run_leases.claim(name, MOMENT, 1)
    say("holds", lease.run_id)
    await asyncio.to_thread(sys.stdin.readline)
    try:
        event = stamp(store.clock, returned("call_late"))
        await store.journal.record(lease.run_id, [event], fence=lease.fence)
    except LeaseLost:
        say("lost")
    else:
        say("appended")


async def start(store: SqlStore, name: str) -> None:
    say(await begin(store.journal, store.clock, name))


async def rotate(store: SqlStore, name: str) -> None:
    """Bring what is kept under the newest key, saying each part, until killed."""
    while True:
        say("did" if await store.rotation.go_on(name) else "has nothing to do")


async def main(what: str, url: str, name: str, keys: str = "") -> None:
    store = await open_store(url, keys=parse_keys(keys))
    try:
        await {
            "claim": claim_all,
            "hold": hold,
            "append": append,
            "start": start,
            "come_late": come_late,
            "rotate": rotate,
        }[what](store, name)
    finally:
        await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
