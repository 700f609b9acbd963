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


def assert_part_of(written: object, dumped: object) -> None:
    """Everything of ``written`` stands in ``dumped``, at every depth."""
    if isinstance(written, dict) and isinstance(dumped, dict):
        for key, value in written.items():
            assert key in dumped
            assert_part_of(value, dumped[key])
    elif isinstance(written, list) and isinstance(dumped, list):
        for one, other in zip(written, dumped, strict=True):
            assert_part_of(one, other)
    else:
        assert written == dumped
