"""The store's clock: the one that judges expiry, leases and what is due."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """This host's clock. A SQLite file is one host's, so every process on it reads the same."""

    def now(self) -> datetime:
        return datetime.fromtimestamp(time.time(), UTC)
