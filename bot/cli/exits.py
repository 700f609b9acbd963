"""What a command's exit says to a script."""

from __future__ import annotations

from enum import IntEnum

from agent.errors import (
    AlreadyRevoked,
    AlreadySwitched,
    Blocked,
    CommitInDoubt,
    ConfigError,
    CorruptJournal,
    DecisionRefused,
    GoneOn,
    InvalidArgs,
    KeyReused,
    MayNotRevoke,
    MayNotSwitch,
    NoBoundary,
    NoSuchSwitch,
    NotFailed,
    NotFound,
    NothingToDo,
    OpeningGivenUp,
    PayloadsRemoved,
    PilothouseError,
    Purged,
    RunEnded,
    SessionBusy,
    StoreUnavailable,
    TooLong,
    TooManyStarts,
    UnknownEvent,
    Unstorable,
)


class Exit(IntEnum):
    """The exit codes of the manual."""

    DONE = 0
    FAILED = 1
    WRONG_USE = 2
    WAITING = 3
    CANCELLED = 4
    REFUSED = 5
    BLOCKED = 6


def exit_for(error: PilothouseError) -> Exit:
    """How a command ends that raised this."""
    match error:
        case Purged() | PayloadsRemoved():
            return Exit.FAILED
        case (
            ConfigError()
            | NotFound()
            | NoSuchSwitch()
            | NothingToDo()
            | NoBoundary()
            | InvalidArgs()
            | Unstorable()
            | TooLong()
        ):
            return Exit.WRONG_USE
        case AlreadyRevoked() | MayNotRevoke() | TooManyStarts() | OpeningGivenUp():
            return Exit.REFUSED
        case AlreadySwitched() | MayNotSwitch():
            return Exit.REFUSED
        case DecisionRefused() | SessionBusy() | KeyReused() | NotFailed() | GoneOn() | RunEnded():
            return Exit.REFUSED
        case Blocked() | CorruptJournal() | UnknownEvent():
            return Exit.BLOCKED
        case _:
            return Exit.FAILED


def hint_for(error: PilothouseError) -> str:
    """What to do about it, where the error itself does not say so."""
    match error:
        case Purged():
            return ""
        case NotFound(what="run"):
            return " Nothing was done. To list them: pilothouse runs"
        case NotFound(what="approval"):
            return " Nothing was done. To list those that wait: pilothouse approvals"
        case NotFound(what="grant that holds"):
            return " Nothing was done. To list those that hold: pilothouse grants"
        case NotFound():
            return " Nothing was done. To find its call: pilothouse show RUN --json"
        case SessionBusy(run_id=run_id):
            return f" Nothing was done. To see where it stands: pilothouse show {run_id}"
        case CommitInDoubt():
            return " Look before you try again: pilothouse runs, pilothouse show RUN"
        case StoreUnavailable():
            return " Nothing more was done; try again once that is mended."
        case _:
            return ""


def exit_of(status: str) -> Exit:
    """How a command ends that followed a run until it had this status."""
    return {
        "finished": Exit.DONE,
        "failed": Exit.FAILED,
        "waiting": Exit.WAITING,
        "cancelled": Exit.CANCELLED,
        "blocked": Exit.BLOCKED,
    }.get(status, Exit.DONE)
