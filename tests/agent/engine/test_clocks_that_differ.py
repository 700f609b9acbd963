"""A process that takes the time for another than the database does, which judges."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from agent import Agent, Approve, Runtime, ScriptedModel, Toolbox, tool
from agent.appending import Appending, Wanted
from agent.errors import ApprovalExpired
from agent.rules.events import Event
from agent.rules.ids import ApprovalId, EventId
from agent.rules.parts import Patience
from agent.rules.recorded import Stamped
from agent.rules.rule import People
from agent.rules.silence import mark, whats_due
from agent.rules.state import Approval, RunState
from store import SqlStore, open_store
from store.clock import DatabaseClock
from tests.agent.engine.bench import ALICE, OPERATOR, calls
from tests.agent.engine.patient import PatientPolicy
from tests.store.conftest import on_postgres
from tests.store.story import begin, replied, requested, stamps

pytestmark = [on_postgres, pytest.mark.usefixtures("kind")]

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@tool(approval=True)
def pay() -> str:
    """Pay."""
    return "paid"


@pytest.fixture
async def store(url: str) -> AsyncIterator[SqlStore]:
    """By the database's clock."""
    store = await open_store(url)
    yield store
    await store.close()


def put_off(store: SqlStore, by: timedelta) -> None:
    """From now on this process takes it for so much later."""
    assert isinstance(store.clock, DatabaseClock)
    assert store.clock._at_zero is not None
    store.clock._at_zero += by


async def ask(store: SqlStore) -> tuple[Runtime, Approval]:
    """A question that waits for an hour."""
    policy = PatientPolicy(
        owners=People(users=("U0BOB",)), patience=Patience(expires=HOUR, on_expiry="wait")
    )
    model = ScriptedModel([calls(("pay", "{}"))])
    runtime = Runtime([Agent("tester", model, Toolbox([pay]), policy)], store)
    run_id = await runtime.start("go", requester=ALICE, wait=True)
    return runtime, (await runtime.state(run_id)).open_approvals[0]


async def test_a_decision_that_is_late_by_the_stores_clock_is_told_so(store: SqlStore) -> None:
    run_id, expired_at = await begin(store.journal, store.clock), store.clock.now() - HOUR
    asked = requested("apr_1", "call_1", expires_at=expired_at)
    events = stamps(store.clock, replied("call_1"), asked)
    await store.journal.intend(run_id, events, expected_seq=1)
    runtime = Runtime([Agent("refunds", ScriptedModel([]), Toolbox())], store)
    put_off(store, -DAY)
    with pytest.raises(ApprovalExpired) as refused:
        await runtime.decide(ApprovalId("apr_1"), Approve(), OPERATOR)
    assert refused.value.expires_at == expired_at
    assert (await runtime.state(run_id)).seq == 3


async def test_a_wish_that_is_too_early_by_the_stores_clock_is_made_anew(store: SqlStore) -> None:
    runtime, asked = await ask(store)
    put_off(store, DAY)

    async def wish(state: RunState) -> Wanted:
        now = store.clock.now()
        return Wanted(tuple(mark(state, whats_due(state, now))))

    def stamp(event: Event) -> Stamped:
        return Stamped(EventId("evt_expired"), store.clock.now(), event)

    (_, state) = await runtime.approval(asked.id)
    taken = await Appending(store, stamp).take(state.run_id, wish)
    assert taken.after == taken.before


async def test_a_run_that_is_let_go_until_a_time_that_has_come_tells_its_process_the_time(
    store: SqlStore,
) -> None:
    """It would be claimed at once, and let go again, until the process's clock had come as far."""
    await begin(store.journal, store.clock)
    before = store.clock.now()
    (lease,) = await store.run_leases.claim("p1", HOUR, 1)
    put_off(store, -DAY)
    until = store.clock.now() + HOUR
    assert await store.run_leases.suspend(lease, seen_seq=1, until=until)
    # Measured anew: right again but for half the way to the server, where it had been a day behind.
    assert store.clock.now() > before - HOUR
