"""What is known beside a run's own journal when its calls are judged: as it stood when it was looked up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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


NOTHING_KNOWN = Circumstances()
