"""How long a run has waited for people."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from agent.rules.state import Approval, RunState


def waited(state: RunState, now: datetime) -> timedelta:
    """The time in which any approval was open, or the run was held, and it had not ended."""
    spans = sorted(
        (max(begin, began), min(end, ended))
        for began, ended in _lives(state, now)
        for begin, end in _waits(state, now)
    )
    total, until = timedelta(), state.started_at
    for begin, end in spans:
        total += max(timedelta(), end - max(begin, until))
        until = max(until, end)
    return total


def _waits(state: RunState, now: datetime) -> Iterator[tuple[datetime, datetime]]:
    for approval in state.approvals.values():
        yield approval.requested_at, _until(state, approval) or now
    yield from state.holds
    if state.held is not None:
        yield state.held.at, now


def _until(state: RunState, approval: Approval) -> datetime | None:
    """What nobody decided in time is still waited for, until it is asked again; None: to this day."""
    if approval.status != "expired":
        return approval.closed_at
    if approval.asked_again_at is not None:
        return approval.asked_again_at
    if approval.superseded_by is not None:
        return state.approvals[approval.superseded_by].requested_at
    return None if is_waited_for(state, approval) else approval.closed_at


def is_waited_for(state: RunState, approval: Approval) -> bool:
    """Does the run still wait for an approval that nobody decided in time?"""
    if approval.requested.call_id is None:
        return state.budget_id == approval.id
    return state.call(approval.requested.of_call).status == "waiting"


def _lives(state: RunState, now: datetime) -> Iterator[tuple[datetime, datetime]]:
    """From when to when the run had not ended: once, and once more each time it was taken on again."""
    began = state.started_at
    for failed_at, reopened_at in state.outages:
        yield began, failed_at
        began = reopened_at
    yield began, state.ended_at or now
