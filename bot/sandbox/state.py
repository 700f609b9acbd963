"""The sandbox as a whole: its parts, wired."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from bot.sandbox.clock import Clock
from bot.sandbox.delivery.events import EventPayloads
from bot.sandbox.delivery.faulty import FaultyTransport
from bot.sandbox.delivery.http import HttpDelivery
from bot.sandbox.delivery.judge import Judge
from bot.sandbox.delivery.outbox import Outbox
from bot.sandbox.delivery.socket import SocketHub
from bot.sandbox.delivery.subscriptions import Subscriptions
from bot.sandbox.delivery.transport import Timing
from bot.sandbox.faults.waiting import Faults
from bot.sandbox.files import Files
from bot.sandbox.guesses import Guesses
from bot.sandbox.ids import Ids
from bot.sandbox.interactions.chosen import Chosen
from bot.sandbox.interactions.response_urls import ResponseUrls
from bot.sandbox.interactions.suggestions import Suggestions
from bot.sandbox.interactions.triggers import Triggers
from bot.sandbox.interactions.views import Views
from bot.sandbox.membership import Membership
from bot.sandbox.messages import Messages
from bot.sandbox.persistence import StateFile
from bot.sandbox.policies import Policies
from bot.sandbox.posting import Posting
from bot.sandbox.rates import RateMode, Rates
from bot.sandbox.record import Record
from bot.sandbox.seed import seeded
from bot.sandbox.sessions import Sessions
from bot.sandbox.streams import Streams
from bot.sandbox.tokens import Tokens
from bot.sandbox.wire import Json


class Sandbox:
    """One local Slack. Everything else in this package works on one of these."""

    def __init__(
        self,
        *,
        deliver: Sequence[str] = (),
        state_file: Path | None = None,
        clock: Callable[[], float] | float | None = None,
        timing: Timing | None = None,
        seed: int | None = None,
        rates: RateMode = "off",
        events: Collection[str] | None = None,
        guesses: Guesses | None = None,
        tour: Sequence[Json] = (),
        shortcuts: Mapping[str, str] | None = None,
    ) -> None:
        """`deliver`: the app's URLs for signed HTTP; without any, Socket Mode. `clock`: seconds
        since 1970, or a moment at which time stands still until it is moved. `seed`: with the same
        one the same acts get the same ids. `rates`: whether Slack's rate limits hold. `events`: what
        the app has subscribed to, as in its manifest; None: everything. `tour`: the steps of a guided
        tour for the page, as `page/tour.js` takes them. `shortcuts`: what the app has in the menu of a
        message, by callback id, as in its manifest; None: the page asks for a callback id.
        """
        timing = timing or Timing.fast()
        self.guesses = guesses or Guesses()
        self.tour = list(tour)
        self.shortcuts = dict(shortcuts or {})
        self.clock = clock = Clock(clock)
        self.ids = ids = Ids(seed)
        #: Where this server is reached; set when it is.
        self.base_url = ""
        #: Tells a page that it talks to another life of the server.
        self.boot = Ids().new("")
        self.record = Record(clock)
        self.workspace = seeded()
        self.messages = Messages(clock, self._touch)
        self.views = Views(self._touch, ids)
        self.chosen = Chosen()
        self.suggestions = Suggestions()
        self.triggers = Triggers(clock, ids, timing.trigger)
        self.response_urls = ResponseUrls(clock, ids, timing.response_url)
        self.tokens = Tokens()
        self.rates = Rates(clock, rates)
        self.faults = Faults(clock, ids.chance, self._tell_of_fault)
        self.judge = Judge(self.record)
        self.socket = SocketHub(self.record, self.judge, timing, ids, self.guesses)
        #: None where the app is reached by Socket Mode.
        self.http = (
            HttpDelivery(deliver, self.record, self.judge, timing, clock, ids) if deliver else None
        )
        transport = FaultyTransport(
            self.http or self.socket,
            self.faults,
            expire_trigger=self.triggers.expire,
            patience=timing.ack,
        )
        self.subscriptions = Subscriptions(events)
        self.outbox = Outbox(transport, self.record, timing, self.subscriptions)
        self.events = EventPayloads(clock, self.messages.next_ts, ids, self.guesses)
        self.posting = Posting(self.messages, self.events, self.outbox, ids)
        self.membership = Membership(self.workspace, self.events, self.posting, self.outbox)
        self.streams = Streams(self.messages, self.posting, clock, ids, self.guesses)
        self.sessions = Sessions(clock, self._touch)
        self.files = Files(clock, ids, self.messages.stands)
        self.policies = Policies()
        self._file = StateFile(state_file, self._dump) if state_file else None

    def start(self) -> None:
        """Read the state file, if there is one. Raises `StateFileUnreadable`."""
        if self._file is None:
            return
        self._file.load(self._restore)
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

    def _tell_of_fault(self, effect: str, what: str) -> None:
        self.record.note("fault", effect=effect, what=what)

    def _dump(self) -> Json:
        return {"messages": self.messages.dump(), "homes": self.views.homes}

    def _restore(self, kept: Json) -> None:
        self.messages.restore(kept["messages"])
        self.streams.end_interrupted()
        self.views.homes.update(kept["homes"])
