"""Where the results of a run's calls came from, when not from running the call just then. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent.rules.events import (
    ApprovalDecided,
    CallLookedUp,
    CallRefused,
    CallReturned,
    CallStarted,
    RunReopened,
)
from agent.rules.ids import CallId
from agent.rules.recorded import Recorded


def origins(events: Iterable[Recorded]) -> Mapping[CallId, str]:
    """``looked up``: the outside system was asked afterwards whether it happened. ``reused``: recorded
    before the run was last taken up again, and not made a second time."""
    known: dict[CallId, str] = {}
    returned: set[CallId] = set()
    before: Recorded | None = None
    for recorded in events:
        event = recorded.event
        if isinstance(event, CallReturned):
            returned.add(event.call_id)
            if event.is_found:
                known[event.call_id] = "looked up"
        elif _takes_up_again(recorded, before):
            known |= {call_id: "reused" for call_id in returned if call_id not in known}
        before = recorded
    return known


def refusals(events: Iterable[Recorded]) -> Mapping[CallId, CallRefused]:
    """Why calls were refused, where the policy or the run itself did not let them begin."""
    refused = (one.event for one in events if isinstance(one.event, CallRefused))
    # What a dry run does not carry out nobody has refused.
    return {event.call_id: event for event in refused if event.code != "dry_run"}


def _takes_up_again(recorded: Recorded, before: Recorded | None) -> bool:
    """Did the run stand still before this, or had whoever worked it gone?"""
    match recorded.event:
        case RunReopened() | CallLookedUp():
            return True
        case CallStarted(attempt=attempt):
            return attempt > 1
        case ApprovalDecided(authority=authority):
            # What somebody's earlier word decides is written together with the question.
            is_at_once = before is not None and before.at == recorded.at
            return authority != "code" and not is_at_once
        case _:
            return False
