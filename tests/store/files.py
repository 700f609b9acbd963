"""Database files that have their tables already: to make those takes longer than most tests."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from store import open_store
from tests.store.outside import in_thread


def with_tables(path: Path) -> str:
    """The URL of the file, which is made with its tables unless it is there."""
    url = _url_of(path)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_new())
    return url


@cache
def _new() -> bytes:
    """What a store that was opened for the first time leaves."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pilothouse.db"

        async def open_once() -> None:
            await (await open_store(_url_of(path))).close()

        in_thread(open_once)
        return path.read_bytes()


def _url_of(path: Path) -> str:
    return f"sqlite:///{path}"
