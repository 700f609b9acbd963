"""What can go wrong, as one small tree.

::

    PilothouseError
    ├── ConfigError              the agents, tools or policy can't be used as written
    ├── NotFound                 no run, approval or operation has this id
    │   └── Purged               it was, and all of it has been removed
    ├── SessionBusy              the session has another active run
    ├── TooManyStarts            somebody has started as many runs as one may for now
    ├── KeyReused                the key stands for other words
    ├── OpeningGivenUp           its thread was opened too long ago; nothing was started
    ├── NothingToDo              nothing but blanks was said
    ├── TooLong                  more was said than is taken at once
    ├── NotFailed                only a failed run can be taken on again
    ├── GoneOn                   its conversation has gone on without it
    ├── RunEnded                 it has ended, or is being stopped: nothing can be done to it
    │   └── PayloadsRemoved      and what it was about has been removed
    ├── NoBoundary               a run can't be forked there
    ├── Blocked                  this build can't take the run on
    ├── StoreError
    │   ├── StoreUnavailable     the database can't be reached or is locked; nothing was changed
    │   │   └── CommitInDoubt    but for this: the answer to a commit was lost
    │   ├── SeqConflict          the journal moved on; fold and decide again
    │   │   ├── VerdictsMoved    what decides what may start has changed: judge again
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
    ├── AlreadyRevoked           somebody took this grant back before
    ├── MayNotRevoke             this person may not take it back
    ├── NoSuchSwitch             nothing here is named so that could be switched off
    ├── AlreadySwitched          the kill switch is as it was to be
    ├── MayNotSwitch             this person may not turn it
    └── ToolSignal
        ├── Rejected             raised by a tool: nothing happened
        └── Interrupted          raised by a tool: leave the call open, as a crash would

Each error carries its ids as attributes; its text is a sentence for people.
"""

from __future__ import annotations

from agent.errors.decisions import (
    AlreadyDecided,
    AlreadyVoted,
    ApprovalCancelled,
    ApprovalExpired,
    DecisionRefused,
    InvalidArgs,
    NotAllowed,
    StillOpen,
    Superseded,
)
from agent.errors.grants import (
    AlreadyRevoked,
    MayNotRevoke,
)
from agent.errors.root import (
    PilothouseError,
)
from agent.errors.runs import (
    Blocked,
    ConfigError,
    GoneOn,
    KeyReused,
    NoBoundary,
    NoStore,
    NotFailed,
    NotFound,
    NothingToDo,
    OpeningGivenUp,
    PayloadsRemoved,
    Purged,
    RunEnded,
    SessionBusy,
    TooLong,
    TooManyStarts,
)
from agent.errors.signals import (
    Interrupted,
    Rejected,
    ToolSignal,
)
from agent.errors.store import (
    CommitInDoubt,
    CorruptJournal,
    LeaseLost,
    LimitReached,
    SchemaRefused,
    SeqConflict,
    StoreError,
    StoreUnavailable,
    UnknownEvent,
    Unstorable,
    Untimely,
    VerdictsMoved,
)
from agent.errors.switches import AlreadySwitched, MayNotSwitch, NoSuchSwitch

__all__ = [
    "AlreadyDecided",
    "AlreadyRevoked",
    "AlreadySwitched",
    "AlreadyVoted",
    "ApprovalCancelled",
    "ApprovalExpired",
    "Blocked",
    "CommitInDoubt",
    "ConfigError",
    "CorruptJournal",
    "DecisionRefused",
    "GoneOn",
    "Interrupted",
    "InvalidArgs",
    "KeyReused",
    "LeaseLost",
    "LimitReached",
    "MayNotRevoke",
    "MayNotSwitch",
    "NoBoundary",
    "NoStore",
    "NoSuchSwitch",
    "NotAllowed",
    "NotFailed",
    "NotFound",
    "NothingToDo",
    "OpeningGivenUp",
    "PayloadsRemoved",
    "PilothouseError",
    "Purged",
    "Rejected",
    "RunEnded",
    "SchemaRefused",
    "SeqConflict",
    "SessionBusy",
    "StillOpen",
    "StoreError",
    "StoreUnavailable",
    "Superseded",
    "TooLong",
    "TooManyStarts",
    "ToolSignal",
    "UnknownEvent",
    "Unstorable",
    "Untimely",
    "VerdictsMoved",
]
