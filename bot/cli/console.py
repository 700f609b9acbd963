"""Where commands write: results to the standard output, everything else to the error output."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent.rules.counted import counted

if TYPE_CHECKING:
    from rich.table import Table

UNBOUNDED = 100_000
#: Whoever waits for longer hears how far it is, again and again.
TOLD_EVERY_SECONDS = 10.0


def say(text: str = "") -> None:
    """A line of the result, as it is."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def say_json(value: Any) -> None:
    """The result for a program."""
    say(json.dumps(value, ensure_ascii=False, indent=2))


def say_table(table: Table) -> None:
    """A table, as wide as the terminal; as wide as it needs where there is none."""
    from rich.console import Console
    from rich.measure import Measurement

    console = Console()
    if not console.is_terminal:
        unbounded = console.options.update(max_width=UNBOUNDED)
        console = Console(width=Measurement.get(console, unbounded, table).maximum)
    console.print(table, highlight=False)


def note(text: str) -> None:
    """A line that is not part of the result."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def so_far(*what: str) -> Callable[..., None]:
    """What is to be told how far something is, in numbers of each of ``what``: every now and then it says so."""
    told_at = time.monotonic()

    def tell(*numbers: int) -> None:
        nonlocal told_at
        if (now := time.monotonic()) - told_at >= TOLD_EVERY_SECONDS:
            told_at = now
            many = map(counted, numbers, what)
            note(f"So far: {', '.join(many)}.")

    return tell
