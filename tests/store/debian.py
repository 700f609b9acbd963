"""Debian's PostgreSQL, where it is installed: an older one than the one we bring."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.store.server import Server

_INSTALLED = Path("/usr/lib/postgresql")


def newest() -> Path | None:
    """Where its programs are."""
    found = _INSTALLED.glob("*/bin/postgres")
    return max((path.parent for path in found), key=_version, default=None)


def _version(programs: Path) -> int:
    return int(programs.parent.name)


class _Cluster:
    """One in a folder of its own, reached by a socket in it."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs = programs
        self._folder = folder
        self._do("initdb", "--auth=trust", "--encoding=utf8", "--username=postgres", "-D", "data")
        self.start()

    @property
    def uri(self) -> str:
        return f"postgresql://postgres@/postgres?host={self._folder}"

    def start(self) -> None:
        options = f"-h '' -k {self._folder}"
        self._do("pg_ctl", "-w", "-D", "data", "-l", "log", "-o", options, "start")

    def kill(self) -> None:
        self._do("pg_ctl", "-w", "-D", "data", "-m", "immediate", "stop")

    def _do(self, program: str, *arguments: str) -> None:
        command = [*_as_nobody(), str(self._programs / program), *arguments]
        subprocess.run(command, cwd=self._folder, check=True, stdout=subprocess.DEVNULL, timeout=30)


def _as_nobody() -> list[str]:
    """It refuses to run as root."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]


@contextmanager
def debian_server() -> Iterator[Server]:
    programs = newest()
    assert programs is not None, "asked for only where it is installed"
    # Not in a folder of the session's: nobody can reach those of root.
    with tempfile.TemporaryDirectory(prefix="pilothouse-pg-") as name:
        if os.geteuid() == 0:
            shutil.chown(name, "nobody", "nogroup")
        cluster = _Cluster(programs, Path(name))
        try:
            server = Server(cluster)
            yield server
            server.close()
        finally:
            cluster.kill()
