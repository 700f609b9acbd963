"""How far Slack's clock and the store's are apart.

What is said is told by Slack's, and what people do to a run is recorded by the store's: of two that are compared, one
has to be put in the other's terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

#: Clocks that are set by the network differ by less. A first message that comes late says no more than this.
_MOST: Final = timedelta(seconds=5)


@dataclass
class Apart:
    """By what a process has heard of Slack: nothing is heard before it is said, and most at once."""

    _least: timedelta | None = None

    def heard(self, said_at: datetime, now: datetime) -> None:
        """Something that was said then by Slack's clock is there ``now``, by the store's."""
        late = now - said_at
        self._least = late if self._least is None else min(self._least, late)

    def by_store(self, said_at: datetime) -> datetime:
        """The moment by the store's clock, so far as it is known: nothing counts as later than the quickest of what
        was heard would have it."""
        return said_at + max(-_MOST, min(_MOST, self._least or timedelta()))
