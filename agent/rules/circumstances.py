"""What is known beside a run's own journal when its calls are judged: as it stood when it was looked up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.rules.requesters import UNKNOWN, Requester
from agent.rules.standing import Grant


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Looked up right before calls are judged, steered, or begun. Nothing said: nothing is known."""

    #: Those in force that may cover the run's calls.
    grants: Sequence[Grant] = ()
    #: Who asked for the run, where a rule asks what has to be looked up of them.
    requester: Requester = UNKNOWN


NOTHING_KNOWN = Circumstances()
