"""A file as it is now, and whether somebody is at work on it: read until two looks agree.

It is read, not watched: so it does not matter how it comes to be another one, written in place, put in its place,
or behind a link that points elsewhere now.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

#: Between two looks that must agree. An editor that writes in place is done by then.
SETTLES_SECONDS = 0.5
#: The same for a file that is gone or empty: that is how many editors begin.
GONE_SECONDS = 2.0
#: Somebody who writes it all the time is not waited for any longer.
LOOKS_LIMIT = 6


@dataclass(frozen=True, slots=True)
class Look:
    """What stood in the file at one look."""

    #: None where it can't be read: then ``why`` says so.
    content: bytes | None
    written_at: datetime | None = None
    why: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 in hex; of the reason, where it can't be read."""
        return hashlib.sha256(
            self.why.encode() if self.content is None else self.content
        ).hexdigest()


def look_at(path: Path) -> Look:
    """One look; it may take as long as the disk does."""
    try:
        with path.open("rb") as file:
            content, written = file.read(), os.fstat(file.fileno()).st_mtime
    except OSError as error:
        return Look(None, why=f"{path} can't be read: {error.strerror}.")
    return Look(content, datetime.fromtimestamp(written, UTC))


async def settled(path: Path, is_news: Callable[[Look], bool]) -> Look | None:
    """What stands in it, once two looks agree; None where that is no news, or it does not come to rest."""
    seen = await asyncio.to_thread(look_at, path)
    for _ in range(LOOKS_LIMIT):
        if not is_news(seen):
            return None
        await asyncio.sleep(SETTLES_SECONDS if seen.content else GONE_SECONDS)
        again = await asyncio.to_thread(look_at, path)
        if again.digest == seen.digest:
            return again
        seen = again
    return None
