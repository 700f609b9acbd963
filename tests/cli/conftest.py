from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.__main__ import main
from tests.own_modules import own_modules_forgotten

__all__ = ["own_modules_forgotten"]


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class CommandLine:
    """The command line, in a folder of its own: called, each command is a process of its own."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def ledger(self) -> dict[str, float]:
        ledger: dict[str, float] = json.loads((self.folder / "data" / "ledger.json").read_text())
        return ledger

    @property
    def environment(self) -> dict[str, str]:
        ours = ("PILOTHOUSE_", "SLACK_")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
        return kept | {"PILOTHOUSE_DATA": str(self.folder / "data")} | self.settings

    def __call__(self, *arguments: str) -> Ended:
        ended = subprocess.run(
            [sys.executable, "-m", "bot", *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=50,
        )
        assert "Traceback" not in ended.stderr, ended.stderr
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    def beside(self, *arguments: str) -> subprocess.Popen[str]:
        """The same, without waiting for its end."""
        return subprocess.Popen(
            [sys.executable, "-m", "bot", *arguments],
            cwd=self.folder,
            env=self.environment | {"PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def inside(self, *arguments: str) -> Ended:
        """The same in this process, which is quicker."""
        for name in set(os.environ) - set(self.environment):
            self.monkeypatch.delenv(name)
        for name, value in self.environment.items():
            self.monkeypatch.setenv(name, value)
        self.monkeypatch.chdir(self.folder)
        self.monkeypatch.setattr(sys, "argv", ["pilothouse", *arguments])
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        said = self.capsys.readouterr()
        assert ended.value.code is None or isinstance(ended.value.code, int)
        return Ended(int(ended.value.code or 0), said.out, said.err)

    def ask(self, text: str) -> tuple[str, str]:
        """Start a run that stops at a question; its id and the question's."""
        run = self.inside("run", text, "--json").json
        assert run["status"] == "waiting"
        return run["id"], run["approvals"][0]


@pytest.fixture
def pilothouse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> CommandLine:
    return CommandLine(tmp_path, monkeypatch, capsys)
