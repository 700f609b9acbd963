"""The demo's files: one demo at a time uses a folder."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.errors import PilothouseError

DATABASE = "pilothouse.db"
SANDBOX = "sandbox.json"

#: Everything that a demo writes, and nothing else: ``--fresh`` deletes these.
_FILES = (
    *(f"{DATABASE}{suffix}" for suffix in ("", "-wal", "-shm", "-journal")),
    *(SANDBOX, f"{SANDBOX}.new", "shop.json", "shop.lock", "ledger.json"),
)
_FOLDERS = ("processes",)


class FolderInUse(PilothouseError):
    """Another demo uses this folder."""

    code = "folder_in_use"

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"A demo uses {folder} already. Nothing was started; end it, or choose another folder "
            "with --data."
        )
        self.folder = folder


class FolderUnusable(PilothouseError):
    """Nothing can be kept in this folder."""

    code = "folder_unusable"

    def __init__(self, folder: Path, error: OSError) -> None:
        super().__init__(
            f"{folder} can't be used: {error.strerror}. Nothing was started; choose another folder "
            "with --data."
        )
        self.folder = folder


@contextmanager
def held_folder(folder: Path, *, fresh: bool = False) -> Iterator[Path]:
    """The folder, held until the block ends (or the process does). ``fresh`` begins anew.

    Raises ``FolderInUse``, ``FolderUnusable``."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        opened = (folder / "demo.lock").open("w")
    except OSError as error:
        raise FolderUnusable(folder, error) from error
    with opened as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FolderInUse(folder) from error
        if fresh:
            _clear(folder)
        yield folder


def _clear(folder: Path) -> None:
    for name in _FILES:
        (folder / name).unlink(missing_ok=True)
    for log in folder.glob("bot-*.log"):
        log.unlink()
    for name in _FOLDERS:
        shutil.rmtree(folder / name, ignore_errors=True)
