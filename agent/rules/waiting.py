"""How long a run has waited for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from agent.rules.calls import Call
from agent.rules.state import Approval, RunState

Span = tuple[datetime, datetime]


def waited(state: RunState, now: datetime) -> timedelta:
    """The time in which any approval was open, the run was held, or a switch or a window kept it or calls of it from
    starting, and it had not ended."""
    asked = _asked(state, state.approvals.values(), now)
    return _lived_through(state, (*asked, *_holds(state, now), *_haltings(state, now)), now)


def waited_for(state: RunState, approvals: Iterable[Approval], now: datetime) -> timedelta:
    """The same for some of its approvals alone: the time in which any of these was waited for."""
    return _lived_through(state, _asked(state, approvals, now), now)


def paused(state: RunState, now: datetime) -> timedelta:
    """The time in which the run was held, whatever else it waited for meanwhile."""
    return _lived_through(state, _holds(state, now), now)


def _lived_through(state: RunState, spans: Iterable[Span], now: datetime) -> timedelta:
    """What they cover of the time in which the run had not ended; what overlaps counts once."""
    lives = tuple(_lives(state, now))
    within = sorted(
        (max(begin, began), min(end, ended)) for begin, end in spans for began, ended in lives
    )
    total, until = timedelta(), state.started_at
    for begin, end in within:
        total += max(timedelta(), end - max(begin, until))
        until = max(until, end)
    return total


def _asked(state: RunState, approvals: Iterable[Approval], now: datetime) -> Iterator[Span]:
    for approval in approvals:
        yield approval.requested_at, _until(state, approval) or now


def _holds(state: RunState, now: datetime) -> Iterator[Span]:
    yield from state.holds
    if state.held is not None:
        yield state.held.at, now


def _haltings(state: RunState, now: datetime) -> Iterator[Span]:
    yield from state.haltings
    if state.halted_at is not None:
        yield state.halted_at, now


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


def waits_for_resume(state: RunState, call: Call) -> bool:
    """Is it the hold alone that keeps the call from going on?"""
    is_held = state.held is not None and state.stop is None and not state.is_ended
    return is_held and call.status in ("proposed", "ready", "asking")


def _lives(state: RunState, now: datetime) -> Iterator[Span]:
    """From when to when the run had not ended: once, and once more each time it was taken on again."""
    began = state.started_at
    for failed_at, reopened_at in state.outages:
        yield began, failed_at
        began = reopened_at
    yield began, state.ended_at or now
