"""For how long it counts what an ended run used of a limit. Pure.

A limit's key names the window in which a call was judged: once that is over, no call is judged by the key any more.
The verdict of the call, which is kept with its journal, says when that is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta
from enum import Enum

from agent.rules.parts import LimitUse
from agent.rules.state import RunState

#: A call that was judged just before the end of a window may be started behind it, and clocks differ.
JUDGED_LATE = timedelta(days=1)


class Counts(Enum):
    """Does it still?"""

    NO_MORE = "no more"
    #: Until all runs of its conversation are old enough to go.
    IN_ITS_SESSION = "in its session"
    STILL = "still"


def counting(limits: Collection[str], uses: Iterable[LimitUse], now: datetime) -> Counts:
    """What an ended run used of these limits, by their keys; ``uses`` is what its calls' verdicts say of limits.
    What is not known counts for good."""
    known = {use.key: use for use in uses}
    found = {_counts(known.get(key), now) for key in limits}
    for one in (Counts.STILL, Counts.IN_ITS_SESSION):
        if one in found:
            return one
    return Counts.NO_MORE


def uses_of(state: RunState) -> Iterator[LimitUse]:
    for call in state.calls.values():
        if call.verdict is not None and call.verdict.limit is not None:
            yield call.verdict.limit


def _counts(use: LimitUse | None, now: datetime) -> Counts:
    if use is None:
        return Counts.STILL
    if "run" in use.per or (use.until is not None and now >= use.until + JUDGED_LATE):
        return Counts.NO_MORE
    return Counts.IN_ITS_SESSION if "session" in use.per else Counts.STILL
