"""A test on a database that is always there either runs or fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
TEST = "import pytest\n\ndef test_it(kind): pytest.skip('no server')\n"


def test_one_that_skips_has_failed(tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text(TEST)
    ended = subprocess.run(
        (sys.executable, "-m", "pytest", "-q", "-p", "tests.databases", str(test)),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert ended.returncode == 1
    assert "2 failed" in ended.stdout
