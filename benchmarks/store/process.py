"""A process that appends together with others: ``python -m benchmarks.store.process URL NAME RUNS SECONDS``.

It says ``ready``, begins when it is told to, and then says how many it appended, and the milliseconds of the
slowest hundredth.
"""

from __future__ import annotations

import asyncio
import sys

from benchmarks.store.appends import appended, held, opened, p99


async def main(url: str, name: str, runs: str, seconds: str) -> None:
    async with opened(url) as store:
        leases = await held(store, int(runs), name)
        await appended(store, leases, 0.2)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.readline)
        done = await appended(store, leases, float(seconds))
        sys.stdout.write(f"{len(done.took)} {p99(done.took) * 1e3}\n")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
