"""Which run opened which thread, as Slack said when it was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from agent.rules.ids import RunId
from bot.slack.ids import Address

#: The newest that were asked for.
_KEPT: Final = 10_000


@dataclass
class KnownRoots:
    """What this process has been told. The message that opens a thread stays whose it is."""

    _known: dict[Address, RunId | None] = field(default_factory=dict)
    _asking_nothing: dict[Address, None] = field(default_factory=dict)

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
        """Is it known that the message asks us for no run?"""
        return root in self._asking_nothing

    def keep_asking_nothing(self, root: Address) -> None:
        """People talk to each other there."""
        while len(self._asking_nothing) >= _KEPT:
            del self._asking_nothing[next(iter(self._asking_nothing))]
        self._asking_nothing[root] = None
