"""One thing that is to be put right beside a journal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class Repair:
    """What is wrong, in words, and the write that mends it."""

    words: str
    do: Callable[[Connection], object]
    #: False for what an older build has left out, because it knows nothing of it, and for what can be told by a
    #: journal alone.
    is_wrong: bool = True
