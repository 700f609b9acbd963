"""What is known beside a run's own journal when its calls are judged: as it stood when it was looked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from agent.rules.requesters import UNKNOWN, Requester
from agent.rules.standing import Grant, Switch


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Looked up right before calls are judged, steered, or begun. Nothing said: nothing is known."""

    #: The control journal's newest fact that can change a verdict, as it was before the rest was looked up: what
    #: starts by this is refused once there is a newer one. None: not looked up, and nothing starts by it.
    verdict_seq: int | None = None
    #: The switches that are on.
    switches: Sequence[Switch] = ()
    #: Those in force that may cover the run's calls.
    grants: Sequence[Grant] = ()
    #: What is used of the limits that the calls may touch, by their keys, in the windows in which ``at`` lies.
    used: Mapping[str, Decimal] = field(default_factory=dict)
    #: The store's time then. None: no limit was looked up.
    at: datetime | None = None
    #: The limits of which the call that is judged has something already.
    held: frozenset[str] = frozenset()
    #: Who asked for the run, where a rule asks what has to be looked up of them.
    requester: Requester = UNKNOWN


NOTHING_KNOWN = Circumstances()
