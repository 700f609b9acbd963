"""What is looked for is found without what is not, whatever a server knows of its tables: nothing yet, as after much
was written at once, how they were when they were tiny, or how they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

import asyncpg
import pytest
from sqlalchemy import Executable, make_url

from store.approvals import _HEAR
from store.lease_tables import RUNS, THREADS
from store.lists import APPROVALS_BY, COUNT_APPROVALS, COUNT_PENDING, RUNS_BY, RUNS_OF_SESSION
from store.purge_claims import _BEGUN, _CLAIMS, DUE_BEHIND, FIRST
from store.waiting import (
    _NEXT_GROUP,
    _OF_BEFORE,
    _UNDECIDED_BEFORE,
    DECIDED_BY,
    DECIDED_FOR,
    UNDECIDED,
    WAITING,
)
from tests.store.conftest import on_postgres
from tests.store.database import ask
from tests.store.much import fill
from tests.store.plans import Values, pages_read
from tests.store.server import Server

Known = Literal["nothing", "when they were tiny", "all"]

WAITS, DECIDED, PAGE, QUESTIONS = 2_000, 20_000, 10, 20
#: A few for each row that is given: all that waits is more than ten times as many, whichever way it is read.
FEW = 200

BOB = "slack:T1:UBOB"
_PAGE: Values = {"at_most": PAGE}
_CLAIM: Values = {"at_most": 1, "but_not": ["run_x"], "now": None, "term": 1, "new_holder": "p"}
_OF_AGE: Values = {**_PAGE, "of_status": "finished", "of_level": 0, "age": 0, "now": None}
_BEHIND: Values = {**_OF_AGE, **FIRST, "after_spared_until": 0, "after_updated_at": 0}
_HEARD: Values = {"new_status": "approved", "new_decider": BOB, "new_decided_at": 1, "now": None}
STATEMENTS: dict[str, tuple[Executable, Values]] = {
    "waiting for a group": (
        WAITING,
        {**_PAGE, "of_kind": "group", "of_name": "S1", "of_principal": BOB},
    ),
    "waiting for nobody": (
        WAITING,
        {**_PAGE, "of_kind": "user", "of_name": "U", "of_principal": BOB},
    ),
    "waiting since before": (_OF_BEFORE, _PAGE),
    "undecided": (UNDECIDED, _PAGE),
    "undecided since before": (_UNDECIDED_BEFORE, _PAGE),
    "decided by somebody": (DECIDED_BY, {**_PAGE, "of_principal": BOB}),
    "decided by nobody": (DECIDED_BY, {**_PAGE, "of_principal": "nobody"}),
    "decided for somebody": (DECIDED_FOR, {**_PAGE, "of_principal": "cli:bench"}),
    "the next group": (_NEXT_GROUP, {"after": ""}),
    "runs": (RUNS_BY[False, False], _PAGE),
    "runs that have not ended": (RUNS_BY[False, True], _PAGE),
    "somebody's runs": (RUNS_BY[True, False], {**_PAGE, "of_requester": "cli:bench"}),
    "nobody's runs": (RUNS_BY[True, False], {**_PAGE, "of_requester": "cli:nobody"}),
    "somebody's that have not ended": (
        RUNS_BY[True, True],
        {**_PAGE, "of_requester": "cli:bench"},
    ),
    "nobody's that have not ended": (
        RUNS_BY[True, True],
        {**_PAGE, "of_requester": "cli:nobody"},
    ),
    "a session's runs": (RUNS_OF_SESSION, {**_PAGE, "of_session": "s_7"}),
    **{f"approvals {by}": (statement, _PAGE) for by, statement in APPROVALS_BY.items()},
    "how many were asked": (COUNT_APPROVALS, _PAGE),
    "how many wait": (COUNT_PENDING, _PAGE),
    "a claim": (RUNS.claim, _CLAIM),
    "a claim for agents": (RUNS.claim_of_agents, {**_CLAIM, "agents": ["refunds"]}),
    "a thread's claim": (THREADS.claim, _CLAIM),
    "a claim of one": (RUNS.claim_one, {**_CLAIM, "of_run": "run_7", "seen_seq": 2}),
    "a decision": (_HEAR, {"of_approval": "apr_7", "of_run": "run_7", **_HEARD}),
    "removals that were begun": (_BEGUN, {**_PAGE, "now": None}),
    "what is to be removed": (_CLAIMS[0], _OF_AGE),
    "what is to be looked at again": (_CLAIMS[1], _OF_AGE),
    "nothing to be removed": (_CLAIMS[0], {**_OF_AGE, "of_status": "failed"}),
    "what would be removed": (DUE_BEHIND[0], _BEHIND),
    "what would be looked at again": (DUE_BEHIND[1], _BEHIND),
}
TABLES = ("threads", "awaited", "approvals", "runs")


@pytest.fixture(scope="module", params=get_args(Known))
def filled(request: pytest.FixtureRequest, server: Server) -> Iterator[str]:
    """Much that waits, and more that was decided."""
    known: Known = request.param
    with server.database() as url:
        for table in TABLES:
            ask(url, f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
        if known == "when they were tiny":
            _fill(url, 5, 5)
            ask(url, "ANALYZE")
            for table in TABLES:
                ask(url, f"DELETE FROM {table}")
        _fill(url, WAITS, DECIDED)
        if known == "all":
            ask(url, "ANALYZE")
        yield url


@on_postgres
# One that is made for the values, and one that is kept for any.
@pytest.mark.parametrize("plans", ["custom", "generic"])
@pytest.mark.usefixtures("kind")
async def test_no_more_is_read_than_is_looked_for(filled: str, plans: str) -> None:
    url = make_url(filled).set(drivername="postgresql").render_as_string(hide_password=False)
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(f"SET plan_cache_mode = force_{plans}_plan")
        read = {
            name: await pages_read(connection, statement, values)
            for name, (statement, values) in STATEMENTS.items()
        }
    finally:
        await connection.close()
    assert {name: pages for name, pages in read.items() if pages > FEW} == {}


def _fill(url: str, waits: int, done: int) -> None:
    fill(url, waits, done, is_analyzed=False)
    ask(
        url,
        "INSERT INTO threads (run_id, wanted_seq, shown_seq, wake_at, fence)"
        " SELECT run_id, 2, 2, wake_at, 0 FROM runs",
    )
    ask(
        url,
        "INSERT INTO awaited (approval_id, kind, name, stage, requested_at) SELECT approval_id,"
        f" 'principal', 'cli:bench', 0, requested_at FROM approvals WHERE requested_at <= {QUESTIONS}"
        " AND status = 'pending'",
    )
