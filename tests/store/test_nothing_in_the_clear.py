"""Of a store with keys nothing that a person typed, a model said or a tool returned stands in the clear, anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import String

from agent.rules.control import ControlEvent, DecisionRefused
from agent.rules.ids import ApprovalId, RunId
from agent.rules.recorded import Recorded, Stamped, dump_event
from store.keys import parse_keys
from store.names import Name
from store.schema import metadata
from tests.agent.rules.golden import JOURNALS, read_golden
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother, on_sqlite
from tests.store.story import BOB
from tests.store.test_encryption import ONE, on_disk
from tests.store.test_standing import given, revoked, turned
from tests.store.test_standing import tell as record_control

GOLDEN = sorted(path.stem for path in JOURNALS.glob("*.jsonl"))
ENCRYPTED = {"journal.body", "control_journal.body"}
#: Every other column of text, as ``docs/store.md`` says it: no words of anybody's, but names, ids and what is derived.
IN_THE_CLEAR = {
    "ids": (
        "runs.run_id runs.session journal.run_id journal.event_id tombstones.run_id buried_approvals.approval_id"
        " buried_approvals.run_id operations.operation_id operations.run_id control_journal.event_id"
        " control_journal.gives control_journal.revokes grants.grant_id grants.scope reservations.run_id"
        " reservations.call_id approvals.approval_id approvals.run_id approvals.call_id awaited.approval_id"
        " threads.run_id thread_messages.run_id openings.run_id keys.key_id rewriting.key_id rewriting.journal"
    ),
    "the key of a start": "runs.key",
    "people, by Slack's ids": (
        "runs.requester approvals.requester approvals.decided_by awaited.kind awaited.name"
    ),
    "places, by Slack's ids": (
        "thread_messages.key thread_messages.address openings.place allowances.allowance_key"
    ),
    "names of agents, tools, switches, limits and processes": (
        "runs.agent control_journal.policy_of control_journal.turns grants.agent switches.switch runs.halted_by"
        " limits.limit_key reservations.limit_key processes.process_id processes.build processes.agents"
        " processes.tools processes.schema processes.held_keys runs.holder threads.holder rewriting.holder"
        " schema_floor.must_know"
    ),
    "how far something is": (
        "runs.status approvals.kind approvals.status reservations.status thread_messages.status keys.kind"
        " rewriting.kind"
    ),
    "amounts": "limits.used reservations.amount",
    "hashes and proofs": (
        "runs.head_hash runs.mark journal.hash tombstones.head_hash control_journal.hash control_head.head_hash"
        " thread_messages.digest keys.proof"
    ),
    "why Slack did not take a message": "threads.trouble",
}


def test_every_column_of_text_is_encrypted_or_said_to_be_in_the_clear() -> None:
    """Whoever adds one says here, and in the manual, what stands in it."""
    columns = [
        f"{table.name}.{column.name}"
        for table in metadata.tables.values()
        for column in table.columns
        if isinstance(column.type, (String, Name))
    ]
    said = [name for names in IN_THE_CLEAR.values() for name in names.split()]
    assert sorted([*said, *ENCRYPTED]) == sorted(columns)


def words_in(value: object) -> Iterator[str]:
    """What is no name, no id and no time."""
    match value:
        case str() if " " in value or '"' in value:
            yield value
        case dict():
            for one in value.values():
                yield from words_in(one)
        case list():
            for one in value:
                yield from words_in(one)
        case _:
            pass


def words_of(facts: list[Recorded]) -> set[str]:
    return {word for fact in facts for word in words_in(dump_event(fact.event))}


@on_sqlite
@pytest.mark.parametrize("name", GOLDEN)
async def test_nothing_of_what_is_said_in_a_run_stands_in_its_file(
    open_another: OpenAnother, clock: ManualClock, url: str, name: str
) -> None:
    """Every kind of event stands in one of these, with all that follows from it elsewhere in the tables."""
    facts = read_golden(name)
    clock.move(facts[0].at - clock.now())
    store = await open_another(keys=parse_keys(ONE))
    stamped = [Stamped(one.id, one.at, one.event) for one in facts]
    run_id = facts[0].run_id
    await store.journal.start(run_id, stamped[0])
    for seq, one in enumerate(stamped[1:], 1):
        if one.at > clock.now():
            clock.move(one.at - clock.now())
        await store.journal.intend(run_id, [one], expected_seq=seq)
    words = words_of(facts)
    assert words
    assert words == words_of(await store.journal.read(run_id))
    kept = on_disk(url)
    assert run_id.encode() in kept
    assert [one for one in words if one.encode() in kept] == []


@on_sqlite
async def test_nothing_of_what_is_said_beside_runs_stands_in_its_file(
    open_another: OpenAnother, clock: ManualClock, url: str
) -> None:
    store = await open_another(keys=parse_keys(ONE))
    secret = "what bob typed"
    said: list[ControlEvent] = [
        DecisionRefused(
            run_id=RunId("run_1"),
            approval_id=ApprovalId("apr_1"),
            action="deny",
            by=BOB,
            code="not_allowed",
            message=secret,
        ),
        given("grt_1").model_copy(update={"reason": secret, "where": {"customer": secret}}),
        revoked("grt_1").model_copy(update={"reason": secret}),
        turned("refunds", True).model_copy(update={"reason": secret}),
    ]
    clock.move(timedelta(seconds=1))
    await record_control(store, clock, *said)
    assert secret in str(await store.control.read())
    kept = on_disk(url)
    assert b"refunds" in kept
    assert secret.encode() not in kept
