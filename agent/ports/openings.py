"""Threads that are opened before their run begins, so that none is begun where nothing can be shown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from agent.rules.ids import RunId


@dataclass(frozen=True, slots=True)
class Opening:
    """The thread of a run that has not begun."""

    run_id: RunId
    #: Where the message that opens it is posted.
    place: str
    #: Before the message was sent.
    begun_at: datetime


class Openings(Protocol):
    """What is being opened. The start of the run ends it (``Journal.start``, ``root``), or it is given up: one or the
    other, whoever is first."""

    async def begin(self, run_id: RunId, place: str) -> None:
        """The message is about to be sent; durable when it returns."""

    async def is_open(self, run_id: RunId) -> bool:
        """May this run begin yet?"""

    async def give_up(self, older: timedelta, *, limit: int) -> list[Opening]:
        """Those begun longer ago than that, the oldest first: none of these runs begins any more. Each is told of
        again until it is forgotten."""

    async def forget(self, run_id: RunId) -> None:
        """Nothing of it is left that says something else; the run does not begin."""
