"""How many of something, in words."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """``1 run``, ``2,000 runs``; ``what`` is one of them, whose plural takes an s."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
