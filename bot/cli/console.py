"""Where commands write: results to the standard output, everything else to the error output."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

UNBOUNDED = 100_000


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
