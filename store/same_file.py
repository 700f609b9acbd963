"""Is the database file still the one that was opened?

A file that was moved away or replaced while it is open is written on by whoever has it open, and nobody would
ever find what was written. SQLite does not notice; so it is looked at before each transaction and each read.
"""

from __future__ import annotations

import os
from pathlib import Path

from agent.errors import StoreUnavailable


class SameFile:
    """The file that is at ``path`` when this is made, or once there is one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = os.stat(path) if path.exists() else None

    def must_be_there(self) -> None:
        """Raises ``StoreUnavailable``. A file that is put back is the same."""
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            if self._known is None:
                return
            raise StoreUnavailable(
                f"The database file {self._path} is not there any more. Put it back."
            ) from None
        self._known = self._known or found
        if not os.path.samestat(found, self._known):
            raise StoreUnavailable(
                f"The database file {self._path} is another one than was opened. Put the first one"
                " back, or stop all processes on it and start them again to go on with this one."
            )
