"""Socket Mode, kept up whatever happens.

A client of the SDK lives as long as its connection. When that is lost the client is thrown away and
a new one is made: left to itself the SDK may try a used ticket for ever, or give up after a failed
attempt. Only a refresh that Slack asks for is left to it, and only of a connection that has lived.

A connection whose other end is gone without a word stays open, and nothing tells of it but that no ping is
answered: it is lost then.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from slack_bolt.adapter.socket_mode.async_internals import send_async_response
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from bot.slack.clients import (
    PING_SECONDS,
    SLACK_ERRORS,
    SocketClient,
    error_name,
    retry_after,
    socket_client,
)
from bot.slack.incoming import Incoming

_ATTEMPT_SECONDS: Final = 10.0
#: A refresh closes the old socket before the new one is there.
_GRACE_SECONDS: Final = 3.0
_LOOK_SECONDS: Final = 0.25
_FIRST_PAUSE_SECONDS: Final = 0.5
_LONGEST_PAUSE_SECONDS: Final = 16.0
#: Up to so many times as long, by chance: what was cut together does not come back together.
_SPREAD: Final = 1.25
#: Slack lets a connection live for hours, and ``apps.connections.open`` be called a few times a minute.
SETTLED_SECONDS: Final = 10.0
#: What has been received is acknowledged before we go; Slack waits no longer.
LAST_WORDS_SECONDS: Final = 3.0

_log = logging.getLogger(__name__)


class SentAway(Exception):
    """Slack has ended the connection, and a new one made at once might fare no better."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "Slack has more connections of this app than it allows"
            if reason == "too_many_websockets"
            else f"Slack has ended the connection ({reason})"
        )


class SlackConnection:
    """Receives what Slack sends this process, and hands it to ``incoming``."""

    def __init__(
        self,
        incoming: Incoming,
        app_token: str,
        api_url: str | None = None,
        *,
        settled_seconds: float = SETTLED_SECONDS,
        ping_seconds: float = PING_SECONDS,
    ) -> None:
        """A connection that ends before it has lived for ``settled_seconds`` counts as a failed attempt.
        ``ping_seconds``: how often it is seen whether anybody is at its other end."""
        self._incoming = incoming
        self._app_token = app_token
        self._api_url = api_url
        self._settled_seconds = settled_seconds
        self._ping_seconds = ping_seconds
        #: Attempts in a row that came to nothing, or to no connection that lived.
        self._failures = 0
        self._is_connected = False
        self._answering: set[asyncio.Task[Any]] = set()

    @property
    def is_connected(self) -> bool:
        """Does Slack reach us now?"""
        return self._is_connected

    async def run(self) -> None:
        """Stay connected until cancelled; what has been received by then is acknowledged."""
        while True:
            asked = None
            try:
                async with self._connected() as client:
                    _log.info("Connected to Slack")
                    await self._until_lost(client)
                _log.warning("The connection to Slack is lost; connecting again")
            except SentAway as error:
                _log.warning("%s; trying again", error)
            except Exception as error:
                # Its words may hold the socket's address, and with it the ticket.
                _log.warning("Could not connect to Slack: %s; trying again", error_name(error))
                asked = retry_after(error) if isinstance(error, SlackApiError) else None
            pause = asked or pause_after(self._failures)
            self._failures += 1
            await asyncio.sleep(pause)

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[SocketClient]:
        client = socket_client(
            self._app_token,
            self._api_url,
            settled_seconds=self._settled_seconds,
            ping_seconds=self._ping_seconds,
        )
        client.message_listeners.append(self._received)
        try:
            async with asyncio.timeout(_ATTEMPT_SECONDS):
                opened = await client.web_client.apps_connections_open(app_token=self._app_token)
                client.wss_uri = opened["url"]
                await _untyped(client.connect)
            yield client
        except asyncio.CancelledError:
            if self._answering:
                await asyncio.wait(self._answering, timeout=LAST_WORDS_SECONDS)
            raise
        finally:
            self._is_connected = False
            await _close(client)

    async def _until_lost(self, client: SocketClient) -> None:
        """Raises ``SentAway``."""
        loop = asyncio.get_running_loop()
        seen_at = loop.time()
        while True:
            if client.sent_away is not None:
                raise SentAway(client.sent_away)
            if client.has_settled:
                self._failures = 0
            self._is_connected = await client.is_connected()
            if self._is_connected:
                seen_at = loop.time()
            elif not client.is_renewing or loop.time() - seen_at >= _GRACE_SECONDS:
                return
            await asyncio.sleep(_LOOK_SECONDS)

    async def _received(
        self, client: AsyncBaseSocketModeClient, message: dict[str, Any], raw: str | None
    ) -> None:
        """Answer one envelope. What can't be read is acknowledged: it would only come again."""
        envelope_id = message.get("envelope_id")
        task = asyncio.current_task()
        if not isinstance(envelope_id, str) or task is None:
            return
        self._answering.add(task)
        try:
            await self._answer(client, message)
        except SLACK_ERRORS as error:
            _log.warning("Could not answer an envelope: %s", error_name(error))
        except Exception as error:
            _log.warning("An envelope can't be read: %s", type(error).__name__)
            with suppress(*SLACK_ERRORS):
                await client.send_socket_mode_response(SocketModeResponse(envelope_id))
        finally:
            self._answering.discard(task)

    async def _answer(self, client: AsyncBaseSocketModeClient, message: dict[str, Any]) -> None:
        request = SocketModeRequest.from_dict(message)
        if request is None:
            raise ValueError("an envelope without a type or payload")
        started = asyncio.get_running_loop().time()
        response = await self._incoming.envelope(request.payload)
        await send_async_response(client, request, response, started)


def pause_after(failures: int) -> float:
    """Seconds until the next attempt: longer and longer, and for no two connections the same."""
    shortest = min(_FIRST_PAUSE_SECONDS * 2.0 ** min(failures, 10), _LONGEST_PAUSE_SECONDS)
    return shortest * random.uniform(1.0, _SPREAD)


async def _close(client: SocketClient) -> None:
    """Close it, and see its tasks end: the SDK cancels them and looks no further. Slack may be slow to say goodbye:
    whoever is cancelled meanwhile waits for that no longer, and leaves nothing open either."""
    tasks = [
        task
        for task in (
            client.message_processor,
            client.message_receiver,
            client.current_session_monitor,
        )
        if task is not None
    ]
    try:
        await _untyped(client.close)
    finally:
        # What comes after the goodbye, where the SDK did not come to it.
        for task in tasks:
            task.cancel()
        await client.aiohttp_client_session.close()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _untyped(call: Callable[[], Awaitable[None]]) -> None:
    """The SDK leaves some of its methods without types."""
    await call()
