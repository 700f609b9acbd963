"""What can go wrong, as one small tree.

::

    PilothouseError
    ├── ConfigError              the agents, tools or policy can't be used as written
    ├── NotFound                 no run, approval or operation has this id
    ├── SessionBusy              the session has another active run
    ├── KeyReused                the key stands for other words
    ├── NothingToDo              nothing but blanks was said
    ├── TooLong                  more was said than is taken at once
    ├── NotFailed                only a failed run can be taken on again
    ├── GoneOn                   its conversation has gone on without it
    ├── RunEnded                 it has ended, or is being stopped: nothing can be done to it
    ├── NoBoundary               a run can't be forked there
    ├── Blocked                  this build can't take the run on
    ├── StoreError
    │   ├── StoreUnavailable     the database can't be reached or is locked; nothing was changed
    │   ├── SeqConflict          the journal moved on; fold and decide again
    │   │   └── Untimely         by the store's clock it is too late, or too early, for it
    │   ├── LimitReached         what a call would reserve is more than is left; nothing was appended
    │   ├── LeaseLost            another worker holds the lease now
    │   ├── SchemaRefused        this build and the database's tables don't go together
    │   ├── Unstorable           what can't be kept as it is; nothing was changed
    │   ├── CorruptJournal       a stored fact can't be right; that run alone is blocked
    │   └── UnknownEvent         written by a newer build; left for it
    ├── DecisionRefused
    │   ├── NotAllowed           this person may not decide it
    │   ├── AlreadyDecided       somebody was first
    │   │   └── AlreadyVoted     they were: their yes is counted, and more are needed
    │   ├── Superseded           a newer approval asks instead
    │   ├── ApprovalExpired      its time is over
    │   ├── ApprovalCancelled    its run has ended
    │   ├── StillOpen            it can't be asked again while it is open
    │   └── InvalidArgs          the decision itself can't be carried out
    └── ToolSignal
        ├── Rejected             raised by a tool: nothing happened
        └── Interrupted          raised by a tool: leave the call open, as a crash would

Each error carries its ids as attributes; its text is a sentence for people.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any


class PilothouseError(Exception):
    """The root of everything that Pilothouse raises on purpose."""

    #: A stable name for programs (HTTP error codes, ``--json``).
    code = "error"


class ConfigError(PilothouseError):
    """The agents, tools or policy can't be used as they are written."""

    code = "config"


class NotFound(PilothouseError):
    """Nothing has this id."""

    code = "not_found"

    def __init__(self, what: str, id: str) -> None:
        super().__init__(f"No {what} has the id {id}.")
        self.what = what
        self.id = id


class SessionBusy(PilothouseError):
    """The session has another active run; ``run_id`` names it."""

    code = "session_busy"

    def __init__(self, session: str, run_id: str) -> None:
        super().__init__(f"This conversation has a run that has not ended: {run_id}.")
        self.session = session
        self.run_id = run_id


class KeyReused(PilothouseError):
    """The key of this start, or the place of this message, stands for other words, which ``run_id`` has."""

    code = "idempotency_key_reused"

    def __init__(self, key: str, run_id: str) -> None:
        super().__init__(
            f"Nothing was done: the same came before with other words, and {run_id} has those."
        )
        self.key = key
        self.run_id = run_id


class NotFailed(PilothouseError):
    """Only a failed run can be taken on again; this one is ``status``."""

    code = "not_failed"

    def __init__(self, run_id: str, status: str) -> None:
        super().__init__(
            f"Nothing was done: {run_id} is {status}, and only a failed run can be taken on again."
        )
        self.run_id = run_id
        self.status = status


class GoneOn(PilothouseError):
    """It can't be taken on again: ``newest``, a later run of its session, was told what it left."""

    code = "gone_on"

    def __init__(self, run_id: str, newest: str) -> None:
        there = (
            f"the conversation of {run_id} has gone on with {newest}. Say there what is left to do."
        )
        super().__init__(f"Nothing was done: {there}")
        self.run_id = run_id
        self.newest = newest


class RunEnded(PilothouseError):
    """The run is ``status``: nothing can be said or done to it any more."""

    code = "run_ended"

    def __init__(self, run_id: str, status: str) -> None:
        super().__init__(f"Nothing was done: {run_id} is {status}.")
        self.run_id = run_id
        self.status = status


class NoBoundary(PilothouseError):
    """The run can't be forked at ``seq``: a call was under way there, or its journal ends before it at ``head``.
    ``nearest`` is where it can."""

    code = "no_boundary"

    def __init__(self, run_id: str, seq: int, nearest: int | None, head: int) -> None:
        is_there = 1 <= seq <= head
        why = "a call was under way" if is_there else f"its journal goes from 1 to {head}"
        where = f" The nearest place is {nearest}." if nearest else ""
        super().__init__(f"Nothing was forked: {run_id} can't be forked at {seq}: {why}.{where}")
        self.run_id = run_id
        self.seq = seq
        self.nearest = nearest
        self.head = head


