"""What processes have used of the processors: that says the same on a busy machine as on a quiet one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def seconds_used(processes: Iterable[int]) -> float:
    """By all of these (their ids) together, in all their threads; zero where the system does not tell."""
    used = [_ticks(process) for process in processes]
    return sum(used) / os.sysconf("SC_CLK_TCK")


def _ticks(process: int) -> int:
    stat = Path(f"/proc/{process}/stat")
    if not stat.exists():
        return 0
    # The name before the bracket may hold anything.
    _, _, rest = stat.read_text().rpartition(") ")
    in_user, in_system = rest.split(" ")[11:13]
    return int(in_user) + int(in_system)
