"""What everything here needs: a clock, ids, and who people are."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from agent.rules.decisions import Decider
from agent.rules.ids import Principal
from agent.rules.requesters import Requester


class Clock(Protocol):
    """The store's clock: the one that judges."""

    def now(self) -> datetime:
        """Aware, in UTC."""


class Ids(Protocol):
    """Makes names that nobody has used."""

    def new(self, prefix: str) -> str:
        """``prefix_…``, ordered by time."""

    def event(self) -> str:
        """A UUIDv7."""


class Directory(Protocol):
    """Who people are, at this moment."""

    async def find(self, principal: Principal, groups: Collection[str]) -> Decider | None:
        """This principal as a decider, with those of ``groups`` that they are in; None when they
        can't be looked up, or may decide nothing any more."""

    async def requester(self, principal: Principal, groups: Collection[str]) -> Requester:
        """Who that is to a condition of the policy, with those of ``groups`` that they are in. What can't be found
        out is None there, with the reason; nothing is raised for it."""
