"""One bot process of the demo: started, watched, started again when it dies."""

from __future__ import annotations

import asyncio
import os
import re
import site
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals

import aiohttp

from agent.errors import PilothouseError
from bot.settings import DEMO_CONFIG

Say = Callable[[str], None]

#: What ``serve`` says when it listens.
ANNOUNCED = re.compile(r"^bot (\S+) listens on http://\S+:(\d+)$")
#: A line of its log, which is not what it says of a mistake.
LOGGED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ ")
MISTAKES_SHOWN = 20
WRONG_USE = 2
PROBE_SECONDS = 0.05
#: For calls in flight when a bot is told to end.
DRAIN_SECONDS = 5
#: Between a death and the next start; doubled each time, from anew after a while of life.
FIRST_DELAY, LONGEST_DELAY, LONG_LIFE = 0.2, 5.0, 10.0
_ROOT = Path(__file__).resolve().parent.parent.parent


class CannotServe(PilothouseError):
    """A bot can't be started with these settings; trying again would not help."""

    code = "cannot_serve"


class Child:
    """Bot number ``number``; ``fd`` is the tether that ends it with us."""

    def __init__(
        self, number: int, folder: Path, environment: Mapping[str, str], fd: int, say: Say
    ) -> None:
        self._number = number
        self._folder = folder
        self._environment = environment
        self._fd = fd
        self._say = say
        self._process: asyncio.subprocess.Process | None = None
        self._port = 0
        self._log = folder / f"bot-{number}.log"
        self._ending = asyncio.Event()
        #: Set once it has been ready.
        self.is_ready = asyncio.Event()

    async def run(self) -> None:
        """Keep it running until it is asked to end; when cancelled, kill it. Raises ``CannotServe``."""
        delay = FIRST_DELAY
        try:
            while not self._ending.is_set():
                born, begins = time.monotonic(), self._log_size()
                name, code = await self._live()
                if self._ending.is_set():
                    return
                if code == WRONG_USE:
                    said = self._said_since(begins)
                    raise CannotServe(f"Bot {self._number} can't be started: {said}")
                if time.monotonic() - born > LONG_LIFE:
                    delay = FIRST_DELAY
                self._say(f"bot {self._number} ({name}) {_ended(code)}; it is started again")
                await asyncio.sleep(delay)
                delay = min(2 * delay, LONGEST_DELAY)
        finally:
            await self._kill()

    def ask_to_end(self) -> None:
        """It finishes what it is doing, ends, and is not started again."""
        self._ending.set()
        self._signal(SIGTERM)

    async def ended(self) -> None:
        if self._process is not None:
            await self._process.wait()

    async def _live(self) -> tuple[str, int]:
        """One life, from start to end: its process's id and how it ended."""
        with self._log.open("ab") as log:
            self._process = process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "bot", "serve", "--parent-fd", str(self._fd)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                cwd=self._folder,
                env=self._environment,
                pass_fds=(self._fd,),
                # A Ctrl-C in the terminal is ours to pass on.
                start_new_session=True,
            )
        assert process.stdout is not None
        name = f"process {process.pid}"
        probe: asyncio.Task[None] | None = None
        try:
            async for line in process.stdout:
                if announced := ANNOUNCED.match(line.decode().strip()):
                    name, self._port = announced[1], int(announced[2])
                    self._say(
                        f"bot {self._number}: {name} (pid {process.pid}) "
                        f"on http://127.0.0.1:{self._port}"
                    )
                    probe = asyncio.create_task(self._probe(self._port))
            return name, await process.wait()
        finally:
            if probe is not None:
                probe.cancel()
                await asyncio.gather(probe, return_exceptions=True)

    async def _probe(self, port: int) -> None:
        async with aiohttp.ClientSession() as session:
            while not self.is_ready.is_set():
                with suppress(aiohttp.ClientError, TimeoutError):
                    async with session.get(f"http://127.0.0.1:{port}/readyz") as answer:
                        if answer.status == 200:
                            self.is_ready.set()
                await asyncio.sleep(PROBE_SECONDS)

    async def _kill(self) -> None:
        self._signal(SIGKILL)
        await self.ended()

    def _signal(self, number: Signals) -> None:
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)

    def _log_size(self) -> int:
        return self._log.stat().st_size if self._log.exists() else 0

    def _said_since(self, begins: int) -> str:
        """What was wrong, without what was logged before: a line a mistake."""
        lines = self._log.read_bytes()[begins:].decode("utf-8", "replace").strip().splitlines()
        said = [line for line in lines if not LOGGED.match(line)]
        return "\n".join(said[-MISTAKES_SHOWN:]) or f"see {self._log}"


#: What commands beside the demo need as well: without them they could not open its store.
_HANDED_ON = ("PILOTHOUSE_ENCRYPTION_KEYS", "PILOTHOUSE_AUDIT_KEY")


def environment(
    inherited: Mapping[str, str],
    folder: Path,
    api_url: str,
    config: Path = DEMO_CONFIG,
    model: str | None = None,
) -> dict[str, str]:
    """A bot's environment. Nothing of the inherited one may lead it to a real workspace or database; ``model``
    replaces those of ``config``."""
    kept = {
        name: value
        for name, value in inherited.items()
        if name in _HANDED_ON or not name.upper().startswith(("SLACK_", "PILOTHOUSE_"))
    }
    if str(_ROOT) not in site.getsitepackages():
        kept["PYTHONPATH"] = os.pathsep.join(filter(None, (str(_ROOT), kept.get("PYTHONPATH"))))
    if model is not None:
        kept["PILOTHOUSE_MODEL"] = model
    return kept | {
        "SLACK_BOT_TOKEN": "xoxb-sandbox",
        "SLACK_APP_TOKEN": "xapp-sandbox",
        "SLACK_API_URL": api_url,
        "PILOTHOUSE_DATA": str(folder),
        "PILOTHOUSE_DATABASE_URL": f"sqlite:///{folder / 'pilothouse.db'}",
        "PILOTHOUSE_CONFIG": str(config),
        "PILOTHOUSE_HTTP_HOST": "127.0.0.1",
        "PILOTHOUSE_HTTP_PORT": "0",
        "PILOTHOUSE_DRAIN_SECONDS": str(DRAIN_SECONDS),
    }


def _ended(code: int) -> str:
    return f"was killed by signal {-code}" if code < 0 else f"ended with {code}"
