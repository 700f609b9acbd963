"""Much that waits, and more that was decided: rows that nobody looks for, written from below, all at once."""

from __future__ import annotations

from tests.store.database import ask

_COUNT = "WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {last})"
_WAITING = (
    """INSERT INTO runs (run_id, agent, session, requester, status, head_seq, head_hash, wake_at, fence,
        started_at, updated_at, format)
    SELECT 'run_' || i, 'refunds', 's_' || i, 'cli:bench', 'active', 2, '', i, 0, i, i, 1 FROM n""",
    """INSERT INTO approvals (approval_id, run_id, call_id, kind, status, requested_at, requester)
    SELECT 'apr_' || i, 'run_' || i, 'call', 'call', 'pending', i, 'cli:bench' FROM n""",
    """INSERT INTO awaited (approval_id, kind, name, stage, requested_at)
    SELECT 'apr_' || i, 'group', 'S1', 0, i FROM n""",
)
_DECIDED = (
    """INSERT INTO runs (run_id, agent, session, requester, status, head_seq, head_hash, fence, started_at,
        updated_at, format)
    SELECT 'old_' || i, 'refunds', 's_' || i, 'cli:bench', 'finished', 3, '', 1, i, i, 1 FROM n""",
    """INSERT INTO approvals (approval_id, run_id, call_id, kind, status, requested_at, requester, decided_by,
        decided_at)
    SELECT 'was_' || i, 'old_' || i, 'call', 'call', 'approved', i, 'cli:bench', 'slack:T1:UBOB', i FROM n""",
)


def fill(url: str, waiting: int, done: int, *, is_analyzed: bool = True) -> None:
    for statements, last in ((_WAITING, waiting), (_DECIDED, done)):
        for statement in statements:
            into, rows = statement.split("SELECT", 1)
            ask(url, f"{into} {_COUNT.format(first=1, last=last)} SELECT {rows}")
    if is_analyzed:
        ask(url, "ANALYZE")
