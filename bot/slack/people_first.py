"""People who wait for an acknowledgement go before runs and threads, which can wait a moment.

Slack gives three seconds, and a burst of clicks shares the process with whatever those clicks set going.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

#: Runs and threads get their turn so often in any case, in seconds.
TURN_SECONDS: Final = 2.0


@dataclass(slots=True)
class PeopleFirst:
    """May one loop take up something new? Always while nobody waits too long (``is_pressed``), else now and
    then. One for each loop; ``monotonic`` gives seconds."""

    is_pressed: Callable[[], bool]
    monotonic: Callable[[], float] = time.monotonic
    _turn_at: float = float("-inf")

    def __call__(self) -> bool:
        now = self.monotonic()
        if self.is_pressed() and now - self._turn_at < TURN_SECONDS:
            return False
        self._turn_at = now
        return True
