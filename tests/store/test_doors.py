"""Whatever is handed to the store is kept and comes back as it was, or is refused before anything is
written: alike on every database."""

from __future__ import annotations

import asyncio
import random
import traceback
from datetime import timedelta

import pytest
from pydantic import JsonValue

from agent.errors import NotFound, StoreError, Unstorable
from agent.ports import Process, ThreadMessage
from agent.rules.control import PolicyLoaded, StampedControl
from agent.rules.events import CallReturned, Event, ModelReplied
from agent.rules.ids import ApprovalId, CallId, EventId, OperationId, Principal, RunId, SessionId
from agent.rules.json_text import depth_of
from agent.rules.recorded import Stamped
from store import SqlStore
from store.names import LONGEST
from tests.store.clock import ManualClock
from tests.store.database import ask
from tests.store.story import begin, replied, requested, returned, stamp, stamps, started

TERM = timedelta(seconds=30)
RUN = RunId("run_1")
WITH_NUL, TOO_LONG, TOO_MANY_BYTES = "a\0b", "x" * (LONGEST + 1), "ö" * (LONGEST // 2 + 1)


def nested(depth: int) -> JsonValue:
    value: JsonValue = "x"
    for _ in range(depth):
        value = [value]
    return value


def count(url: str) -> dict[str, int]:
    tables = ("runs", "journal", "approvals", "operations", "control_journal", "processes")
    return {table: ask(url, f"SELECT count(*) FROM {table}")[0][0] for table in tables}


@pytest.mark.parametrize(
    "value",
    [
        "\0",
        "a\0b\x01\x1f\x7f\u2028",
        "\U0001f4b8 ö \ufffd \ufeff \uffff",
        10**400,
        -(10**400),
        1e308,
        5e-324,
        0.1 + 0.2,
        "x" * 10_000_000,
        {"": {"\0": ["\\", '"', "]" * 1_000, "[" * 1_000]}},
        nested(250),
    ],
    ids=lambda value: str(value)[:12].encode("unicode_escape").decode() or "empty",
)
async def test_what_json_can_say_comes_back_as_it_was(
    store: SqlStore, clock: ManualClock, value: JsonValue
) -> None:
    run_id = await begin(store.journal, clock)
    event = CallReturned(call_id=CallId("call_1"), output=value)
    appended = await store.journal.intend(run_id, stamps(clock, event), expected_seq=1)
    (read,) = await store.journal.read(run_id, after=1)
    assert [read] == appended
    assert read.event == event
    assert (await store.verifier.check(run_id)).broken is None


@pytest.mark.parametrize(
    "event",
    [
        returned("call_1").model_copy(update={"output": float("nan")}),
        returned("call_1").model_copy(update={"output": [float("inf")]}),
        returned("call_1").model_copy(update={"output": 10**5_000}),
        returned("call_1").model_copy(update={"output": nested(400)}),
        returned("call_1").model_copy(update={"output": nested(100_000)}),
    ],
    ids=["nan", "infinity", "too many digits", "too deep", "far too deep"],
)
async def test_what_json_can_not_say_is_refused(
    store: SqlStore, clock: ManualClock, url: str, event: Event
) -> None:
    run_id = await begin(store.journal, clock)
    (lease,) = await store.run_leases.claim("p", TERM, 1)
    before = count(url)
    with pytest.raises(Unstorable):
        await store.journal.intend(run_id, stamps(clock, event), expected_seq=1)
    with pytest.raises(Unstorable):
        await store.journal.record(run_id, stamps(clock, replied(), event), fence=lease.fence)
    assert count(url) == before


async def test_half_a_surrogate_pair_becomes_a_replacement_character_for_everybody(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin(store.journal, clock)
    event = replied(text="half \ud83d, whole \U0001f600")
    (appended,) = await store.journal.intend(run_id, stamps(clock, event), expected_seq=1)
    (read,) = await store.journal.read(run_id, after=1)
    assert isinstance(read.event, ModelReplied)
    assert read.event.text == "half \ufffd, whole \U0001f600"
    assert appended == read


# Half a surrogate pair in an event has become a replacement character.
@pytest.mark.parametrize("name", [WITH_NUL, TOO_LONG, TOO_MANY_BYTES])
class TestAnEventWithANameThatCanNotBeLookedUp:
    async def test_begins_no_run(
        self, store: SqlStore, clock: ManualClock, url: str, name: str
    ) -> None:
        before = count(url)
        for field in ("agent", "session", "requester"):
            event = started().model_copy(update={field: name})
            with pytest.raises(Unstorable):
                await store.journal.start(RUN, stamp(clock, event))
        assert count(url) == before

    async def test_is_not_appended(
        self, store: SqlStore, clock: ManualClock, url: str, name: str
    ) -> None:
        run_id = await begin(store.journal, clock)
        call = replied("call_1").calls[0].model_copy(update={"operation_id": name})
        appends = [
            stamps(clock, replied("call_1"), requested(name, "call_1")),
            stamps(clock, replied("call_1"), requested("apr_1", name)),
            stamps(clock, replied().model_copy(update={"calls": (call,)})),
        ]
        before = count(url)
        for events in appends:
            with pytest.raises(Unstorable):
                await store.journal.intend(run_id, events, expected_seq=1)
        assert count(url) == before
        assert len(await store.journal.read(run_id)) == 1

    async def test_is_not_put_into_the_control_journal(
        self, store: SqlStore, clock: ManualClock, name: str
    ) -> None:
        event = PolicyLoaded(agent=name, policy_version="v", build="b")
        with pytest.raises(Unstorable):
            await store.control.record([StampedControl(EventId("evt_1"), clock.now(), event)])
        assert await store.control.read() == []


@pytest.mark.parametrize("name", [WITH_NUL, "half \ud83d", TOO_LONG, TOO_MANY_BYTES])
class TestANameThatCanNotBeLookedUp:
    async def test_is_given_to_no_run_and_to_no_fact(
        self, store: SqlStore, clock: ManualClock, url: str, name: str
    ) -> None:
        first = stamp(clock, started())
        nameless = Stamped(EventId(name), clock.now(), started())
        with pytest.raises(Unstorable):
            await store.journal.start(RunId(name), first)
        with pytest.raises(Unstorable):
            await store.journal.start(RUN, first, key=name)
        with pytest.raises(Unstorable):
            await store.journal.start(RUN, nameless)
        event = PolicyLoaded(agent="a", policy_version="v", build="b")
        with pytest.raises(Unstorable):
            await store.control.record([StampedControl(EventId(name), clock.now(), event)])
        assert set(count(url).values()) == {0}

    async def test_is_given_to_no_message(
        self, store: SqlStore, clock: ManualClock, url: str, name: str
    ) -> None:
        await begin(store.journal, clock, place="C1")
        (lease,) = await store.thread_leases.claim("p", TERM, 1)
        for key, address in ((name, "C1/1"), ("status", name)):
            message = ThreadMessage(key, "posted", address, "d", clock.now())
            with pytest.raises(Unstorable):
                await store.threads.save(lease, message)
        assert (await store.threads.known(RUN)).messages == {}

    async def test_is_given_to_no_process(self, store: SqlStore, url: str, name: str) -> None:
        with pytest.raises(Unstorable):
            await store.processes.join(Process("p", name, ("refunds",), True, True))
        with pytest.raises(Unstorable):
            await store.run_leases.claim(name, TERM, 1)
        assert count(url)["processes"] == 0

    async def test_is_found_nowhere(self, store: SqlStore, clock: ManualClock, name: str) -> None:
        await begin(store.journal, clock)
        assert await store.lists.run(RunId(name)) is None
        assert await store.lists.active_run(SessionId(name)) is None
        assert await store.lists.approval(ApprovalId(name)) is None
        assert await store.lists.run_of_operation(OperationId(name)) is None
        assert await store.lists.runs(limit=9, requester=Principal(name)) == []
        assert await store.threads.run_at(name) is None
        assert await store.control.newest_policy(name) is None
        for find in (store.journal.read, store.verifier.check):
            with pytest.raises(NotFound):
                await find(RunId(name))
        with pytest.raises((NotFound, Unstorable)):
            await store.journal.intend(RunId(name), stamps(clock, replied()), expected_seq=1)

    async def test_harms_nothing_that_is_committed_together_with_it(
        self, store: SqlStore, clock: ManualClock, name: str
    ) -> None:
        outcomes = await asyncio.gather(
            *(begin(store.journal, clock, one) for one in ("run_1", name, "run_2")),
            return_exceptions=True,
        )
        assert outcomes[::2] == ["run_1", "run_2"]
        assert isinstance(outcomes[1], Unstorable)


async def test_the_longest_name_has_room_everywhere(store: SqlStore, clock: ManualClock) -> None:
    """Of random characters: they can't be pressed together."""
    letters = random.Random(1)
    longest = "".join(letters.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=LONGEST))
    first = started(longest, agent=longest, requester=longest[::-1], place="C1")
    await store.journal.start(RunId(longest), stamp(clock, first), key=longest)
    lease = await store.thread_leases.claim_one(RunId(longest), "p", TERM, seen_seq=1)
    assert lease is not None
    message = ThreadMessage(longest, "posted", longest, "d", clock.now())
    await store.threads.save(lease, message)
    known = await store.threads.known(RunId(longest))
    assert known.messages == {longest: message}
    assert await store.threads.run_at(longest) == longest
    found = await store.lists.runs(limit=9, requester=Principal(longest[::-1]))
    assert [row.run_id for row in found] == [longest]


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("1", 0),
        ("[" * 200 + "]" * 200, 200),
        ("[" + "[]," * 200 + "[]]", 2),
        ('["' + "[" * 500 + '"]', 1),
        ('["' + '\\"[' * 500 + '\\\\"]', 1),
        ('{"a":' * 150 + "1" + "}" * 150, 150),
    ],
)
def test_brackets_in_words_are_none(text: str, depth: int) -> None:
    assert depth_of(text) == depth


