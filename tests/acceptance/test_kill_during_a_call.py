"""SIGKILL during a model request, a read, an idempotent and a once call.

The lease has a term of an hour: that the run goes on within seconds shows that a dead process is
known at once.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tests.databases import NewDatabase


async def victim(url: str, folder: Path, stage: str) -> tuple[int, dict[str, Any] | None]:
    """One process from start to end: its exit code, and the run as it left it."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.acceptance.victim", url, str(folder), stage),
        stdout=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(40):
        out, _ = await process.communicate()
    return process.returncode or 0, json.loads(out) if out else None


def effects(folder: Path) -> Counter[str]:
    return Counter(line.split()[0] for line in (folder / "effects").read_text().splitlines())


async def killed_and_started_again(url: str, folder: Path, stage: str) -> dict[str, Any]:
    code, _ = await victim(url, folder, stage)
    assert code == -signal.SIGKILL, f"{stage}: it was to die"
    code, run = await victim(url, folder, stage)
    assert code == 0
    assert run is not None
    return run


async def test_a_run_goes_on_after_a_kill_and_each_effect_happens_once(
    tmp_path: Path, new_database: NewDatabase
) -> None:
    looks = {
        # The result of a read waits for the next commit: killed right behind it, it is run again.
        "model": 2,
        "read": 2,
        "idempotent-before": 1,
        "idempotent-after": 1,
        "once-before": 1,
        "once-after": 1,
    }

    async def check(stage: str) -> None:
        folder = tmp_path / stage
        folder.mkdir()
        with new_database() as url:
            run = await killed_and_started_again(url, folder, stage)
        assert run["answer"] == "done", stage
        assert effects(folder) == {"look": looks[stage], "put": 1, "send": 1}, stage

    # Side by side: each waits for a deadline, and none for another.
    await asyncio.gather(*(check(stage) for stage in looks))


async def test_an_effect_that_can_not_be_looked_up_is_asked_of_a_person(tmp_path: Path) -> None:
    async def check(stage: str, sent: int) -> None:
        folder = tmp_path / stage
        folder.mkdir()
        (folder / "blind").touch()
        run = await killed_and_started_again(f"sqlite:///{folder / 'runs.db'}", folder, stage)
        assert (run["status"], run["waiting_for"]) == ("waiting", "approvals"), stage
        assert effects(folder)["send"] == sent, stage

    await asyncio.gather(check("once-before", 0), check("once-after", 1))
