"""The golden journals: runs as released versions wrote them, one JSON object a line.

They are never changed. A version that writes something new adds a file of its own.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from agent.rules.ids import EventId, RunId
from agent.rules.recorded import Recorded, load_event

JOURNALS = Path(__file__).parents[2] / "journals"


def read_golden(name: str) -> list[Recorded]:
    """The journal in ``tests/journals/NAME.jsonl``."""
    lines = (JOURNALS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [_recorded(json.loads(line)) for line in lines]


def _recorded(row: dict[str, Any]) -> Recorded:
    return Recorded(
        run_id=RunId(row["run_id"]),
        seq=row["seq"],
        id=EventId(row["id"]),
        at=datetime.fromisoformat(row["at"]),
        hash=row["hash"],
        event=load_event(row["event"]),
    )
