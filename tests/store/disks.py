"""Disks that take no more, or nothing: for real."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_CHUNK = bytes(4096)


class SmallDisk:
    """A file system of its own, which a test can fill."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ballast = folder / "ballast"

    def fill(self) -> None:
        """Until nothing goes on it any more."""
        with self._ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(_CHUNK)
            except OSError:
                return

    def make_room(self) -> None:
        self._ballast.unlink()


@contextmanager
def small_disk(folder: Path, megabytes: int = 4) -> Iterator[SmallDisk]:
    """Mounted at ``folder``. Skips the test where we may not mount."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("only root can mount a small disk, where the kernel lets it")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def unwritable(folder: Path) -> Iterator[None]:
    """Nothing is made or taken away in the folder, also not by root. Skips the test where that can't be."""
    for command in (["chmod", "a-w"], *([["chattr", "+i"]] if os.geteuid() == 0 else [])):
        if subprocess.run([*command, str(folder)], capture_output=True).returncode != 0:
            pytest.skip("this file system knows no folders that root can't write")
    try:
        yield
    finally:
        if os.geteuid() == 0:
            subprocess.run(["chattr", "-i", str(folder)], check=True)
        subprocess.run(["chmod", "u+w", str(folder)], check=True)
