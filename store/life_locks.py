"""Files that a process has locked for as long as it lives.

A lock is taken first and then the path is looked at once more: whoever buries the dead takes files
away, and a lock on a file that is no longer there would be nobody's.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

from store.names import why_no_name


class LifeLock:
    """A lock that is held. The kernel drops it when the process ends."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Let go; the file stays, and says that somebody was here. Twice is once."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def remove(self) -> None:
        """Take the file away, then let go, also where it can't be taken away. Raises ``OSError``."""
        if self._descriptor is not None:
            try:
                self._path.unlink(missing_ok=True)
            finally:
                self.release()


class LifeLocks:
    """The locks of all processes on one store, as files in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def take(self, process_id: str) -> LifeLock | None:
        """The lock for a life that begins; None while somebody else has it."""
        for folder in (self._folder.parent, self._folder):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._path(process_id)
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            if not _lock(descriptor):
                os.close(descriptor)
                return None
            if _is_at(path, descriptor):
                return LifeLock(path, descriptor)
            os.close(descriptor)

    def take_over(self, process_id: str) -> LifeLock | None:
        """The lock of a process that has died; None when it lives, or is buried already."""
        path = self._path(process_id)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:
            # It is not there; or it is another user's, and nothing is known of it.
            return None
        if _lock(descriptor) and _is_at(path, descriptor):
            return LifeLock(path, descriptor)
        os.close(descriptor)
        return None

    def is_free(self, process_id: str) -> bool:
        """Is it known to be dead: the file is there, and nobody has it?"""
        lock = self.take_over(process_id)
        if lock is not None:
            lock.release()
        return lock is not None

    def ids(self) -> Iterator[str]:
        """All processes that are there, or were and are not buried. What can't be a lock of ours is
        none, so nobody takes it away."""
        if self._folder.is_dir():
            ours = (path for path in self._folder.iterdir() if self._may_be_ours(path))
            yield from sorted(unquote(path.name) for path in ours)

    def _may_be_ours(self, path: Path) -> bool:
        """Named as we name them, a file, and empty?"""
        name = unquote(path.name)
        if self._path(name) != path or why_no_name(name) is not None:
            return False
        try:
            found = path.lstat()
        except FileNotFoundError:
            return False
        return stat.S_ISREG(found.st_mode) and found.st_size == 0

    def _path(self, process_id: str) -> Path:
        # Quoted, also a leading dot, so that no id leads out of the folder.
        return self._folder / quote(process_id, safe="").replace(".", "%2E")


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    return os.path.samestat(there, os.fstat(descriptor))
