"""What a thief of the disk finds, and what becomes of a store whose keys change or are missing."""

from __future__ import annotations

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE
from base64 import b64encode
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from agent.errors import ConfigError, CorruptJournal, SchemaRefused
from agent.ports import Process
from agent.rules.anchors import Head
from agent.rules.control import KeyChanged
from agent.rules.ids import ApprovalId, RunId
from store import SqlStore, checking
from store.keys import NO_KEYS, new_key, parse_keys
from store.rotating import TERM
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_sqlite
from tests.store.database import ask, path_of
from tests.store.story import begin, replied, requested, stamp, stamps, started

ONE, TWO = (f"{id}:{b64encode(sha256(id.encode()).digest()).decode()}" for id in ("2025", "2026"))
FIRST, BOTH, SECOND = parse_keys(ONE), parse_keys(f"{TWO},{ONE}"), parse_keys(TWO)
RUN = RunId("run_1")
SAID = "what alice said"


async def tell(store: SqlStore, clock: ManualClock, run_id: str = "run_1", facts: int = 2) -> None:
    events = stamps(clock, *(replied(text=f"{SAID} {n}") for n in range(facts - 1)))
    await store.journal.start(RunId(run_id), stamp(clock, started(f"s_{run_id}")), behind=events)


async def rotate(store: SqlStore, name: str = "me") -> int:
    parts = 0
    while await store.rotation.go_on(name):
        parts += 1
    return parts


def on_disk(url: str) -> bytes:
    """All that a file and what stands beside it hold."""
    path = Path(path_of(url))
    return b"".join(one.read_bytes() for one in path.parent.glob(f"{path.name}*") if one.is_file())


async def heads(store: SqlStore) -> list[Head]:
    """Of all journals, each of which is whole."""
    checked = [await store.verifier.check(run_id) async for run_id in store.verifier.runs()]
    checked.append(await store.verifier.check_control())
    assert [one.broken for one in checked] == [None] * len(checked)
    return [one.head for one in checked]


def everything(url: str) -> list[object]:
    return [ask(url, f"SELECT * FROM {table}") for table in ("journal", "control_journal", "keys")]


async def facts_under(store: SqlStore) -> dict[str | None, int]:
    keeping = await store.rotation.status()
    return {None: keeping.clear, **{one.key_id: one.facts for one in keeping.keys}}


