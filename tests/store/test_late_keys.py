"""What is written with an older key while all is brought under the newest, or behind it, is brought along."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.errors import StoreError
from agent.ports import Process
from agent.rules.events import RunFinished
from store.keys import parse_keys
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


async def test_an_order_that_somebody_forgot_to_change_makes_no_old_key_the_newest(
    open_another: OpenAnother, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """A shell, say, in which the order is that of before: it writes with the newest all the same, and says so."""
    await (await open_another(keys=FIRST)).close()
    store = await open_another(keys=BOTH)
    await rotate(store)
    assert [one.is_in_use for one in (await store.rotation.status()).keys] == [True, False]
    assert (await store.rotation.status()).in_front is None
    caplog.clear()
    shell = await open_another(keys=parse_keys(f"{ONE},{TWO}"))
    await tell(shell, clock)
    await shell.processes.join(Process("proc_shell", "test", (), True, True))
    keeping = await shell.rotation.status()
    assert keeping.in_front == "2025"
    assert [(one.key_id, one.facts, one.is_in_use) for one in keeping.keys] == [
        ("2026", keeping.keys[0].facts, True),
        ("2025", 0, False),
    ]
    assert not keeping.is_rotating
    assert [one.getMessage() for one in caplog.records] == [
        "PILOTHOUSE_ENCRYPTION_KEYS has the key 2025 in front, and the newest of the database is 2026, which whatever"
        " is written takes. Put 2026 in front"
    ]


async def test_who_has_the_old_key_in_front_keeps_it_from_being_retired_by_nothing(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    """One that is restarted with the order of before, while all is brought under the newest."""
    first = await open_another(keys=FIRST)
    await tell(first, clock)
    await first.close()
    store = await open_another(keys=BOTH)
    other = await open_another(keys=parse_keys(f"{ONE},{TWO}"))
    await other.processes.join(Process("proc_other", "test", (), True, True))
    await tell(other, clock, "run_2")
    await rotate(other)
    assert [one.is_in_use for one in (await store.rotation.status()).keys] == [True, False]


async def test_what_a_command_writes_too_late_is_brought_along(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    """Nobody knows that it is there: it was opened before the newest key came, and writes when all is done."""
    await (await open_another(keys=FIRST)).close()
    late = await open_another(keys=FIRST)
    store = await open_another(keys=BOTH)
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


async def test_what_a_command_without_a_key_writes_too_late_is_refused_and_never_in_the_clear(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    late = await open_another()
    await tell(late, clock)
    store = await open_another(keys=SECOND)
    await rotate(store)
    before = await facts_under(store)
    for write in (
        tell(late, clock, "run_2"),
        late.journal.intend(RUN, stamps(clock, RunFinished(answer=SAID)), expected_seq=2),
        record_control(late, clock, turned("refunds", True)),
    ):
        with pytest.raises(StoreError, match="without PILOTHOUSE_ENCRYPTION_KEYS, and by now"):
            await write
    assert await facts_under(store) == before
    assert before[None] == 0
    assert not (await store.rotation.status()).is_rotating


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
