"""What the outside allows all processes together: so much at once, then one every so often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Rate:
    """One ``every`` so often; after a rest, ``burst`` at once. Within any span there are at most
    ``burst`` + span / ``every``."""

    every: timedelta
    burst: int


@dataclass(frozen=True, slots=True)
class Take:
    """One of what this key counts. ``reserve`` are left for what is more urgent."""

    key: str
    rate: Rate
    reserve: int = 0


class Allowances(Protocol):
    """What all processes on this store take from together, by the store's clock. Keys are opaque."""

    async def take(self, wanted: Sequence[Take]) -> timedelta:
        """Nothing: one of each was taken. Else none was, and so long it is of no use to ask again. Of keys
        that are taken together the broader one has to be the smaller as a text, whoever takes them."""

    async def withhold(self, key: str, span: timedelta) -> None:
        """Nobody gets any for so long; then one, and no burst. It is forgotten where the clock is set back
        to before it was said."""
