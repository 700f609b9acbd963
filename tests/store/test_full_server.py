"""The disk of a server is full: it is said, nothing is lost or done twice, and what was to be written and rotated is,
once there is room."""

from __future__ import annotations

import asyncio
import random
import re
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from agent.errors import StoreUnavailable
from agent.rules.ids import RunId
from store.keys import parse_keys
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_postgres
from tests.store.disks import SmallDisk, small_disk
from tests.store.server import Server
from tests.store.story import begin, replied, stamps
from tests.store.test_encryption import BOTH, ONE, TWO, facts_under, rotate

pytestmark = [on_postgres, pytest.mark.usefixtures("kind")]

TERM = timedelta(hours=1)
FULL = r"the disk is full \(could not extend file .*\)\. Make room on it"
MANY = 6


@pytest.fixture
def disk() -> Iterator[SmallDisk]:
    # Not in a folder of the test's own: the server could not reach it.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        with small_disk(folder / "disk", megabytes=32) as disk:
            yield disk


@pytest.fixture
def on_disk(disk: SmallDisk, server_of_kind: Server) -> Iterator[str]:
    """The URL of a database on it."""
    database = disk.folder / "database"
    database.mkdir()
    with server_of_kind.database_in(database) as url:
        yield url


def big() -> str:
    """Nothing makes it smaller."""
    return random.Random(1).randbytes(100_000).hex()


async def test_what_is_written_meanwhile_is_refused_and_there_once_afterwards(
    disk: SmallDisk, on_disk: str, open_another: OpenAnother, clock: ManualClock
) -> None:
    store = await open_another(url=on_disk, keys=parse_keys(f"{ONE},{TWO}"))
    rotating = await open_another(url=on_disk, keys=BOTH)
    journal = store.journal
    runs = [await begin(journal, clock, f"run_{n}") for n in range(MANY)]
    leases = await store.run_leases.claim("p1", TERM, MANY)
    fences = {one.run_id: one.fence for one in leases}
    for run_id in runs:
        await journal.record(run_id, stamps(clock, replied(f"{run_id}_0")), fence=fences[run_id])
    events = {run_id: stamps(clock, replied(f"{run_id}_1", text=big())) for run_id in runs}

    async def write(run_id: RunId) -> object:
        return await journal.record(run_id, events[run_id], fence=fences[run_id])

    disk.fill()
    refused = await asyncio.gather(*map(write, runs), return_exceptions=True)
    assert {type(one) for one in refused} == {StoreUnavailable}
    assert re.search(FULL, str(refused[0]))
    with pytest.raises(StoreUnavailable, match=FULL):
        await rotate(rotating)
    for run_id in runs:
        assert [one.seq for one in await journal.read(run_id)] == [1, 2]
    disk.make_room()
    for _ in range(2):
        await asyncio.gather(*map(write, runs))
    await rotate(rotating)
    under = await facts_under(rotating)
    assert under.pop("2026") > 3 * MANY
    assert not any(under.values())
    for run_id in runs:
        assert [one.seq for one in await journal.read(run_id)] == [1, 2, 3]
        assert (await store.verifier.check(run_id)).broken is None
