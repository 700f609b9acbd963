"""A running sandbox as a Python test holds it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar, overload

from bot.sandbox.act.server import act
from bot.sandbox.app import RunningSandbox
from bot.sandbox.clock import Clock
from bot.sandbox.looking import ephemerals_of, messages_of, views_of
from bot.sandbox.ordering.orders import FaultOrders
from bot.sandbox.reading import person
from bot.sandbox.state import Sandbox
from bot.sandbox.wire import Json, copied

DEADLINE_SECONDS = 10.0
T = TypeVar("T")


class OpenSandbox:
    """What people do, what they see, and what the app did.

    `Refusal` is raised for what isn't there, with a word on what is.
    """

    def __init__(self, running: RunningSandbox) -> None:
        #: The sandbox itself: workspace, tokens, triggers and all.
        self.inside = running.sandbox
        self.url = running.url
        #: What goes into SLACK_API_URL, or into `base_url` of the app's client.
        self.api_url = running.api_url
        self.port = running.port
        self.faults = FaultOrders(self.inside)

    @property
    def clock(self) -> Clock:
        return self.inside.clock

    async def act(self, user: str, do: str, **what: Any) -> Json:
        """As `POST /sandbox/act`: returns once the app has answered, or after three seconds."""
        return await act(self.inside, {"as": user, "do": do, **what})

    def messages(self, channel_id: str, thread_ts: str | None = None) -> list[Json]:
        """Of a thread, or of the channel's top level; the oldest first."""
        return messages_of(self.inside, channel_id, thread_ts)

    def ephemerals(self, user: str) -> list[Json]:
        """What this person was told privately, the oldest first."""
        return copied(ephemerals_of(self.inside, person(self.inside, user).id))

    def views(self, user: str) -> list[Json]:
        """This person's modals, the topmost last."""
        return copied(views_of(self.inside, person(self.inside, user).id))

    def home(self, user: str) -> Json | None:
        return copied(self.inside.views.homes.get(person(self.inside, user).id))

    def calls(self, method: str | None = None) -> list[Json]:
        """The app's calls of the Web API, or of this method (or `response_url`), in order."""
        return self._recorded("call", method=method)

    def deliveries(self, kind: str | None = None) -> list[Json]:
        """What was sent to the app: `events_api`, `interactive` or `slash_commands`."""
        return self._recorded("delivery", type=kind)

    @property
    def violations(self) -> list[Json]:
        """The rules of Slack that the app broke so far."""
        return self.inside.record.violations

    def assert_no_violations(self) -> None:
        broken = "\n".join(
            f"  {one['kind']}: {one.get('method', '')} {one['detail']}" for one in self.violations
        )
        assert not broken, f"the app broke rules of Slack's:\n{broken}"

    @overload
    async def until(
        self, look: Callable[[], Awaitable[T | None]], what: str = ..., seconds: float = ...
    ) -> T: ...

    @overload
    async def until(
        self, look: Callable[[], T | None], what: str = ..., seconds: float = ...
    ) -> T: ...

    async def until(
        self, look: Callable[[], Any], what: str = "it", seconds: float = DEADLINE_SECONDS
    ) -> Any:
        """The first answer of `look` that is true; an `AssertionError` if none is so in time."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while True:
            found = look()
            if inspect.isawaitable(found):
                found = await found
            if found:
                return found
            assert loop.time() < deadline, f"never seen: {what}"
            await asyncio.sleep(0.01)

    def _recorded(self, kind: str, **wanted: str | None) -> list[Json]:
        return [
            copied(entry)
            for entry in self.inside.record.calls()
            if entry["kind"] == kind and all(v in (None, entry[k]) for k, v in wanted.items())
        ]


#: Called with each sandbox at its end, also where violations are allowed: an app's own rules for what it sends,
#: in all of its tests.
CHECKS: list[Callable[[OpenSandbox], None]] = []


@asynccontextmanager
async def open_sandbox(
    inside: Sandbox | None = None, *, port: int = 0, allow_violations: bool = False
) -> AsyncIterator[OpenSandbox]:
    """Run a sandbox on this machine; at the end there are no violations, unless they are allowed."""
    async with RunningSandbox(inside or Sandbox(), port=port) as running:
        opened = OpenSandbox(running)
        yield opened
        opened.inside.judge.end()
    if not allow_violations:
        opened.assert_no_violations()
    for check in CHECKS:
        check(opened)
