"""A model of a provider's, through the model library, which is imported once it is needed: it is large."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from typing import TYPE_CHECKING

from agent.errors import Blocked, ConfigError
from agent.models.providers import lack_of, provider_of
from agent.ports import Lack, ModelReply, ModelRequest

if TYPE_CHECKING:
    from agent.models.wire import Wire

REQUEST_TIMEOUT = timedelta(minutes=5)


class LibraryModel:
    """The model ``PROVIDER:MODEL``: ``anthropic:claude-sonnet-5-5``. Raises ``ConfigError`` for a provider that
    is not known. One attempt a request, of at most ``timeout``: whoever asks tries again, and writes it down."""

    def __init__(self, name: str, *, timeout: timedelta = REQUEST_TIMEOUT) -> None:
        provider_of(name)
        self._name = name
        self._timeout = timeout
        self._wire: Wire | None = None
        self._making = threading.Lock()

    @property
    def name(self) -> str:
        return self._name

    def lacks(self) -> Lack | None:
        """See ``NeedsCredentials``. What has been made once goes on as it is."""
        return None if self._wire is not None else lack_of(self._name)

    def check(self) -> None:
        """Make all that it takes to ask it, and ask nobody. Takes seconds. Raises ``ConfigError``."""
        if lack := self.lacks():
            raise ConfigError(f"{lack.message} {lack.fix}")
        self._made()

    def has_price(self) -> bool:
        """Is it known what its replies cost? As ``check``."""
        return self._made().has_price()

    async def reply(self, request: ModelRequest) -> ModelReply:
        """See ``Model``; and ``Blocked`` where this process lacks what it takes to ask."""
        if self._wire is None:
            if lack := self.lacks():
                raise Blocked("no_credentials", lack.message, lack.fix)
            try:
                await asyncio.to_thread(self._made)
            except ConfigError as error:
                raise Blocked("no_credentials", str(error)) from error
        return await self._made().reply(request)

    def _made(self) -> Wire:
        with self._making:
            if self._wire is None:
                from agent.models.wire import Wire

                self._wire = Wire(self._name, self._timeout)
            return self._wire
