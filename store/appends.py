"""One append, inside a transaction: the head moves under its guard, then the facts go in, then the
projections that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import (
    Boolean,
    Connection,
    Integer,
    bindparam,
    case,
    func,
    insert,
    select,
    update,
)

from agent.errors import ApprovalExpired as ApprovalIsExpired
from agent.errors import LeaseLost, SeqConflict, Untimely, VerdictsMoved
from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    ApprovalVoted,
    CallJudged,
    CallLeftUnknown,
    CallRefused,
    CallReturned,
    CallStarted,
    Event,
    ModelReplied,
    RunFailed,
    RunFinished,
    RunReopened,
)
from agent.rules.ids import ApprovalId, EventId, GrantId, RunId, SessionId
from agent.rules.interventions import (
    ApprovalAskedAgain,
    ApprovalEscalated,
    ApprovalExpired,
    HistoryTaken,
    MessageDeleted,
    MessageEdited,
    RunCancelled,
    StopRequested,
)
from agent.rules.parts import ProposedCall
from agent.rules.recorded import Recorded
from store import approvals, awaited, halted, limits, sessions, standing, threads
from store.bodies import Fact
from store.falling_due import concerns_others, due_at_once, is_due
from store.keys import NO_KEYS, Keys
from store.late_keys import IS_LEFT_BEHIND, bring_along, written_with
from store.now import NOW
from store.plain import chain_up
from store.purged import why_not_written
from store.schema import FORM_WITH_LIMITS, journal, operations, runs
from store.verdicts import VERDICT_SEQ
from store.wakeups import stir

# Locked where a database can: until the commit nobody else follows the fact that we follow.
_HEAD = (
    select(
        runs.c.head_seq,
        runs.c.head_hash,
        runs.c.status,
        runs.c.fence,
        runs.c.session,
        runs.c.holder,
        runs.c.format,
        VERDICT_SEQ.scalar_subquery().label("verdict_seq"),
        runs.c.purged,
        IS_LEFT_BEHIND,
    )
    .where(runs.c.run_id == bindparam("of_run"))
    .with_for_update(key_share=True)
)
_KNOWN = select(journal.c.event_id, journal.c.seq, journal.c.hash).where(
    journal.c.run_id == bindparam("of_run"),
    journal.c.event_id.in_(bindparam("event_ids", expanding=True)),
)
_FORM = bindparam("form", type_=Integer)
_MOVE_HEAD = (
    update(runs)
    .where(
        runs.c.run_id == bindparam("of_run"),
        runs.c.head_seq == bindparam("seen_seq"),
        runs.c.head_hash == bindparam("seen_hash"),
        runs.c.fence == func.coalesce(bindparam("of_fence", type_=runs.c.fence.type), runs.c.fence),
    )
    .values(
        head_seq=bindparam("new_seq"),
        head_hash=bindparam("new_hash"),
        status=bindparam("new_status"),
        updated_at=NOW,
        # It has moved: whoever claimed it up to now did not claim it in vain.
        claims=0,
        format=case((runs.c.format < _FORM, _FORM), else_=runs.c.format),
        is_held=func.coalesce(bindparam("new_hold", type_=Boolean), runs.c.is_held),
        halted_by=func.coalesce(
            bindparam("new_halt", type_=runs.c.halted_by.type), runs.c.halted_by
        ),
        wake_at=due_at_once(runs),
    )
    .returning(is_due(runs))
)
_IS_STOPPING = update(runs).where(runs.c.run_id == bindparam("of_run")).values(is_stopping=True)
_INSERT_FACTS = insert(journal)
_INSERT_OPERATIONS = insert(operations)


class Append(NamedTuple):
    """What is to be appended to a run, and under which conditions."""

    run_id: RunId
    facts: tuple[Fact[Event], ...]
    #: None: behind whatever is there.
    expected_seq: int | None
    #: None: from outside.
    fence: int | None
    #: Does the appending process draw threads? It knows that this one is behind, then.
    is_drawn_here: bool = False
    #: Where a message stands that whoever appends is about to redraw.
    redraws: str | None = None
    #: What the calls were judged by that it starts; None where it starts none.
    verdict_seq: int | None = None


@dataclass(frozen=True, slots=True)
class _Head:
    seq: int
    hash: str
    status: str
    fence: int
    session: SessionId
    holder: str | None
    form: int
    verdict_seq: int | None
    is_left_behind: bool


def append(connection: Connection, wanted: Append, now: datetime | None) -> list[Recorded]:
    """Append, or find what an earlier try has appended.

    Raises ``NotFound``, ``LeaseLost``, ``SeqConflict``, ``SessionBusy``, ``GoneOn``, ``LimitReached``,
    ``PayloadsRemoved``; whatever was done is then to be undone.
    """
    keys = wanted.facts[0].keys if wanted.facts else NO_KEYS
    head = _read_head(connection, wanted.run_id, keys)
    # An intention that was carried out has moved the head; it is looked for only then.
    known = {} if wanted.expected_seq == head.seq else _find_known(connection, wanted)
    new = tuple(fact for fact in wanted.facts if fact.id not in known)
    if new:
        _check(wanted, head, new)
        if any(isinstance(fact.event, RunReopened) for fact in new):
            sessions.must_be_free(connection, head.session)
            sessions.must_be_newest(connection, wanted.run_id, head.session)
        added = chain_up(wanted.run_id, head.seq, head.hash, new)
        is_due = _move_head(connection, wanted, head, added, now)
        insert_facts(connection, new, added)
        if head.is_left_behind:
            bring_along(connection, keys)
        project(connection, added, now)
        _project_limits(connection, head, added)
        behind = threads.want(connection, wanted.run_id, added[-1].seq, now)
        if wanted.redraws is not None:
            threads.announce(connection, wanted.run_id, wanted.redraws, added[-1].at, now)
        is_others = concerns_others(head.holder, behind, is_drawn_here=wanted.is_drawn_here)
        if is_due or wanted.fence is None or is_others:
            stir(connection)
        known |= {one.id: one for one in added}
    return [known[fact.id] for fact in wanted.facts]


def insert_facts(
    connection: Connection, facts: Sequence[Fact[Event]], recorded: Sequence[Recorded]
) -> None:
    connection.execute(
        _INSERT_FACTS,
        [
            {
                "run_id": one.run_id,
                "seq": one.seq,
                "event_id": one.id,
                "at": one.at,
                "hash": one.hash,
                "body": fact.kept(one.run_id, one.seq),
            }
            for fact, one in zip(facts, recorded, strict=True)
        ],
    )


def _read_head(connection: Connection, run_id: RunId, keys: Keys) -> _Head:
    row = connection.execute(_HEAD, {"of_run": run_id, **written_with(keys)}).one_or_none()
    if row is None or row.purged:
        raise why_not_written(connection, run_id)
    session = SessionId(row.session)
    at = (row.head_seq, row.head_hash, row.status, row.fence)
    form = _form(row.format)
    return _Head(*at, session, row.holder, form, row.verdict_seq, bool(row.is_left_behind))


def _form(kept: object) -> int:
    """What no number is says nothing of what there may be: then it is looked for."""
    return kept if isinstance(kept, int) else FORM_WITH_LIMITS


def _find_known(connection: Connection, wanted: Append) -> dict[EventId, Recorded]:
    facts = {fact.id: fact for fact in wanted.facts}
    rows = connection.execute(_KNOWN, {"of_run": wanted.run_id, "event_ids": list(facts)})
    return {
        EventId(id): Recorded(wanted.run_id, seq, EventId(id), facts[id].at, hash, facts[id].event)
        for id, seq, hash in rows
    }


def _check(wanted: Append, head: _Head, new: Sequence[Fact[Event]]) -> None:
    if wanted.fence is not None and wanted.fence != head.fence:
        raise LeaseLost(wanted.run_id, wanted.fence)
    if wanted.expected_seq is not None and wanted.expected_seq != head.seq:
        raise SeqConflict(wanted.run_id, wanted.expected_seq)
    if wanted.verdict_seq not in (None, head.verdict_seq):
        raise VerdictsMoved(wanted.run_id, head.seq)
    status = head.status
    for fact in new:
        if not _may_follow(status, fact.event):
            raise SeqConflict(wanted.run_id, wanted.expected_seq or head.seq)
        status = _status_after(fact.event, status)


def _may_follow(status: str, event: Event) -> bool:
    """Behind a run's end: the receipt of a call that was in flight then, word of an effect that
    nobody knew, what becomes of a message that it has not heard; and behind a failure that the run is
    taken on again."""
    match event:
        case RunReopened():
            return status == "failed"
        case CallReturned() | CallLeftUnknown() | ApprovalDecided(action="settle"):
            return True
        case ApprovalRequested(approval_kind="review"):
            return True
        case MessageEdited() | MessageDeleted():
            return True
        case _:
            return status == "active"


def _status_after(event: Event, status: str) -> str:
    match event:
        case RunFinished():
            return "finished"
        case RunFailed():
            return "failed"
        case RunCancelled():
            return "cancelled"
        case RunReopened():
            return "active"
        case _:
            return status


def _move_head(
    connection: Connection,
    wanted: Append,
    head: _Head,
    added: Sequence[Recorded],
    now: datetime | None,
) -> bool:
    """Is the run due at once?"""
    status = head.status
    for one in added:
        status = _status_after(one.event, status)
    moved = connection.execute(
        _MOVE_HEAD,
        {
            "of_run": wanted.run_id,
            "seen_seq": head.seq,
            "seen_hash": head.hash,
            "of_fence": wanted.fence,
            "new_seq": added[-1].seq,
            "new_hash": added[-1].hash,
            "new_status": status,
            "form": max(one.event.form for one in added),
            "new_hold": halted.hold_after(one.event for one in added),
            "new_halt": halted.halt_after(one.event for one in added),
            "now": now,
        },
    ).one_or_none()
    if moved is None:
        raise SeqConflict(wanted.run_id, head.seq)
    return bool(moved.is_due)


def project(connection: Connection, added: Sequence[Recorded], now: datetime | None) -> None:
    """What follows from the new facts elsewhere; the fold says the same of them. Raises ``SeqConflict``
    for a decision that comes too late, and for a call that rests on a grant that is not in force."""
    for one in added:
        match one.event:
            case ModelReplied(calls=calls):
                _insert_operations(connection, one.run_id, calls)
            case HistoryTaken(turns=turns):
                taken = [call for turn in turns for call in turn.calls]
                anew = [call.proposed for call in taken if call.outcome is None]
                _insert_operations(connection, one.run_id, anew)
            case CallJudged() | CallStarted() as ruled if grant_id := rests_on(ruled):
                if not standing.still_stands(connection, grant_id, now):
                    raise SeqConflict(one.run_id, one.seq - 1)
            case CallReturned(call_id=call_id) | CallRefused(call_id=call_id):
                approvals.cancel_of_call(connection, one.run_id, call_id)
            case StopRequested():
                connection.execute(_IS_STOPPING, {"of_run": one.run_id})
                approvals.cancel_open(connection, one.run_id)
            case RunFinished() | RunFailed() | RunCancelled():
                approvals.cancel_open(connection, one.run_id)
            case _:
                _project_approval(connection, one, now)


def _project_approval(connection: Connection, one: Recorded, now: datetime | None) -> None:
    """The same of a fact that says something of one approval."""
    match one.event:
        case ApprovalRequested() as requested:
            approvals.request(connection, one.run_id, requested, one.at)
        case ApprovalVoted() | ApprovalDecided() as word:
            if not approvals.hear(connection, one.run_id, word, one.at, now):
                raise _refused(connection, one, word.approval_id, is_late=True)
        case ApprovalExpired() as expired:
            if not approvals.expire(connection, one.run_id, expired, now):
                raise _refused(connection, one, expired.approval_id, is_late=False)
        case ApprovalEscalated() as escalated:
            awaited.escalate(connection, escalated)
        case ApprovalAskedAgain(approval_id=approval_id):
            awaited.forget(connection, approval_id)
        case _:
            pass


def _refused(
    connection: Connection, one: Recorded, approval_id: ApprovalId, *, is_late: bool
) -> SeqConflict:
    """Is the approval not open any more, or is it the time that speaks against it?"""
    expires_at = approvals.expires_at(connection, one.run_id, approval_id)
    if expires_at is None:
        return SeqConflict(one.run_id, one.seq - 1)
    refusal = ApprovalIsExpired(approval_id, expires_at) if is_late else None
    return Untimely(one.run_id, one.seq - 1, refusal)


def rests_on(event: Event) -> GrantId | None:
    """The grant without which this call would be asked about."""
    match event:
        case CallJudged(verdict=verdict):
            return verdict.grant
        case CallStarted(grant=grant_id):
            return grant_id
        case _:
            return None


def _insert_operations(
    connection: Connection, run_id: RunId, calls: Sequence[ProposedCall]
) -> None:
    if calls:
        rows = [{"operation_id": call.operation_id, "run_id": run_id} for call in calls]
        connection.execute(_INSERT_OPERATIONS, rows)


def _project_limits(connection: Connection, head: _Head, added: Sequence[Recorded]) -> None:
    """What the new facts reserve of limits, and give back. Raises ``LimitReached``."""
    if max(head.form, *(one.event.form for one in added)) < FORM_WITH_LIMITS:
        return  # nothing was ever reserved, and nothing is to be looked for
    for one in added:
        if isinstance(one.event, CallStarted):
            limits.reserve(connection, one.run_id, one.event)
        else:
            limits.hear(connection, one.run_id, one.event)
