"""The sandbox as a whole: its parts, wired."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bot.sandbox.delivery.events import EventPayloads
from bot.sandbox.delivery.http import HttpDelivery
from bot.sandbox.delivery.outbox import Outbox
from bot.sandbox.delivery.socket import SocketHub
from bot.sandbox.delivery.transport import Timing
from bot.sandbox.faults import Faults
from bot.sandbox.interactions.response_urls import ResponseUrls
from bot.sandbox.interactions.triggers import Triggers
from bot.sandbox.interactions.views import Views
from bot.sandbox.messages import Messages
from bot.sandbox.persistence import StateFile
from bot.sandbox.posting import Posting
from bot.sandbox.record import Record
from bot.sandbox.wire import Json, new_id
from bot.sandbox.workspace import Workspace


class Sandbox:
    """One local Slack. Everything else in this package works on one of these."""

    def __init__(
        self,
        *,
        deliver: Sequence[str] = (),
        state_file: Path | None = None,
        clock: Callable[[], float] = time.time,
        timing: Timing | None = None,
    ) -> None:
        """`deliver`: the app's URLs for signed HTTP; without any, Socket Mode."""
        timing = timing or Timing()
        self.clock = clock
        #: Where this server is reached; set when it is.
        self.base_url = ""
        #: Tells a page that it talks to another life of the server.
        self.boot = new_id("")
        self.record = Record(clock)
        self.workspace = Workspace.seeded()
        self.messages = Messages(clock, self._touch)
        self.views = Views(self._touch)
        self.triggers = Triggers(clock)
        self.response_urls = ResponseUrls(clock)
        self.faults = Faults()
        self.socket = SocketHub(self.record, timing)
        transport = HttpDelivery(deliver, self.record, timing, clock) if deliver else self.socket
        self.outbox = Outbox(transport, self.record, timing)
        self.events = EventPayloads(clock, self.messages.next_ts)
        self.posting = Posting(self.messages, self.events, self.outbox)
        self._file = StateFile(state_file, self._dump) if state_file else None

    def start(self) -> None:
        """Read the state file, if there is one. Raises `StateFileUnreadable`."""
        if self._file is None:
            return
        kept = self._file.load()
        if kept is not None:
            self.messages.restore(kept["messages"])
            self.views.homes.update(kept["homes"])
        self._file.start()

    async def close(self) -> None:
        await self.outbox.close()
        await self.socket.close()
        if self._file is not None:
            await self._file.close()

    def _touch(self) -> int:
        if self._file is not None:
            self._file.changed()
        return self.record.touch()

    def _dump(self) -> Json:
        return {"messages": self.messages.dump(), "homes": self.views.homes}
