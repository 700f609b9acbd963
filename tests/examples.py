"""How many examples are tried of what is made up, and how densely whatever is swept is swept.

``make check-long`` sets ``PILOTHOUSE_TESTS=long`` and tries many more.
"""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")

#: So many times as many.
_LONG = 10

IS_LONG = os.environ.get("PILOTHOUSE_TESTS") == "long"


def examples(count: int) -> int:
    return count * _LONG if IS_LONG else count


def every(nth: int) -> int:
    """Of a sweep, each ``nth`` point."""
    return 1 if IS_LONG else nth


def long_only(*values: T) -> tuple[T, ...]:
    """What is tried besides where there is time."""
    return values if IS_LONG else ()
