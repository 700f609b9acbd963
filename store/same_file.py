"""Are the database file and those beside it still the ones that were opened?

A file that was moved away or replaced while it is open is written on by whoever has it open, and nobody would
ever find what was written. SQLite does not notice; so it is looked at before each transaction and each read.
The same holds of the files in which it keeps what is newest (``-wal``) and who reads and writes (``-shm``): they
are there for as long as anybody has a connection.
"""

from __future__ import annotations

import os
from pathlib import Path

from agent.errors import StoreUnavailable


class SameFile:
    """The file that is at ``path`` when this is made, or once there is one; and those beside it, once a connection
    has them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = os.stat(path) if path.exists() else None
        self._beside: dict[str, os.stat_result | None] = {
            f"{path}{ending}": None for ending in ("-wal", "-shm")
        }
        self._connections = 0
        self._lacks_one = False

    def opened(self) -> None:
        """There is one more connection to it, which has the files beside it: it has read."""
        self._connections += 1

    def closed(self) -> None:
        """There is one less. Behind the last one SQLite takes the files beside it away, as it should."""
        self._connections -= 1
        if not self._connections and not self._lacks_one:
            self._beside = dict.fromkeys(self._beside)

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
        self._must_have_those_beside()

    def _must_have_those_beside(self) -> None:
        for name, known in self._beside.items():
            found = _stat(name)
            if known is None:
                # Without a connection they are those of others, who take them away behind their last one.
                self._beside[name] = found if self._connections else None
            elif found is None or not os.path.samestat(found, known):
                self._lacks_one = True
                raise StoreUnavailable(
                    f"The file {name} was taken away or replaced while the database was open. Put it back, or"
                    " stop all processes on the database and start them again."
                )
        self._lacks_one = False


def _stat(name: str) -> os.stat_result | None:
    try:
        return os.stat(name)
    except FileNotFoundError:
        return None
