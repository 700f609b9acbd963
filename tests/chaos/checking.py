"""What must never happen, whoever fights: each anomaly is counted from what is stored and from what the
processes saw."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from agent.errors import CorruptJournal
from agent.rules.events import ApprovalDecided, ModelReplied
from agent.rules.fold import fold
from agent.rules.recorded import Recorded
from store import SqlStore
from tests.chaos.fighters import WORKED, unanswered
from tests.chaos.report import Claim, Report
from tests.store.database import ask


async def anomalies(store: SqlStore, url: str, reports: Sequence[Report]) -> Counter[str]:
    """How many of each; nothing, where all is well. Every process has ended."""
    found: Counter[str] = Counter()
    claims = defaultdict(list)
    for report in reports:
        for claim in report.claims:
            claims[claim.run_id].append(claim)
    fences = dict(ask(url, "SELECT run_id, fence FROM runs"))
    approvals = _approvals(url)
    decisions = 0
    for run in await store.lists.runs(limit=10_000):
        try:
            journal = await store.journal.read(run.run_id)
        except CorruptJournal:
            found["broken chain"] += 1
            continue
        state = fold(journal)
        found += _of_claims(claims[run.run_id], fences[run.run_id])
        found += _of_writes(journal)
        found["asleep with unseen events"] += run.agent == WORKED and bool(unanswered(state))
        found["head is not the fold's"] += (run.head_seq, run.status) != (
            state.seq,
            state.ending or "active",
        )
        folded = {(one.id, one.status) for one in state.approvals.values()}
        found["projections are not the fold's"] += len(approvals[run.run_id] ^ folded)
        decisions += sum(isinstance(one.event, ApprovalDecided) for one in journal)
    made = sum(one.tries["decide"] - one.refused["decide"] for one in reports)
    found["lost or double decisions"] += abs(made - decisions)
    found["journal gaps"] += _gaps(url)
    return +found


def _of_claims(claims: Iterable[Claim], fence: int) -> Counter[str]:
    """Each claim raised the fence by one, and began when the one before was over."""
    in_order = sorted(claims, key=lambda one: one.fence)
    fences = [one.fence for one in in_order]
    wanted = list(range(1, fence + 1))
    return Counter(
        {
            "lost or double claims": 0 if fences == wanted else len(set(wanted) ^ set(fences)) or 1,
            "two owners": sum(
                one.ending != "let go" and after.at < one.until for one, after in pairwise(in_order)
            ),
        }
    )


def _of_writes(journal: Iterable[Recorded]) -> Counter[str]:
    """Whoever has been replaced writes nothing behind whoever replaced it."""
    fences = [int(one.event.model) for one in journal if isinstance(one.event, ModelReplied)]
    return Counter({"stale writes": sum(later < one for one, later in pairwise(fences))})


def _approvals(url: str) -> dict[str, set[tuple[str, str]]]:
    found = defaultdict(set)
    for run_id, *row in ask(url, "SELECT run_id, approval_id, status FROM approvals"):
        found[run_id].add(tuple(row))
    return found


def _gaps(url: str) -> int:
    """Runs whose facts are not numbered from one to their head."""
    return len(
        ask(
            url,
            "SELECT r.run_id FROM runs r JOIN journal j ON j.run_id = r.run_id"
            " GROUP BY r.run_id, r.head_seq"
            " HAVING count(*) <> r.head_seq OR max(j.seq) <> r.head_seq OR min(j.seq) <> 1",
        )
    )
