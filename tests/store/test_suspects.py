"""Runs that are looked at because something of what stands beside their journals may be wrong."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Select
from sqlalchemy.dialects import sqlite

from agent.rules.events import RunFinished
from agent.rules.ids import ApprovalId, RunId
from agent.rules.interventions import (
    ApprovalAskedAgain,
    ApprovalExpired,
    RunCancelled,
    RunHeld,
    RunResumed,
)
from store import SqlStore
from store.lost_approvals import REST
from store.projections import ASKED_BEFORE, LISTED_IN_VAIN
from tests.store.clock import ManualClock
from tests.store.conftest import on_sqlite
from tests.store.database import ask
from tests.store.story import BOB, begin, replied, requested, stamps
from tests.store.test_projections import LITERAL, RUN, TERM, ask_people, state_of


class TestSuspects:
    async def suspects(self, store: SqlStore) -> list[str]:
        return [run_id async for run_id in store.projections.suspects()]

    @on_sqlite
    @pytest.mark.usefixtures("store")
    @pytest.mark.parametrize(
        ("statement", "index"),
        [(LISTED_IN_VAIN, "approvals_pending"), (ASKED_BEFORE, "approvals_of_before")],
    )
    def test_are_found_without_what_was_decided(
        self, url: str, statement: Select[Any], index: str
    ) -> None:
        compiled = statement.compile(dialect=sqlite.dialect(), compile_kwargs=LITERAL)
        steps = [row[-1] for row in ask(url, f"EXPLAIN QUERY PLAN {compiled}")]
        assert steps[0] == f"SCAN approvals USING INDEX {index}"
        assert not [step for step in steps[1:] if not step.startswith("SEARCH runs")]

    async def test_are_runs_that_wait_and_nothing_shows_for_what(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        for number in (1, 2, 3):
            await ask_people(store, clock, number)
        await begin(store.journal, clock, "run_due")
        held = await begin(store.journal, clock, "run_held")
        assert await store.run_leases.claim_one(held, "p", TERM, seen_seq=1)
        assert await self.suspects(store) == []
        ask(url, "DELETE FROM approvals WHERE approval_id = 'apr_2'")
        assert await self.suspects(store) == ["run_2"]

    async def test_are_no_runs_that_wait_until_somebody_asks_again(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        run_id, late = (await ask_people(store, clock)).run_id, ApprovalId("apr_1")
        clock.move(timedelta(days=1))
        expired = stamps(clock, ApprovalExpired(approval_id=late))
        await store.journal.intend(run_id, expired, expected_seq=3)
        ask(url, "UPDATE runs SET wake_at = NULL")
        assert await self.suspects(store) == []
        again = ApprovalAskedAgain(approval_id=late, by=BOB)
        newer = requested("apr_2", "call_1", supersedes="apr_1")
        await store.journal.intend(run_id, stamps(clock, again, newer), expected_seq=4)
        ask(url, "UPDATE runs SET wake_at = NULL")
        assert await self.suspects(store) == []
        ask(url, "UPDATE approvals SET status = 'approved' WHERE approval_id = 'apr_2'")
        assert await self.suspects(store) == [run_id], "what was asked since has been decided"

    async def test_are_no_runs_that_a_person_holds(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        """They may be many, and stay so for long: their journals are not read at each start of a bot."""
        run_id = await begin(store.journal, clock)
        held = stamps(clock, RunHeld(by=BOB))
        await store.journal.intend(run_id, held, expected_seq=1)
        ask(url, "UPDATE runs SET wake_at = NULL")
        assert await self.suspects(store) == []
        ask(url, "UPDATE runs SET is_held = false")
        assert await self.suspects(store) == [run_id]
        assert len(await store.projections.mend(await state_of(store, run_id))) == 1
        assert await self.suspects(store) == []
        resumed = stamps(clock, RunResumed(by=BOB))
        await store.journal.intend(run_id, resumed, expected_seq=2)
        ask(url, "UPDATE runs SET wake_at = NULL")
        assert await self.suspects(store) == [run_id]

    async def test_of_what_was_held_nothing_is_left_once_it_has_ended(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        run_id = await begin(store.journal, clock)
        ended = stamps(clock, RunHeld(by=BOB), RunCancelled())
        await store.journal.intend(run_id, ended, expected_seq=1)
        assert ask(url, "SELECT count(*) FROM runs WHERE is_held") == [(0,)]
        assert await store.projections.differences(await state_of(store, run_id)) == []

    async def test_that_have_ended_are_found_however_many_they_are(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        names = [f"run_{number:03}" for number in range(250)]
        for name in names:
            run_id = await begin(store.journal, clock, name)
            asked = stamps(clock, replied(f"call_{name}"), requested(f"apr_{name}", f"call_{name}"))
            await store.journal.intend(run_id, asked, expected_seq=1)
        ask(url, "UPDATE runs SET status = 'finished', wake_at = NULL")
        ask(
            url,
            "INSERT INTO approvals SELECT 'apr_more', run_id, call_id, kind, status,"
            " requested_at, expires_at, requester, stage, decided_by, decided_at FROM approvals"
            " WHERE run_id = 'run_199'",
        )
        # It is asked first of all and once more behind the first hundred; each run is named once.
        assert sorted(await self.suspects(store)) == names

    async def test_are_found_however_many_they_are(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        for number in range(250):
            await begin(store.journal, clock, f"run_{number:03}")
        ask(url, "UPDATE runs SET wake_at = NULL")
        assert await self.suspects(store) == [f"run_{number:03}" for number in range(250)]


class TestAnApprovalWhoseRowWasLost:
    async def test_is_found_by_the_journals_of_what_has_not_ended(
        self, store: SqlStore, clock: ManualClock, url: str
    ) -> None:
        for number in (1, 2):
            await ask_people(store, clock, number)
        ask(url, "DELETE FROM approvals")
        assert await store.projections.askers(ApprovalId("apr_2")) == [RunId("run_2")]
        events = stamps(clock, RunFinished(answer="done"))
        await store.journal.intend(RunId("run_2"), events, expected_seq=3)
        assert await store.projections.askers(ApprovalId("apr_2")) == []

    @pytest.mark.parametrize(
        "name", ["apr%1", "apr__", "apr/_1", "", '"', "\\", "%", "\0", "\ud800", "a" * 10_000]
    )
    async def test_is_found_by_its_name_alone(
        self, store: SqlStore, clock: ManualClock, name: str
    ) -> None:
        await ask_people(store, clock)
        assert await store.projections.askers(ApprovalId(name)) == []

    async def test_is_not_searched_for_at_once_after_what_never_was(
        self, store: SqlStore, clock: ManualClock
    ) -> None:
        await ask_people(store, clock)
        known, unknown = ApprovalId("apr_1"), ApprovalId("apr_0")
        assert await store.projections.askers(unknown) == []
        assert await store.projections.askers(known) == []
        clock.move(REST)
        for _ in range(2):
            assert await store.projections.askers(known) == [RUN]
        assert await store.projections.askers(unknown) == []
        clock.move(-timedelta(days=1))
        assert await store.projections.askers(known) == [RUN]
