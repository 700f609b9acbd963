"""What can go wrong in the store."""

from __future__ import annotations

from decimal import Decimal

from agent.errors.decisions import ApprovalExpired
from agent.errors.root import PilothouseError


class StoreError(PilothouseError):
    """The store could not do what was asked."""

    code = "store"


class StoreUnavailable(StoreError):
    """The database can't be reached, or stayed locked. Nothing was changed."""

    code = "store_unavailable"


class CommitInDoubt(StoreUnavailable):
    """The answer to a commit was lost: it may have been done. The same, with the same ids, tried again finds out."""

    code = "in_doubt"


class SeqConflict(StoreError):
    """The journal moved on since it was read. Fold and decide again."""

    code = "seq_conflict"

    def __init__(self, run_id: str, expected: int) -> None:
        super().__init__(f"The journal of {run_id} has moved on from {expected}.")
        self.run_id = run_id
        self.expected = expected


class VerdictsMoved(SeqConflict):
    """What decides what may start has changed since it was looked up. Look it up and judge again."""

    code = "verdicts_moved"


class Untimely(SeqConflict):
    """By the store's clock it is too late for a word (``refusal``), or too early for an expiry."""

    code = "untimely"

    def __init__(self, run_id: str, expected: int, refusal: ApprovalExpired | None = None) -> None:
        super().__init__(run_id, expected)
        self.refusal = refusal


class LimitReached(StoreError):
    """A call's start would reserve more of ``limit`` than is left: ``used`` of ``max`` is. Nothing was
    appended."""

    code = "limit_reached"

    def __init__(self, run_id: str, limit: str, used: Decimal, max: Decimal) -> None:
        super().__init__(f"Nothing was started: {used} of {max} is used of the limit {limit}.")
        self.run_id = run_id
        self.limit = limit
        self.used = used
        self.max = max


class SchemaRefused(StoreError):
    """This build and the database's tables don't go together. Nothing was changed."""

    code = "schema"


class LeaseLost(StoreError):
    """Another worker holds the lease now; whoever raised this may not append any more."""

    code = "lease_lost"

    def __init__(self, id: str, fence: int) -> None:
        super().__init__(f"The lease on {id} with fence {fence} has been replaced.")
        self.id = id
        self.fence = fence


class Unstorable(StoreError):
    """It can't be kept so that it comes back as it was. Nothing was changed."""

    code = "unstorable"

    def __init__(self, what: str) -> None:
        super().__init__(f"The store can't keep {what}. Nothing was changed.")
        self.what = what


class CorruptJournal(StoreError):
    """A stored fact can't be right. That run alone is blocked."""

    code = "corrupt"

    def __init__(self, run_id: str, seq: int, why: str) -> None:
        super().__init__(f"The journal of {run_id} can't be read at {seq}: {why}.")
        self.run_id = run_id
        self.seq = seq
        self.why = why


class UnknownEvent(StoreError):
    """A newer build wrote this event; the run is left for that build."""

    code = "incompatible"

    def __init__(self, kind: str, version: int, seq: int | None = None) -> None:
        super().__init__(f"This build does not know the event {kind} of version {version}.")
        self.kind = kind
        self.version = version
        #: Where it stands, once that is known.
        self.seq = seq
