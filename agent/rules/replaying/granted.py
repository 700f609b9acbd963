"""The grants that a run's journal names, once more: did they hold for its calls when it said so?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from agent.rules.control import GrantGiven, GrantRevoked, RecordedControl
from agent.rules.events import ApprovalDecided, CallJudged, CallStarted, Event
from agent.rules.grants import is_about
from agent.rules.ids import GrantId
from agent.rules.state import RunState

#: Two processes stamp what they record by clocks that are so close. The store's own judged what was recorded.
_CLOCKS = timedelta(seconds=1)
#: A revocation is stamped before it is recorded, and may wait so long for what others record.
_ON_ITS_WAY = timedelta(seconds=5)


def named_in(event: Event) -> GrantId | None:
    """The consent that the event names."""
    match event:
        case CallJudged():
            return event.verdict.grant
        case CallStarted() | ApprovalDecided():
            return event.grant
        case _:
            return None


@dataclass(slots=True)
class Consents:
    """Those of a control journal, with the time of each fact."""

    facts: Iterable[RecordedControl]
    _given: dict[GrantId, tuple[GrantGiven, datetime]] = field(default_factory=dict)
    _revoked: dict[GrantId, datetime] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for one in self.facts:
            match one.event:
                case GrantGiven() as given:
                    self._given.setdefault(given.grant_id, (given, one.at))
                case GrantRevoked(grant_id=grant_id):
                    self._revoked.setdefault(grant_id, one.at)
                case _:
                    pass

    def instead_of(self, event: Event, state: RunState, at: datetime) -> str | None:
        """Why the consent that ``event`` names is none of its call; None where it is, or none is named."""
        grant_id = named_in(event)
        if grant_id is None:
            return None
        if grant_id not in self._given:
            return "no grant: nobody gave that"
        given, given_at = self._given[grant_id]
        if isinstance(event, ApprovalDecided):
            return None if given.by == event.by else "a grant of whoever decided"
        revoked_at, expires_at = self._revoked.get(grant_id), given.expires_at
        is_revoked = revoked_at is not None and at > revoked_at + _ON_ITS_WAY
        is_expired = expires_at is not None and at > expires_at + _CLOCKS
        if at < given_at - _CLOCKS or is_revoked or is_expired:
            return "no grant: it did not hold then"
        assert isinstance(event, CallJudged | CallStarted)
        call = state.call(event.call_id)
        args = event.args if isinstance(event, CallJudged) else call.args
        return None if is_about(given, call.tool, args, state) else "a grant for this call"