@on_sqlite
async def test_a_file_holds_nothing_of_what_was_said(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    store = await open_another(keys=FIRST)
    await tell(store, clock)
    kept = on_disk(url)
    assert b"run_1" in kept
    for payload in (SAID, "ORD-3300", "run_started"):
        assert payload.encode() not in kept


async def test_who_comes_behind_one_that_is_done_waits_for_nobody(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    store = await open_another(keys=FIRST)
    await rotate(store, "one")
    await store.close()
    # Taken into use once more, so that it is gone through again.
    store = await open_another(keys=parse_keys(ONE, new_key()))
    assert (await store.rotation.status()).is_rotating
    await rotate(store, "two")
    assert not (await store.rotation.status()).is_rotating


@on_sqlite
async def test_what_was_in_the_clear_is_wiped_from_the_file(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    store = await open_another()
    await tell(store, clock, facts=300)
    await store.close()
    assert SAID.encode() in on_disk(url)
    store = await open_another(keys=FIRST)
    await rotate(store)
    await store.close()
    assert SAID.encode() not in on_disk(url)


async def test_clear_facts_are_read_and_encrypted_while_others_append(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    store = await open_another()
    await tell(store, clock, facts=3)
    await store.close()
    store = await open_another(keys=FIRST)
    before = await store.journal.read(RUN)
    assert await facts_under(store) == {None: 3, "2025": 1}
    await store.journal.intend(RUN, stamps(clock, replied()), expected_seq=3)
    await rotate(store)
    assert await facts_under(store) == {None: 0, "2025": 5}
    assert (await store.journal.read(RUN))[:3] == before
    assert await checking.differences(store) == []


async def test_a_rotation_changes_no_chain_and_ends_with_the_old_key_out_of_use(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    store = await open_another(keys=FIRST)
    for run_id in ("run_1", "run_2"):
        await tell(store, clock, run_id, facts=250)
    before = await heads(store)
    await store.close()

    store = await open_another(keys=BOTH)
    assert await facts_under(store) == {None: 0, "2026": 1, "2025": 501}
    assert (await store.rotation.status()).is_rotating
    await rotate(store)
    assert await facts_under(store) == {None: 0, "2026": 503, "2025": 0}
    assert (await heads(store))[:2] == before[:2]
    said = [one.event for one in await store.control.read()]
    assert said == [
        KeyChanged(change="in_use", key_id="2025"),
        KeyChanged(change="in_use", key_id="2026"),
        KeyChanged(change="retired", key_id="2025"),
    ]
    await store.close()

    store = await open_another(keys=SECOND)
    assert (await heads(store))[:2] == before[:2]
    assert await rotate(store) == 0


@pytest.mark.parametrize(
    ("held", "why"),
    [
        (NO_KEYS, "PILOTHOUSE_ENCRYPTION_KEYS is not set, and lacks the key 2025"),
        (SECOND, "PILOTHOUSE_ENCRYPTION_KEYS does not hold the key 2025"),
        (parse_keys(f"2025:{new_key()}"), "another key by the id 2025"),
        (parse_keys(f"{TWO},2025:{new_key()}"), "another key by the id 2025"),
    ],
)
async def test_without_the_key_nothing_is_opened_and_nothing_written(
    open_another: OpenAnother, clock: ManualClock, url: str, held: object, why: str
) -> None:
    store = await open_another(keys=FIRST)
    await tell(store, clock)
    await store.close()
    before = everything(url)
    with pytest.raises(ConfigError, match=why) as refused:
        await open_another(keys=held)
    assert "\n" not in str(refused.value)
    assert everything(url) == before


async def test_a_key_that_nobody_needs_any_more_keeps_its_id(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    """Else what a backup holds under it could not be told from what is under the new one."""
    store = await open_another(keys=FIRST)
    await store.close()
    store = await open_another(keys=BOTH)
    await rotate(store)
    await store.close()
    with pytest.raises(ConfigError, match="another key by the id 2025"):
        await open_another(keys=parse_keys(f"2025:{new_key()},{TWO}"))


async def test_who_comes_back_with_an_older_key_in_front_takes_nothing_back(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    """A deployment that is rolled back, say: both go on, and the newest of the two stays the newest."""
    store = await open_another(keys=BOTH)
    older = await open_another(keys=parse_keys(f"{ONE},{TWO}"))
    # The older one came second: now it is the newest.
    await tell(older, clock)
    await tell(store, clock, "run_2")
    assert await rotate(store) == 0
    await rotate(older)
    under = await facts_under(older)
    assert (under[None], under["2026"]) == (0, 0)
    assert len(await store.journal.read(RUN)) == 2


async def test_a_new_key_waits_until_every_living_process_has_it(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    store = await open_another(keys=FIRST)
    await store.processes.join(Process("proc_old", "test", (), True, True))
    before = everything(url)
    refused = r"The key 2026 was not taken into use.*proc_old.*then all with it in front\.$"
    with pytest.raises(SchemaRefused, match=refused):
        await open_another(keys=BOTH)
    assert everything(url) == before
    # Behind the key that they have, anybody may bring it.
    await (await open_another(keys=parse_keys(f"{ONE},{TWO}"))).close()
    await store.processes.leave("proc_old")
    await open_another(keys=BOTH)


async def test_the_first_key_can_be_put_behind_no_other(open_another: OpenAnother) -> None:
    store = await open_another()
    await store.processes.join(Process("proc_old", "test", (), True, True))
    with pytest.raises(
        SchemaRefused, match=r"proc_old.*Stop them first, then start all with it\.$"
    ):
        await open_another(keys=FIRST)


async def test_builds_that_know_no_keys_are_kept_away_from_the_first_key_on(
    open_another: OpenAnother, url: str
) -> None:
    # How long a process has been silent goes by the database's own clock.
    store = await open_another(clock=None)
    await store.processes.join(Process("proc_old", "old", (), True, True))
    ask(url, "UPDATE processes SET schema = '0008', held_keys = NULL")
    assert ask(url, "SELECT must_know FROM schema_floor") == [("0001",)]
    before = everything(url)
    with pytest.raises(SchemaRefused, match=r"builds before step 0010 could not read.*proc_old"):
        await open_another(clock=None, keys=FIRST)
    assert everything(url) == before
    await store.processes.leave("proc_old")
    await open_another(clock=None, keys=FIRST)
    assert ask(url, "SELECT must_know FROM schema_floor") == [("0010",)]


async def test_the_old_key_stays_in_use_while_a_living_process_writes_with_it(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    behind = await open_another(keys=parse_keys(f"{ONE},{TWO}"))
    await behind.processes.join(Process("proc_old", "test", (), True, True))
    store = await open_another(keys=BOTH)
    await rotate(store)
    assert [one.is_in_use for one in (await store.rotation.status()).keys] == [True, True]
    await behind.processes.leave("proc_old")
    await rotate(store)
    assert [one.is_in_use for one in (await store.rotation.status()).keys] == [True, False]


async def test_a_changed_and_a_moved_fact_are_named(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    store = await open_another(keys=FIRST)
    for run_id in ("run_1", "run_2"):
        await tell(store, clock, run_id, facts=4)
    ask(
        url,
        "UPDATE journal SET body = substr(body, 1, length(body) - 4) || 'AAAA' WHERE run_id = 'run_1' AND seq = 3",
    )
    ask(
        url,
        "UPDATE journal SET body = (SELECT body FROM journal WHERE run_id = 'run_1' AND seq = 2)"
        " WHERE run_id = 'run_2' AND seq = 2",
    )
    for run_id, seq in (("run_1", 3), ("run_2", 2)):
        broken = (await store.verifier.check(RunId(run_id))).broken
        assert broken is not None
        assert (broken.seq, broken.why) == (seq, "it is not what was written")
        with pytest.raises(CorruptJournal, match=f"at {seq}"):
            await store.journal.read(RunId(run_id))


async def test_what_cant_be_read_is_left_as_it_is(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    store = await open_another(keys=FIRST)
    await tell(store, clock, facts=3)
    ask(url, "UPDATE journal SET body = 'sealed:2025:AAAA' WHERE seq = 2")
    await store.close()
    store = await open_another(keys=BOTH)
    await rotate(store)
    assert ask(url, "SELECT body FROM journal WHERE seq = 2") == [("sealed:2025:AAAA",)]
    assert (await facts_under(store))["2025"] == 1


async def test_several_that_rotate_at_once_do_each_part_once(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    store = await open_another(keys=FIRST)
    await tell(store, clock, facts=900)
    before = await heads(store)
    await store.close()
    stores = [await open_another(keys=BOTH) for _ in range(3)]

    async def insist(n: int) -> int:
        parts = 0
        while (await stores[n].rotation.status()).keys[1].is_in_use:
            parts += await stores[n].rotation.go_on(f"p{n}")
        return parts

    # Five parts of the run and one of the control journal, the same again, which finds nothing to rewrite, and the
    # old key's end.
    assert sum(await asyncio.gather(*map(insist, range(3)))) == 13
    said = [one.event for one in await stores[0].control.read()]
    assert said.count(KeyChanged(change="retired", key_id="2025")) == 1
    assert (await heads(stores[0]))[0] == before[0]


async def test_one_who_was_killed_is_waited_for_no_longer_than_its_lease(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    store = await open_another(keys=FIRST)
    ask(
        url,
        "UPDATE rewriting SET holder = 'dead', lease_expires_at = ?",
        int((clock.now() + TERM).timestamp() * 1_000_000),
    )
    assert await rotate(store) == 0
    clock.move(TERM)
    assert await rotate(store) > 0
    assert not (await store.rotation.status()).is_rotating


@on_sqlite
async def test_a_rotation_that_is_killed_goes_on_where_it_was(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    store = await open_another(keys=FIRST)
    for n in range(1, 11):
        await tell(store, clock, f"run_{n}", facts=500)
    before = await heads(store)
    await store.close()
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.store.child", "rotate", url, "p1", f"{TWO},{ONE}"),
        stdout=PIPE,
    )
    assert child.stdout is not None
    for _ in range(4):
        assert await child.stdout.readline() == b"did\n"
    child.send_signal(signal.SIGKILL)
    await child.wait()
    # It went by the host's clock.
    clock.move(timedelta(days=3650))
    store = await open_another(keys=BOTH)
    under = await facts_under(store)
    assert 0 < under["2025"] < 5000
    await rotate(store)
    assert (await facts_under(store))["2025"] == 0
    assert (await heads(store))[:10] == before[:10]


async def test_an_approval_whose_row_was_lost_is_found_in_encrypted_journals(
    open_another: OpenAnother, clock: ManualClock
) -> None:
    store = await open_another(keys=FIRST)
    for n in (1, 2):
        run_id = await begin(store.journal, clock, f"run_{n}")
        events = stamps(clock, replied(f"call_{n}"), requested(f"apr_{n}", f"call_{n}"))
        await store.journal.intend(run_id, events, expected_seq=1)
    assert await store.projections.askers(ApprovalId("apr_2")) == [RunId("run_2")]
    assert await store.projections.askers(ApprovalId("apr_3")) == []
