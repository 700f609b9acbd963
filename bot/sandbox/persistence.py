"""The state file: written soon after a change and at the end, each time as a whole."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Callable
from pathlib import Path

from bot.sandbox.wire import Json

FORMAT = 1
DELAY_SECONDS = 0.25
RETRY_SECONDS = 1.0
#: What comes of reading and restoring something that isn't as it was written.
DAMAGES = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
log = logging.getLogger(__name__)


class StateFileUnreadable(Exception):
    """The sandbox's state file is damaged, or of another format."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} can't be read as the sandbox's state; move it away to begin anew")
        self.path = path


class StateFile:
    def __init__(self, path: Path, dump: Callable[[], Json]) -> None:
        self._path = path
        self._dump = dump
        self._changed = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None

    def load(self, restore: Callable[[Json], None]) -> None:
        """Restore what was kept last time, if there was one. Raises `StateFileUnreadable`."""
        try:
            kept = json.loads(self._path.read_text("utf-8"))
            if kept["format"] != FORMAT:
                raise StateFileUnreadable(self._path)
            restore(kept)
        except FileNotFoundError:
            return
        except DAMAGES as error:
            raise StateFileUnreadable(self._path) from error

    def start(self) -> None:
        self._writer = asyncio.create_task(self._write_when_changed())

    def changed(self) -> None:
        self._changed.set()

    async def close(self) -> None:
        """Write what is left and stop. Where that fails the log says so: there is no later."""
        if self._writer is not None:
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
        if self._changed.is_set():
            try:
                self._replace(self._serialised())
            except OSError as error:
                log.error("%s can't be written; the last changes are lost: %s", self._path, error)

    async def _write_when_changed(self) -> None:
        while True:
            await self._changed.wait()
            await asyncio.sleep(DELAY_SECONDS)
            text = self._serialised()
            self._changed.clear()
            # Shielded: a cancelled wait must not leave a second writer on the same file.
            writing = asyncio.ensure_future(asyncio.to_thread(self._replace, text))
            try:
                await asyncio.shield(writing)
            except asyncio.CancelledError:
                await asyncio.wait([writing])
                if writing.exception() is not None:
                    self._changed.set()
                raise
            except OSError as error:
                log.warning("%s can't be written; trying again: %s", self._path, error)
                self._changed.set()
                await asyncio.sleep(RETRY_SECONDS)

    def _serialised(self) -> str:
        # In ASCII: half a surrogate pair, which a payload can hold, has no form in UTF-8.
        return json.dumps({"format": FORMAT, **self._dump()})

    def _replace(self, text: str) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_name(self._path.name + ".new")
        fresh.write_text(text, "utf-8")
        os.replace(fresh, self._path)
