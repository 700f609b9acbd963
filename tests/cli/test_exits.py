"""What every error's end says to a script."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from agent import errors
from agent.errors import (
    AlreadyDecided,
    AlreadyRevoked,
    AlreadySwitched,
    AlreadyVoted,
    ApprovalCancelled,
    ApprovalExpired,
    Blocked,
    CommitInDoubt,
    ConfigError,
    CorruptJournal,
    DecisionRefused,
    GoneOn,
    Interrupted,
    InvalidArgs,
    KeyReused,
    LeaseLost,
    LimitReached,
    MayNotRevoke,
    MayNotSwitch,
    NoBoundary,
    NoStore,
    NoSuchSwitch,
    NotAllowed,
    NotFailed,
    NotFound,
    NothingToDo,
    OpeningGivenUp,
    PayloadsRemoved,
    PilothouseError,
    Purged,
    Rejected,
    RunEnded,
    SchemaRefused,
    SeqConflict,
    SessionBusy,
    StillOpen,
    StoreError,
    StoreUnavailable,
    Superseded,
    TooLong,
    ToolSignal,
    TooManyStarts,
    UnknownEvent,
    Unstorable,
    Untimely,
    VerdictsMoved,
)
from bot.cli.exits import Exit, exit_for, hint_for
from tests.cli.conftest import CommandLine

AT = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
ENDS: tuple[tuple[PilothouseError, Exit], ...] = (
    (ConfigError("x"), Exit.WRONG_USE),
    (NotFound("run", "run_1"), Exit.WRONG_USE),
    (NothingToDo(), Exit.WRONG_USE),
    (TooLong(2, 1), Exit.WRONG_USE),
    (InvalidArgs("apr_1", {"amount": "too much"}), Exit.WRONG_USE),
    (SessionBusy("s", "run_1"), Exit.REFUSED),
    (TooManyStarts("cli:bob", "refunds", 20, timedelta(hours=1), AT), Exit.REFUSED),
    (OpeningGivenUp("run_1"), Exit.REFUSED),
    (KeyReused("k", "run_1"), Exit.REFUSED),
    (NotFailed("run_1", "running"), Exit.REFUSED),
    (GoneOn("run_1", "run_2"), Exit.REFUSED),
    (RunEnded("run_1", "cancelled"), Exit.REFUSED),
    (PayloadsRemoved("run_1", "finished"), Exit.FAILED),
    (Purged("run_1", AT, 9), Exit.FAILED),
    (NoBoundary("run_1", 7, 5, 9), Exit.WRONG_USE),
    (DecisionRefused("apr_1", "x"), Exit.REFUSED),
    (NotAllowed("apr_1", None, "x"), Exit.REFUSED),
    (AlreadyDecided("apr_1", "approved", "b", AT), Exit.REFUSED),
    (AlreadyVoted("apr_1", "b", AT, "1 more yes"), Exit.REFUSED),
    (Superseded("apr_1", "apr_2"), Exit.REFUSED),
    (ApprovalExpired("apr_1", AT), Exit.REFUSED),
    (ApprovalCancelled("apr_1"), Exit.REFUSED),
    (StillOpen("apr_1"), Exit.REFUSED),
    (AlreadyRevoked("grt_1", "b", AT), Exit.REFUSED),
    (MayNotRevoke("grt_1", "x"), Exit.REFUSED),
    (NoSuchSwitch("x", "there is no such tool."), Exit.WRONG_USE),
    (AlreadySwitched("x", is_on=True), Exit.REFUSED),
    (MayNotSwitch("x"), Exit.REFUSED),
    (NoStore("x"), Exit.WRONG_USE),
    (Unstorable("x"), Exit.WRONG_USE),
    (Blocked("missing_tool", "x"), Exit.BLOCKED),
    (CorruptJournal("run_1", 1, "x"), Exit.BLOCKED),
    (UnknownEvent("x", 1), Exit.BLOCKED),
    (PilothouseError("x"), Exit.FAILED),
    (StoreError("x"), Exit.FAILED),
    (StoreUnavailable("x"), Exit.FAILED),
    (CommitInDoubt("x"), Exit.FAILED),
    (VerdictsMoved("run_1", 1), Exit.FAILED),
    (NoSuchSwitch("all", "x"), Exit.WRONG_USE),
    (AlreadySwitched("all", is_on=True), Exit.REFUSED),
    (MayNotSwitch("all"), Exit.REFUSED),
    (SeqConflict("run_1", 1), Exit.FAILED),
    (VerdictsMoved("run_1", 1), Exit.FAILED),
    (Untimely("run_1", 1), Exit.FAILED),
    (LimitReached("run_1", "a day", Decimal(1), Decimal(1)), Exit.FAILED),
    (SchemaRefused("x"), Exit.FAILED),
    (NoStore("x"), Exit.WRONG_USE),
    (Unstorable("x"), Exit.WRONG_USE),
    (LeaseLost("run_1", 1), Exit.FAILED),
    (ToolSignal("x"), Exit.FAILED),
    (Rejected("x"), Exit.FAILED),
    (Interrupted("x"), Exit.FAILED),
)


@pytest.mark.parametrize(("error", "code"), ENDS, ids=lambda one: type(one).__name__)
def test_each_error_ends_with_the_code_of_the_manual(error: PilothouseError, code: Exit) -> None:
    assert exit_for(error) is code


def test_a_store_that_is_away_is_tried_again_and_one_in_doubt_is_looked_at_first() -> None:
    assert "Nothing more was done; try again" in hint_for(StoreUnavailable("x"))
    assert "Look before you try again" in hint_for(CommitInDoubt("x"))


def _all_of(kind: type[PilothouseError]) -> Iterator[type[PilothouseError]]:
    yield kind
    for inner in kind.__subclasses__():
        yield from _all_of(inner)


def test_no_error_is_left_out() -> None:
    known = {one for one in _all_of(PilothouseError) if one.__module__.startswith(errors.__name__)}
    assert {type(error) for error, _ in ENDS} == known


@pytest.mark.parametrize(
    "arguments",
    [
        ("steer", "--set", "amount=lots"),
        ("steer", "--set", "colour=red"),
        ("answer", "yes"),
        ("settle", "happened"),
    ],
)
def test_a_decision_that_can_not_be_is_wrong_use_and_decides_nothing(
    pilothouse: CommandLine, arguments: tuple[str, ...]
) -> None:
    _, approval = pilothouse.ask("refund ORD-3300 180")
    command, *rest = arguments
    ended = pilothouse.inside(command, approval, *rest)
    assert ended.code == 2
    assert ended.err.startswith("Not decided: ")
    (asked,) = pilothouse.inside("approvals", "--json").json
    assert asked["status"] == "pending"
