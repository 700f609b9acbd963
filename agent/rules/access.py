"""Who may start an agent's runs, say something to them, and hold or stop them: values in, yes or no out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from agent.rules.decisions import Decider
from agent.rules.parts import Approvers
from agent.rules.rule import People

#: What people do to an agent's runs. ``start`` is also taking a failed run on again; ``stop`` is also
#: holding a run and resuming it.
Doing = Literal["start", "steer", "stop"]

#: The time in which starts are counted; it moves on with the clock.
STARTS_WITHIN: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Access:
    """Who may do what to the runs of one agent. None: every full member of the workspace."""

    start: People | None = None
    steer: People | None = None
    stop: People | None = None

    def named_for(self, what: Doing) -> People | None:
        """Those who alone may do it; None where every full member may."""
        match what:
            case "start":
                return self.start
            case "steer":
                return self.steer
            case "stop":
                return self.stop

    def those_who_may(self, what: Doing) -> Approvers:
        """The same as they stand on what is asked."""
        named = self.named_for(what)
        if named is None:
            return Approvers(members=True)
        return Approvers(users=named.users, groups=named.groups)

    def may(self, what: Doing, by: Decider) -> bool:
        """May they? ``by`` is somebody who has been looked up: a full member, with the groups that they are
        in, or whoever holds the database. Whoever has no id that a list could name may nothing."""
        if by.authority == "operator":
            return True
        if by.authority != "listed" or by.user is None:
            return False
        named = self.named_for(what)
        return named is None or by.user in named.users or not by.groups.isdisjoint(named.groups)
