"""The scripts under ``examples/`` do what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "two_processes.py"), *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_run_waits_in_one_process_and_goes_on_in_another(tmp_path: Path) -> None:
    script = ROOT / "examples" / "two_processes.py"
    waits = f"It waits for a yes. Say it in another process: {sys.executable} {script} approve\n"
    assert run(tmp_path) == waits
    assert run(tmp_path, "approve") == "Ada's letter is on its way.\n"
    assert run(tmp_path, "approve") == "", "nothing waits any more"
