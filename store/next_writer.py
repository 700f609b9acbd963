"""Who writes a file next, where several processes do: whoever has waited long.

A file's write lock goes to who asks in the instant in which it is free. A process that writes again and again
without a pause asks in each of them, and another's looks come too late for seconds. So whoever has waited long
locks a file that stands for the next turn; the others look at it before they ask, and let it go ahead. The
kernel drops the lock when its process ends.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

NAME = "next-writer"
#: So long one asks like all others.
LONG = timedelta(milliseconds=30)
#: So long the others let whoever is next go ahead. It looks many times in it, unless it is stopped or the
#: write lock is somebody's: then they ask again.
COURTESY = timedelta(milliseconds=150)
#: Whoever did not use it is not waited for so long: it is stopped. It is no longer, as it may go on at any time, and
#: would have to write among all others.
PASSED_OVER = 10 * COURTESY


class NextWriter:
    """The next turn on one file. Used by one thread of each process."""

    def __init__(
        self,
        folder: Path,
        *,
        long: timedelta = LONG,
        courtesy: timedelta = COURTESY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``clock`` in seconds, of whatever begin."""
        self._path = folder / NAME
        self._long, self._courtesy = long.total_seconds(), courtesy.total_seconds()
        self._clock = clock
        self._descriptor: int | None = None
        self._began_at = 0.0
        self._gave_way_at: float | None = None
        #: Has the courtesy just passed, and nothing spoken against it that nobody wrote in it?
        self._was_unused = False
        self._passes_over_until: float | None = None
        self._is_mine = False

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While one waits for the write lock. At its end the turn is somebody else's."""
        self._began_at, self._gave_way_at, self._was_unused = self._clock(), None, False
        try:
            yield
            if self._was_unused:
                self._passes_over_until = self._clock() + PASSED_OVER.total_seconds()
        finally:
            if self._is_mine:
                self._is_mine = False
                self._lock(fcntl.LOCK_UN)

    def has_turn(self) -> bool:
        return self._is_mine

    def may_ask(self) -> bool:
        """May the write lock be asked for now? Raises nothing: without the file all ask as they like."""
        if self._is_mine:
            return True
        now = self._clock()
        # Asked again: somebody has the write lock, and whoever is next could not use its turn.
        self._was_unused = False
        if now - self._began_at >= self._long and self._lock(fcntl.LOCK_EX):
            self._is_mine = True
            return True
        if self._is_free():
            self._gave_way_at = self._passes_over_until = None
            return True
        if self._passes_over_until is not None and now < self._passes_over_until:
            return True
        if self._gave_way_at is None:
            self._gave_way_at = now
        if now - self._gave_way_at < self._courtesy:
            return False
        self._gave_way_at, self._was_unused = now, True
        return True

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _is_free(self) -> bool:
        """Is nobody next? Whoever asks has it for the instant together with all who ask."""
        if not self._lock(fcntl.LOCK_SH):
            return False
        self._lock(fcntl.LOCK_UN)
        return True

    def _lock(self, how: int) -> bool:
        try:
            if self._descriptor is None:
                self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
                self._descriptor = os.open(self._path, flags, 0o600)
            fcntl.flock(self._descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            # No such file can be had: then it is as if nobody were next.
            return how != fcntl.LOCK_EX
        return True
