"""For whom questions wait: what each fact writes of it is what the fold of the journal says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields

from hypothesis import given, settings
from sqlalchemy import Connection, create_engine, insert, select

from agent.rules.events import RunStarted
from agent.rules.fold import apply
from agent.rules.recorded import Recorded
from agent.rules.state import RunState
from store import awaited
from store.appends import project, rests_on
from store.approval_repairs import KeptApproval, of_approvals
from store.repair import Repair
from store.schema import FORMAT, approvals, metadata, runs
from tests.agent.rules.histories import History
from tests.agent.rules.legal_histories import legal_histories
from tests.agent.rules.legally import legally
from tests.examples import examples

COLUMNS = [one.name for one in fields(KeptApproval)]
#: In memory, and undone after each: only statements that are alike everywhere are looked at.
ENGINE = create_engine("sqlite://")
metadata.create_all(ENGINE)


@settings(legally, max_examples=examples(25))
@given(legal_histories())
def test_whatever_happens_the_rows_say_for_whom_a_question_waits(history: History) -> None:
    with ENGINE.connect() as connection:
        _begin(connection, history.recorded[0])
        state: RunState | None = None
        for one in history.recorded:
            state = apply(state, one)
            if rests_on(one.event) is None:  # Whether a grant stands is told elsewhere.
                project(connection, [one], one.at)
            if one.event.kind == "run_reopened":
                # What waits again only the journal knows.
                for repair in _found(connection, state):
                    repair.do(connection)
            assert [repair.words for repair in _found(connection, state)] == [], one.event.kind


def _begin(connection: Connection, first: Recorded) -> None:
    started = first.event
    assert isinstance(started, RunStarted)
    row = {"run_id": first.run_id, "agent": started.agent, "session": started.session}
    head = {"status": "active", "head_seq": 1, "head_hash": "", "fence": 0, "format": FORMAT}
    times = {"started_at": first.at, "updated_at": first.at}
    connection.execute(insert(runs).values(requester=started.requester, **row, **head, **times))


def _found(connection: Connection, state: RunState) -> Iterator[Repair]:
    rows = connection.execute(select(*(approvals.c[name] for name in COLUMNS))).all()
    kept = defaultdict[str, set[awaited.Row]](set)
    for id, *row in connection.execute(awaited.ROWS_OF_RUN, {"of_run": state.run_id}):
        kept[id].add(awaited.Row(*row))
    return of_approvals(
        state,
        {row.approval_id: KeptApproval(*row) for row in rows},
        {id: frozenset(people) for id, people in kept.items()},
    )