@pytest.mark.parametrize("limit", [2**31, 2**63, 2**70])
async def test_any_number_is_enough_for_all(
    store: SqlStore, clock: ManualClock, limit: int
) -> None:
    run_id = await begin(store.journal, clock)
    assert len(await store.lists.runs(limit=limit)) == 1
    assert await store.lists.runs(limit=-limit) == []
    assert await store.lists.approvals(limit=limit) == []
    assert await store.control.read(limit=limit) == []
    assert await store.control.grants(limit=limit) == []
    assert await store.control.switches(limit=limit) == []
    assert await store.run_leases.claim("p1", TERM, -limit) == []
    assert len(await store.run_leases.claim("p1", TERM, limit)) == 1
    for after in (limit, -limit):
        assert len(await store.journal.read(run_id, after)) == (after < 0)
        assert await store.control.read(after) == []


@pytest.mark.parametrize("number", [2**63, -(2**70)])
async def test_a_number_that_no_row_has_is_refused_alike(
    store: SqlStore, clock: ManualClock, number: int
) -> None:
    run_id = await begin(store.journal, clock)
    with pytest.raises(StoreError):
        await store.run_leases.claim_one(run_id, "p1", TERM, seen_seq=number)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    with pytest.raises(StoreError):
        await store.run_leases.suspend(lease, seen_seq=number, until=None)
    with pytest.raises(StoreError):
        await store.run_leases.claim("p1", timedelta.max, 1)
    assert len(await store.journal.read(run_id)) == 1


async def test_what_no_database_was_asked_to_take_is_not_told(
    store: SqlStore, clock: ManualClock
) -> None:
    run_id = await begin(store.journal, clock)
    (lease,) = await store.run_leases.claim("p1", TERM, 1)
    naive = clock.now().replace(tzinfo=None)
    with pytest.raises(StoreError) as refused:
        await store.run_leases.suspend(lease, seen_seq=1, until=naive)
    told = "".join(traceback.format_exception(refused.value))
    assert "UPDATE" not in told
    assert run_id not in told
