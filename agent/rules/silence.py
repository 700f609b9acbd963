"""What time does to a question that nobody decides: people are reminded of it, others are asked as well, and
in the end it closes. Silence is not a no, unless the rule says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, assert_never

from agent.rules.events import Event
from agent.rules.ids import BY_SILENCE, ApprovalId
from agent.rules.interventions import (
    ApprovalEscalated,
    ApprovalExpired,
    ApprovalReminded,
    StopRequested,
)
from agent.rules.state import Approval, RunState

#: How often people are reminded of one question: whoever was silent so often has heard it.
REMINDERS_LIMIT = 20

#: In this order where several fall due at once: whoever comes back late finds all of it, and only once.
DueKind = Literal["remind", "escalate", "expire"]


@dataclass(frozen=True, slots=True)
class Due:
    """Something that falls due by time alone. ``number`` counts the reminders, or the escalations."""

    kind: DueKind
    approval_id: ApprovalId
    at: datetime
    number: int = 0


def whats_due(state: RunState, now: datetime) -> tuple[Due, ...]:
    """What the time has come for, oldest first. Of several reminders that were missed one is given; a
    question that closes reminds nobody."""
    due: list[Due] = []
    for approval in state.open_approvals:
        coming = [one for one in _coming(approval, now) if one.at <= now]
        closing = [one for one in coming if one.kind == "expire"]
        due += closing or coming
    return tuple(sorted(due, key=lambda one: (one.at, one.approval_id)))


def noted_late(state: RunState, approval_id: ApprovalId, now: datetime) -> tuple[Event, ...]:
    """All that time has done by now, where the time of this approval is over and nobody has noted it."""
    due = whats_due(state, now)
    is_over = any(one.kind == "expire" and one.approval_id == approval_id for one in due)
    lives = not state.is_ended and state.stop is None
    return tuple(mark(state, due)) if lives and is_over else ()


def next_time(state: RunState) -> datetime | None:
    """When the next thing falls due by time alone."""
    times = (one.at for approval in state.open_approvals for one in _coming(approval, None))
    return min(times, default=None)


def mark(state: RunState, due: Iterable[Due]) -> Iterator[Event]:
    """What is recorded of it, once. Where a silence stops the run, whatever else was due is due no more."""
    for one in due:
        match one.kind:
            case "remind":
                yield ApprovalReminded(approval_id=one.approval_id, number=one.number)
            case "escalate":
                yield ApprovalEscalated(approval_id=one.approval_id, stage=one.number)
            case "expire":
                expired = tuple(_expire(state.approvals[one.approval_id]))
                yield from expired
                if len(expired) > 1:
                    return
            case _:
                assert_never(one.kind)


def _expire(approval: Approval) -> Iterator[Event]:
    patience = approval.requested.patience
    then = patience.on_expiry
    if then == "escalate" and approval.stage >= len(patience.escalate):
        then = "wait"  # There is nobody left to ask.
    yield ApprovalExpired(approval_id=approval.id, then=then)
    if then == "stop":
        yield StopRequested(
            by=BY_SILENCE, reason=f"Nobody decided in time: {approval.requested.title}"
        )


def _coming(approval: Approval, now: datetime | None) -> Iterator[Due]:
    """The next of each kind. By ``now`` several reminders may have been missed: the newest counts."""
    asked, since = approval.requested, approval.requested_at
    patience = asked.patience
    if asked.expires_at is not None:
        yield Due("expire", approval.id, asked.expires_at)
    if patience.remind and approval.reminders < REMINDERS_LIMIT:
        missed = 0 if now is None else (now - since) // patience.remind
        number = min(max(approval.reminders + 1, missed), REMINDERS_LIMIT)
        yield Due("remind", approval.id, since + number * patience.remind, number)
    if approval.stage < len(patience.escalate):
        stage = approval.stage + 1
        yield Due("escalate", approval.id, since + patience.escalate[stage - 1].after, stage)
