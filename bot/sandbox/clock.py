"""The sandbox's time. Whatever judges time in it reads this, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    """Seconds since 1970, as a float; `source` may be a moment at which the clock stands still."""

    def __init__(self, source: Callable[[], float] | float | None = None) -> None:
        self._source = source if source is not None else time.time
        #: How far this clock is ahead of its source.
        self.ahead = 0.0

    def __call__(self) -> float:
        now = self._source() if callable(self._source) else self._source
        return now + self.ahead

    def forward(self, seconds: float) -> None:
        """Move on: what was to expire by then has expired."""
        self.ahead += seconds
