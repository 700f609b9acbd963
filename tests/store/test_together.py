"""What is appended together is there whole, or not at all."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.errors import SeqConflict, SessionBusy
from agent.rules.control import StampedControl
from agent.rules.events import RunFinished
from agent.rules.fold import fold
from agent.rules.ids import EventId, RunId, SessionId
from agent.rules.interventions import MessageReceived
from store import SqlStore
from tests.store.clock import ManualClock
from tests.store.conftest import OpenAnother
from tests.store.database import ask
from tests.store.story import BOB, begin, decided, replied, requested, stamp, stamps, started
from tests.store.test_standing import given

RUN = RunId("run_1")
TERM = timedelta(seconds=30)
SAID = MessageReceived(by=BOB, text="only 90")


def consent(clock: ManualClock) -> StampedControl:
    return StampedControl(EventId("evt_consent"), clock.now(), given("grt_1", run_id=RUN))


async def ask_people(store: SqlStore, clock: ManualClock) -> None:
    await begin(store.journal, clock)
    asked = stamps(clock, replied("call_1"), requested("apr_1", "call_1"))
    await store.journal.intend(RUN, asked, expected_seq=1)


class TestAStartAndWhatStandsBehindIt:
    async def test_are_one_history_and_due(self, store: SqlStore, clock: ManualClock) -> None:
        first, *behind = stamps(clock, started(), SAID, replied("call_1"))
        assert await store.journal.start(RUN, first, key="k", behind=behind) == RUN
        read = await store.journal.read(RUN)
        assert [(one.seq, one.id) for one in read] == [
            (seq, one.id) for seq, one in enumerate((first, *behind), 1)
        ]
        assert (await store.verifier.check(RUN)).broken is None
        (lease,) = await store.run_leases.claim("p", TERM, 9)
        assert lease.run_id == RUN

    async def test_lead_to_what_they_hold_and_say_which_build_can_read_it(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        first, *behind = stamps(clock, started(), replied("call_1"))
        await store.journal.start(RUN, first, behind=behind)
        assert ask(url, "SELECT operation_id, run_id FROM operations") == [("op_call_1", RUN)]
        assert ask(url, "SELECT format FROM runs") == [(1,)]
        other = stamp(clock, started("s_2"))
        await store.journal.start(RunId("run_2"), other, behind=stamps(clock, SAID))
        assert ask(url, "SELECT format FROM runs WHERE run_id = 'run_2'") == [(3,)]

    async def test_are_all_to_be_shown_and_leave_nothing_to_mend(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        first, *behind = stamps(clock, started(place="C1:1.2"), SAID)
        await store.journal.start(RUN, first, behind=behind)
        assert ask(url, "SELECT wanted_seq, shown_seq FROM threads") == [(2, 0)]
        state = fold(await store.journal.read(RUN))
        assert await store.projections.differences(state) == []

    async def test_that_come_twice_are_there_once(
        self, store: SqlStore, open_another: OpenAnother, clock: ManualClock
    ) -> None:
        for opened in (store, await open_another()):
            first, *behind = stamps(clock, started(), SAID)
            assert await opened.journal.start(RUN, first, key="k", behind=behind) == RUN
        assert len(await store.journal.read(RUN)) == 2

    async def test_are_both_not_there_where_the_session_is_busy(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        await begin(store.journal, clock, session="s_1")
        first, *behind = stamps(clock, started("s_1"), SAID)
        with pytest.raises(SessionBusy):
            await store.journal.start(RunId("run_2"), first, behind=behind)
        assert ask(url, "SELECT count(*) FROM journal") == [(1,)]


class TestADecisionAndAConsentThatIsGivenWithIt:
    async def test_are_both_there(self, store: SqlStore, clock: ManualClock) -> None:
        await ask_people(store, clock)
        yes, grant = stamps(clock, decided("apr_1")), consent(clock)
        await store.journal.intend(RUN, yes, expected_seq=3, control=[grant])
        (found,) = await store.control.grants_in_force("refunds", RUN, SessionId("s_run_1"))
        assert found.id == "grt_1"
        assert (await store.verifier.check_control()).broken is None

    async def test_are_both_not_there_where_somebody_was_faster(
        self, store: SqlStore, clock: ManualClock
    ) -> None:
        await ask_people(store, clock)
        await store.journal.intend(RUN, stamps(clock, decided("apr_1", "deny")), expected_seq=3)
        for seen in (3, 4):
            yes = stamps(clock, decided("apr_1"))
            with pytest.raises(SeqConflict):
                await store.journal.intend(RUN, yes, expected_seq=seen, control=[consent(clock)])
        assert await store.control.read() == []
        assert len(await store.journal.read(RUN)) == 4

    async def test_that_are_tried_again_are_there_once(
        self, store: SqlStore, clock: ManualClock
    ) -> None:
        await ask_people(store, clock)
        yes, grant = stamps(clock, decided("apr_1")), consent(clock)
        for _ in range(2):
            await store.journal.intend(RUN, yes, expected_seq=3, control=[grant])
        assert len(await store.control.read()) == 1
        assert len(await store.journal.read(RUN)) == 4


async def test_a_key_leads_to_its_run_also_after_its_end(
    store: SqlStore, clock: ManualClock
) -> None:
    await store.journal.start(RUN, stamp(clock, started()), key="k")
    await begin(store.journal, clock, "run_2")
    assert await store.lists.run_of_key("k") == RUN
    assert await store.lists.run_of_key("K") is None
    await store.journal.intend(RUN, stamps(clock, RunFinished(answer="done")), expected_seq=1)
    assert await store.lists.run_of_key("k") == RUN
