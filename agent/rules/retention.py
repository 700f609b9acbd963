"""How long what ended is kept, and whether what has been kept long enough may go. Pure.

A run is never touched while it is at work, waits, or is asked about; what ended goes by its age, a kind at a time:
see ``Removed``. Some of it stays for as long as something else needs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, get_args

from agent.rules.durations import show_duration
from agent.rules.limit_lives import Counts, counting, uses_of
from agent.rules.purges import LEVELS, Removed
from agent.rules.state import RunState

Ended = Literal["finished", "failed", "cancelled"]
STATUSES: tuple[Ended, ...] = get_args(Ended)
NOT_ENDED = "it has not ended"

#: So long at least a start that is delivered once more finds its run, with the words by which it is known.
KEY_IS_YOUNG = timedelta(days=7)
#: Less than that nothing is kept: whoever comes back to a card finds what it was about.
SHORTEST = timedelta(hours=1)
#: So long at the most it waits for its thread, which may never be drawn again: its channel may be gone.
DRAWN_WITHIN = timedelta(days=7)
#: What may not go yet is looked at again after that.
LOOK_AGAIN = timedelta(days=1)
#: Why such runs stay.
IS_UNVOUCHED = "the audit key does not vouch for it"
NOT_BEGUN = "its row says that a removal was begun, and the control journal does not"
YOUNGER = "it ended later than its row says"
ENDED_OTHERWISE = "its row does not say how it ended"
IN_ITS_CONVERSATION = "what it used of a limit counts in its conversation"


@dataclass(frozen=True, slots=True)
class Retention:
    """How long each kind is kept after the end of runs that ended so; what is not named is kept for ever."""

    kept_for: Mapping[Removed, Mapping[Ended, timedelta]] = field(default_factory=dict)

    @property
    def keeps_all(self) -> bool:
        return not any(self.kept_for.values())

    def reached(self, removed: Removed, status: Ended, age: timedelta) -> bool:
        """Is this its time to go?"""
        limit = self.kept_for.get(removed, {}).get(status)
        return limit is not None and age >= limit

    def in_words(self, removed: Removed, status: Ended) -> str:
        """The limit, as it stands in the record."""
        limit = self.kept_for.get(removed, {}).get(status)
        if limit is None:
            return f"{removed}: begun under another limit"
        return f"{removed}: {show_duration(limit)} after it was {status}"

    def steps(self) -> Iterator[tuple[Ended, int, timedelta]]:
        """Of runs that ended so, of which so much is gone: from which age on there is more to remove."""
        for status in STATUSES:
            for level in range(len(LEVELS)):
                further = (self.kept_for.get(removed, {}).get(status) for removed in LEVELS[level:])
                ages = [age for age in further if age is not None]
                if ages:
                    yield status, level, min(ages)


@dataclass(frozen=True, slots=True)
class Resting:
    """What is known of an ended run beside its journal."""

    status: str
    started_at: datetime
    #: When it last moved: at its end, or when the last word on it came.
    moved_at: datetime
    #: How much of it is gone.
    level: int
    #: Somebody works it, or draws its thread.
    is_held: bool = False
    #: A question of it is open: an effect of which nobody knows yet.
    is_asked_about: bool = False
    #: Its thread does not show its end yet.
    is_undrawn: bool = False
    #: The next run of its conversation would begin behind it.
    is_newest: bool = False
    #: A consent that was given for it, or for its conversation, stands.
    has_grant: bool = False
    #: There is no other run of its conversation, or none that has not been at rest for as long as anything is kept.
    is_alone: bool = False
    #: The limits, by their keys, of which it has used something.
    counts_in: frozenset[str] = frozenset()
    #: There is an audit key, and it does not vouch for the run's end, as it does for everybody's by now: somebody may
    #: have written it anew.
    is_unvouched: bool = False
    #: Its row says that a removal was begun, and the control journal does not.
    is_begun_by_nobody: bool = False

    @property
    def ended(self) -> Ended | None:
        """How it ended; None: it has not."""
        return next((one for one in STATUSES if one == self.status), None)


@dataclass(frozen=True, slots=True)
class Spared:
    """It stays, and why, in words."""

    why: str


def may_go(
    resting: Resting, state: RunState, retention: Retention, now: datetime
) -> Removed | Spared:
    """How much of the run goes now. ``state`` is the fold of its journal, whatever of it is gone. What its row says
    makes a run stay, and never go: the row is covered by no chain, and what is removed is vouched for."""
    status = resting.ended
    if status is None or not state.is_ended:
        return Spared(NOT_ENDED)
    if state.ending != status:
        return Spared(ENDED_OTHERWISE)
    if resting.is_unvouched:
        return Spared(IS_UNVOUCHED)
    if resting.is_held:
        return Spared("somebody is at it")
    if resting.is_asked_about or _is_open(state):
        return Spared("what became of an effect is still asked")
    age = now - max(resting.moved_at, state.updated_at)
    if resting.is_undrawn and age < DRAWN_WITHIN:
        return Spared("its thread does not show its end yet")
    why = YOUNGER if state.updated_at > resting.moved_at else "it is not old enough"
    for removed in reversed(LEVELS[resting.level :]):
        if not retention.reached(removed, status, age):
            continue
        needed = _needed(removed, resting, state, now)
        if needed is None:
            return removed
        why = needed
    return Spared(why)


def is_over(resting: Resting, state: RunState, retention: Retention, now: datetime) -> bool:
    """Has the run been at rest for as long as anything of it is kept, by its journal and by its row?"""
    status = resting.ended
    if status is None or resting.is_unvouched or state.ending != status:
        return False
    age = now - max(resting.moved_at, state.updated_at)
    return not _is_open(state) and retention.reached("audit", status, age)


def _is_open(state: RunState) -> bool:
    """Is a call under way, or of one unknown what became of it?"""
    calls = state.calls.values()
    asked = (one.status == "pending" for one in state.approvals.values())
    return any(call.status in ("started", "unknown") for call in calls) or any(asked)


def _needed(removed: Removed, resting: Resting, state: RunState, now: datetime) -> str | None:
    """Why this much can't go yet, in words."""
    if removed == "payloads":
        return None
    if now - max(resting.started_at, state.started_at) < KEY_IS_YOUNG:
        return "a start that is delivered once more has to find it"
    if resting.is_newest and _has_summary(state):
        return "it holds the newest summary of its conversation"
    if removed == "transcripts":
        return None
    if resting.has_grant:
        return "a consent that was given there stands"
    match counting(resting.counts_in, uses_of(state), now):
        case Counts.STILL:
            return "what it used of a limit counts"
        case Counts.IN_ITS_SESSION if not resting.is_alone:
            return IN_ITS_CONVERSATION
        case Counts.NO_MORE | Counts.IN_ITS_SESSION:
            return None


def _has_summary(state: RunState) -> bool:
    return state.summary is not None or (state.past is not None and state.past.summary is not None)