class NothingToDo(PilothouseError):
    """A run was to be begun, or something said to it, without a word."""

    code = "nothing_to_do"

    def __init__(self) -> None:
        super().__init__("Nothing was done: say something.")


class TooLong(PilothouseError):
    """What was said has ``length`` characters, and at most ``limit`` are taken."""

    code = "too_long"

    def __init__(self, length: int, limit: int) -> None:
        super().__init__(
            f"Nothing was done: this has {length:,} characters. Say it in at most {limit:,}."
        )
        self.length = length
        self.limit = limit


class Blocked(PilothouseError):
    """This build can't take the run on; ``code`` says why: ``missing_agent``, ``missing_tool``.
    ``fix`` says what to do about it, where that is known."""

    def __init__(self, code: str, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.fix = fix


class StoreError(PilothouseError):
    """The store could not do what was asked."""

    code = "store"


class StoreUnavailable(StoreError):
    """The database can't be reached, or stayed locked. Nothing was changed."""

    code = "store_unavailable"


class SeqConflict(StoreError):
    """The journal moved on since it was read. Fold and decide again."""

    code = "seq_conflict"

    def __init__(self, run_id: str, expected: int) -> None:
        super().__init__(f"The journal of {run_id} has moved on from {expected}.")
        self.run_id = run_id
        self.expected = expected


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


class DecisionRefused(PilothouseError):
    """The decision was not taken; ``approval_id`` says of what."""

    code = "refused"

    def __init__(self, approval_id: str, message: str) -> None:
        super().__init__(message)
        self.approval_id = approval_id


class NotAllowed(DecisionRefused):
    """This person may not decide it. ``may_decide`` says who may, ``why`` what speaks against them."""

    code = "not_allowed"

    def __init__(self, approval_id: str, may_decide: Any, why: str) -> None:
        super().__init__(approval_id, f"Not decided: {why}")
        self.may_decide = may_decide
        self.why = why


class AlreadyDecided(DecisionRefused):
    """Somebody was first: ``by`` whom, what ``action``, and when (``at``)."""

    code = "already_decided"

    def __init__(
        self, approval_id: str, action: str, by: str, at: datetime, message: str | None = None
    ) -> None:
        first = f"Too late: {action} by {by} at {at:%Y-%m-%d %H:%M} UTC. Nothing was changed."
        super().__init__(approval_id, message or first)
        self.action = action
        self.by = by
        self.at = at


class AlreadyVoted(AlreadyDecided):
    """This principal's yes is counted already; ``missing`` says what is still needed."""

    def __init__(self, approval_id: str, by: str, at: datetime, missing: Any) -> None:
        counted = (
            f"Nothing was changed: the yes of {by} at {at:%Y-%m-%d %H:%M} UTC is counted already"
        )
        super().__init__(approval_id, "approved", by, at, f"{counted}. Still needed: {missing}.")
        self.missing = missing


class Superseded(DecisionRefused):
    """A newer approval, ``superseded_by``, asks instead."""

    code = "superseded"

    def __init__(self, approval_id: str, superseded_by: str) -> None:
        super().__init__(
            approval_id,
            f"Not decided: this was replaced by a newer question. Decide {superseded_by} instead.",
        )
        self.superseded_by = superseded_by


class ApprovalExpired(DecisionRefused):
    """Its time was over at ``expires_at``. What it was about may have been begun before all the same."""

    code = "expired"

    def __init__(self, approval_id: str, expires_at: datetime) -> None:
        super().__init__(
            approval_id,
            f"Not decided: this expired at {expires_at:%Y-%m-%d %H:%M} UTC.",
        )
        self.expires_at = expires_at


class ApprovalCancelled(DecisionRefused):
    """Its run has ended, or its call has; there is nothing left to decide."""

    code = "cancelled"

    def __init__(self, approval_id: str) -> None:
        super().__init__(
            approval_id,
            "Not decided: what it was about has ended meanwhile; there is nothing left to decide.",
        )


class StillOpen(DecisionRefused):
    """It is being asked: there is no need to ask it again."""

    code = "still_open"

    def __init__(self, approval_id: str) -> None:
        super().__init__(approval_id, "Nothing was done: this is still open, and can be decided.")


class InvalidArgs(DecisionRefused):
    """The decision can't be carried out; ``errors`` has a message for each field."""

    code = "invalid_args"
    #: Not arguments of the call, but parts of the decision.
    ABOUT_THE_WHOLE = frozenset({"action", "guidance", "outcome", "arguments", "grant"})

    def __init__(self, approval_id: str, errors: Mapping[str, str]) -> None:
        listed = "; ".join(
            message if field in self.ABOUT_THE_WHOLE else f"{field}: {message}"
            for field, message in errors.items()
        )
        super().__init__(approval_id, f"Not decided: {listed}")
        self.errors = dict(errors)


class ToolSignal(PilothouseError):
    """Raised by a tool to say what became of its effect."""


class Rejected(ToolSignal):
    """The outside system refused, and nothing happened. The text is told to the model."""

    code = "rejected"


class Interrupted(ToolSignal):
    """Leave the call open as a crash would; it is recovered after its deadline."""

    code = "interrupted"
