"""What opened which thread, as Slack said when it was asked, or where it does not let us ask."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from agent.rules.ids import RunId
from bot.slack.ids import Address
from bot.slack.roots.under_way import UnderWay

#: The newest that were asked for.
_KEPT: Final = 10_000
#: Seconds for which nobody asks again where Slack lets us see nothing: we may be invited at any time.
CLOSED_SECONDS: Final = 60.0


@dataclass
class KnownRoots:
    """What this process has been told. The message that opens a thread stays whose it is. ``seconds`` is a monotonic
    clock."""

    seconds: Callable[[], float] = time.monotonic
    #: Which run it is of; and the message as it stands.
    asking: UnderWay[RunId | None] = field(default_factory=UnderWay)
    looking: UnderWay[Mapping[str, Any]] = field(default_factory=UnderWay)
    #: Whether a look at it is left for what people say to each other.
    allowing: UnderWay[bool] = field(default_factory=UnderWay)
    _known: dict[Address, RunId | None] = field(default_factory=dict)
    #: With whether it has been heard here.
    _asking_nothing: dict[Address, bool] = field(default_factory=dict)
    _closed: dict[str, float] = field(default_factory=dict)

    @property
    def known(self) -> Mapping[Address, RunId | None]:
        """None: no run of ours opened it."""
        return self._known

    def keep(self, root: Address, run_id: RunId | None) -> None:
        """Slack has said so."""
        while len(self._known) >= _KEPT:
            del self._known[next(iter(self._known))]
        self._known[root] = run_id

    def asks_nothing(self, root: Address) -> bool:
        """Is it known that no run will come of the message?"""
        return root in self._asking_nothing

    def has_begun_nothing(self, root: Address) -> bool:
        """Has the message been heard here, and nothing been started for it?"""
        return self._asking_nothing.get(root, False)

    def keep_asking_nothing(self, root: Address, *, is_heard: bool = False) -> None:
        """People talk to each other there, or it is gone, or it ``is_heard`` and nothing was started for it."""
        is_heard = is_heard or self.has_begun_nothing(root)
        while len(self._asking_nothing) >= _KEPT:
            del self._asking_nothing[next(iter(self._asking_nothing))]
        self._asking_nothing[root] = is_heard

    def is_closed(self, channel: str) -> bool:
        """Has Slack said just now that we may not look into the channel's threads?"""
        return self._closed.get(channel, self.seconds()) > self.seconds()

    def keep_closed(self, channel: str) -> None:
        """Slack will say no as often as it is asked, until somebody does something about it."""
        self._closed.pop(channel, None)
        while len(self._closed) >= _KEPT:
            del self._closed[next(iter(self._closed))]
        self._closed[channel] = self.seconds() + CLOSED_SECONDS
