"""Started where a file hides a part of Python or of ours, it names that file, and does not fail for no reason."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def started_in(folder: Path) -> tuple[int, str]:
    ran = subprocess.run(
        [sys.executable, "-m", "bot", "runs", "--help"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    return ran.returncode, ran.stderr


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("logging.py", "logging.py stands in the place of Python's own logging. Give it another"),
        ("store.py", "Pilothouse's package 'store' should be"),
    ],
)
def test_a_file_that_hides_what_is_needed_is_named(tmp_path: Path, file: str, said: str) -> None:
    (tmp_path / file).write_text("orders = {}\n")
    code, err = started_in(tmp_path)
    assert code == 1
    assert said in err
    assert "Traceback" not in err


def test_a_file_that_hides_what_nobody_needs_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / "turtledemo.py").write_text("orders = {}\n")
    assert started_in(tmp_path) == (0, "")
