"""What is written with an older key while all is brought under the newest, or behind it, is brought along."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.ports import Process
from agent.rules.events import RunFinished
from store.keys import NO_KEYS, Keys, parse_keys
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother
from tests.store.story import begin, replied, stamps
from tests.store.test_encryption import (
    BOTH,
    FIRST,
    ONE,
    RUN,
    SAID,
    SECOND,
    TWO,
    facts_under,
    rotate,
    tell,
)
from tests.store.test_standing import tell as record_control
from tests.store.test_standing import turned


async def test_what_an_older_process_wrote_behind_a_rotation_is_brought_along(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    """Restarted one after the other, as is advised: the first has brought all along before the last one stops."""
    await (await open_another(keys=parse_keys(f"{ONE},{TWO}"))).close()
    last = await open_another(keys=parse_keys(f"{ONE},{TWO}"))
    await last.processes.join(Process("proc_last", "test", (), True, True))
    store = await open_another(keys=BOTH)
    await rotate(store)
    await tell(last, clock)
    await last.processes.leave("proc_last")
    await last.close()
    await rotate(store)
    assert [(one.facts, one.is_in_use) for one in (await store.rotation.status()).keys][1:] == [
        (0, False)
    ]
    await store.close()
    assert len(await (await open_another(keys=SECOND)).journal.read(RUN)) == 2


async def test_a_key_that_was_retired_comes_back_as_no_newest(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    """A shell, say, in which the order is that of before."""
    await (await open_another(keys=FIRST)).close()
    store = await open_another(keys=BOTH)
    await rotate(store)
    assert [one.is_in_use for one in (await store.rotation.status()).keys] == [True, False]
    shell = await open_another(keys=parse_keys(f"{ONE},{TWO}"))
    await tell(shell, clock)
    await shell.close()
    assert [one.is_in_use for one in (await store.rotation.status()).keys] == [True, True]
    await rotate(store, "somebody else")
    keeping = await store.rotation.status()
    assert [(one.key_id, one.is_in_use) for one in keeping.keys] == [
        ("2026", True),
        ("2025", False),
    ]
    assert (keeping.keys[1].facts, keeping.is_rotating) == (0, False)


@pytest.mark.parametrize("late_with", [NO_KEYS, FIRST])
async def test_what_a_command_writes_too_late_is_brought_along(
    open_another: OpenAnother, clock: ManualClock, late_with: Keys
) -> None:
    """Nobody knows that it is there: it was opened before the newest key came, and writes when all is done."""
    await (await open_another(keys=late_with)).close()
    late = await open_another(keys=late_with)
    store = await open_another(keys=SECOND if late_with is NO_KEYS else BOTH)
    await tell(store, clock)
    await rotate(store)
    appended = stamps(clock, RunFinished(answer=SAID))
    for write in (
        lambda: tell(late, clock, "run_2"),
        lambda: late.journal.intend(RUN, appended, expected_seq=2),
        lambda: record_control(late, clock, turned("refunds", True)),
    ):
        await write()
        assert (await store.rotation.status()).is_rotating
        await rotate(store)
        under = await facts_under(store)
        assert under.pop("2026")
        assert not any(under.values())
    keeping = await store.rotation.status()
    assert [one.key_id for one in keeping.keys if one.is_in_use] == ["2026"]


async def test_what_a_holder_writes_too_late_is_brought_along(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    """A process that was frozen for so long that it counts as dead, and whose run nobody else could take: it knows
    what its last append has left, and reads nothing before the next one."""
    late = await open_another(keys=FIRST)
    await begin(late.journal, clock, RUN)
    (lease,) = await late.run_leases.claim("proc_late", timedelta(hours=1), 1)
    for call_id in ("call_1", "call_2"):
        await late.journal.record(RUN, stamps(clock, replied(call_id)), fence=lease.fence)
    store = await open_another(keys=BOTH)
    await rotate(store)
    assert [one.is_in_use for one in (await store.rotation.status()).keys] == [True, False]
    await late.journal.record(RUN, stamps(clock, replied("call_3")), fence=lease.fence)
    assert [one.is_in_use for one in (await store.rotation.status()).keys] == [True, True]
    await rotate(store, "somebody else")
    assert [(one.facts, one.is_in_use) for one in (await store.rotation.status()).keys][1:] == [
        (0, False)
    ]
