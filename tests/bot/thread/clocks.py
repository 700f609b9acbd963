"""A clock that stands still until a test moves it."""

from __future__ import annotations

import os
import struct
from datetime import UTC, datetime, timedelta
from pathlib import Path

_FORMAT = "d"
_BEGINNING = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


class SteppedClock:
    """The store's, the sandbox's and the drawers'; those of other processes, too, once it is ``shared``."""

    def __init__(self) -> None:
        self._now = _BEGINNING
        self._shared: Path | None = None

    def now(self) -> datetime:
        return self._now

    def seconds(self) -> float:
        return self._now.timestamp()

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
        self._tell()

    def shared(self, path: Path) -> Path:
        """The file in which it stands from now on: see ``SharedClock``."""
        self._shared = path
        self._tell()
        return path

    def _tell(self) -> None:
        if self._shared is not None:
            with os.fdopen(os.open(self._shared, os.O_WRONLY | os.O_CREAT), "wb") as file:
                file.write(struct.pack(_FORMAT, self.seconds()))


class SharedClock:
    """Another process's, as it stands at this moment."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDONLY)

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.seconds(), UTC)

    def seconds(self) -> float:
        (seconds,) = struct.unpack(_FORMAT, os.pread(self._file, struct.calcsize(_FORMAT), 0))
        return float(seconds)
