"""The one place that makes Slack clients.

Towards a Slack on this machine no proxy is used: the SDK would send even loopback addresses through
the environment's. It reads that in each constructor, and an empty string makes it read it again, so
the proxy is taken away afterwards. Bolt makes a client of its own for each request:
``without_proxy`` is the middleware that treats it likewise.

Silent retries are off: a connection that is dropped after Slack has posted would post twice.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
from slack_bolt.context.async_context import AsyncBoltContext
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.slack.quiet import slack_logger

SLACK: Final = AsyncWebClient.BASE_URL
#: Seconds after which an answer counts as lost: what it was to may land a little later yet, or never.
ANSWER_WITHIN: Final = 15.0
#: Everything that a call of the Web API raises when Slack can't be asked or says no.
SLACK_ERRORS: Final = (SlackClientError, aiohttp.ClientError, TimeoutError, OSError)
#: Seconds between two pings; half as many more without an answer, and a connection is given up: its other
#: end may be gone without a word.
PING_SECONDS: Final = 5.0
_RATE_LIMITED: Final = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
#: Where Slack says "too much" and not until when.
_PAUSE_SECONDS: Final = 1.0
#: Slack never means longer than that, and a slip must not end a channel for days.
_LONGEST_PAUSE_SECONDS: Final = 3600.0
_SECONDS: Final = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})?")
#: Slack itself has trouble.
PASSING: Final = frozenset(
    {"fatal_error", "internal_error", "request_timeout", "service_unavailable", "team_added_to_org"}
)
_CODE: Final = re.compile(r"[a-z0-9_]{1,80}")
#: Slack's words where it only wants a connection to be made anew.
_REFRESHES: Final = frozenset({"refresh_requested", "warning"})

_log = logging.getLogger(__name__)


class UnreadableAnswer(SlackClientError):
    """Something answered, and not as Slack does: what was asked for may have been done, or not."""


class SlackClient(AsyncWebClient):
    """Raises nothing but ``SLACK_ERRORS`` for what comes back, whatever that is."""

    async def api_call(self, api_method: str, **how: Any) -> AsyncSlackResponse:
        try:
            answer = await super().api_call(api_method, **how)
        except (AttributeError, UnicodeError) as error:
            # The SDK takes any body for a mapping, and any bytes for text.
            raise UnreadableAnswer(f"{api_method}: {type(error).__name__}") from error
        if not isinstance(answer.data, dict):
            raise UnreadableAnswer(f"{api_method}: no JSON")
        return answer


def http_session() -> aiohttp.ClientSession:
    """What all of a process is sent by: connections are kept for the next call, and nothing else. To be made
    inside the running loop, and closed."""
    # The SDK's own patience is for sessions of its own.
    patience = aiohttp.ClientTimeout(total=AsyncWebClient(token="").timeout)
    return aiohttp.ClientSession(timeout=patience, cookie_jar=aiohttp.DummyCookieJar())


def slack_client(
    token: str, api_url: str | None = None, *, session: aiohttp.ClientSession | None = None
) -> AsyncWebClient:
    """A Web API client. ``api_url`` None is Slack's own; without a ``session`` (``http_session``) each call has
    a connection of its own."""
    base_url = api_url or SLACK
    client = SlackClient(
        token=token,
        base_url=base_url,
        session=session,
        logger=slack_logger(),
        retry_handlers=[],
    )
    if is_loopback(base_url):
        client.proxy = None
    return client


class SocketClient(SocketModeClient):
    """Leaves it to its owner what to do where Slack ends a connection: the SDK asks for another at once
    and, where that is sent away again, for ever. Only a refresh of one that has lived is left to it."""

    #: Slack's word for why it has ended this; None while it has not.
    sent_away: str | None = None
    #: Seconds after which a connection has lived.
    settled_seconds: float = 0.0
    _hello_at: float | None = None
    _is_renewing = False

    @property
    def is_renewing(self) -> bool:
        """Has Slack asked for another, which is being made?"""
        return self._is_renewing

    @property
    def has_settled(self) -> bool:
        """Has the present connection lived for a while?"""
        lives_since = self._hello_at
        now = asyncio.get_running_loop().time()
        return lives_since is not None and now - lives_since >= self.settled_seconds

    async def run_message_listeners(self, message: dict[str, Any], raw_message: str) -> None:
        match message.get("type"):
            case "disconnect":
                await self._end(message, raw_message)
            case "hello":
                self._hello_at = asyncio.get_running_loop().time()
            case _:
                await super().run_message_listeners(message, raw_message)

    async def _end(self, message: dict[str, Any], raw_message: str) -> None:
        if self._is_renewing:
            # Of the connection that is being replaced.
            return
        said = message.get("reason")
        reason = said if isinstance(said, str) and is_code(said) else "disconnect"
        if reason not in _REFRESHES or not self.has_settled:
            self.sent_away = reason
            return
        self._hello_at, self._is_renewing = None, True
        try:
            await super().run_message_listeners(message, raw_message)
        finally:
            self._is_renewing = False


def socket_client(
    app_token: str,
    api_url: str | None = None,
    *,
    settled_seconds: float,
    ping_seconds: float = PING_SECONDS,
) -> SocketClient:
    """A Socket Mode client, to be made inside the running loop."""
    client = SocketClient(
        app_token=app_token,
        web_client=slack_client(app_token, api_url),
        logger=slack_logger(),
        ping_interval=ping_seconds,
        # ``connection`` does it: see there.
        auto_reconnect_enabled=False,
    )
    client.settled_seconds = settled_seconds
    if is_loopback(api_url or SLACK):
        client.proxy = None
    return client


async def without_proxy(context: AsyncBoltContext, next: Callable[[], Awaitable[None]]) -> None:
    """Bolt middleware, to run before authorization."""
    client = context.client
    if client is not None and is_loopback(client.base_url):
        client.proxy = None
    await next()


class ResponseUrls:
    """Sends to the URLs by which Slack lets an interaction be answered: five times in half an hour."""

    def __init__(
        self,
        api_url: str | None = None,
        *,
        session: aiohttp.ClientSession | None = None,
        answer_within: float = ANSWER_WITHIN,
    ) -> None:
        """``session`` as for ``slack_client``."""
        self._is_local = is_loopback(api_url or SLACK)
        self._session = session
        self._answer_within = answer_within

    async def send(self, url: str, message: dict[str, Any]) -> bool:
        """False when Slack did not take it, as far as is known. The URL is a secret and is not logged."""
        try:
            client = AsyncWebhookClient(
                url, session=self._session, logger=slack_logger(), retry_handlers=[]
            )
            if self._is_local:
                client.proxy = None
            # The SDK's own patience is longer, and counts in whole seconds.
            async with asyncio.timeout(self._answer_within):
                response = await client.send_dict(message)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            _log.warning("A response_url could not be reached: %s", type(error).__name__)
            return False
        if response.status_code != 200:
            _log.warning("A response_url answered %s", response.status_code)
        return response.status_code == 200


def error_code(error: SlackApiError) -> str | None:
    """Slack's word for what went wrong, where it gave one."""
    data = getattr(error.response, "data", error.response)
    code = data.get("error") if isinstance(data, dict) else None
    return code if isinstance(code, str) else None


def error_name(error: BaseException) -> str:
    """What a log may say of an error: its kind, and Slack's word for it; never its own words, which
    may quote a payload or an address."""
    kind = type(error).__name__
    code = error_code(error) if isinstance(error, SlackApiError) else None
    return f"{kind} ({code})" if code is not None and is_code(code) else kind


def is_code(word: str) -> bool:
    """Does it look like one of Slack's words, which a log may hold?"""
    return _CODE.fullmatch(word) is not None


def retry_after(error: SlackApiError) -> float | None:
    """For how many seconds Slack wants to be left alone; None where it was not too much for it."""
    if status_of(error) != 429 and error_code(error) not in _RATE_LIMITED:
        return None
    headers = getattr(error.response, "headers", None) or {}
    named = {str(name).lower(): str(value) for name, value in headers.items()}
    said = named.get("retry-after", "")
    seconds = float(said) if _SECONDS.fullmatch(said) else _PAUSE_SECONDS
    return min(max(seconds, _PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS)


def is_passing(error: BaseException) -> bool:
    """May the same call go well in a minute?"""
    if not isinstance(error, SlackApiError) or retry_after(error) is not None:
        return True
    code, status = error_code(error), status_of(error)
    return code is None or code in PASSING or (status is not None and status >= 500)


def status_of(error: SlackApiError) -> int | None:
    """The HTTP status. Of a body that it can't parse the SDK hands over the bare HTTP response."""
    response = error.response
    status = getattr(response, "status_code", None) or getattr(response, "status", None)
    return status if isinstance(status, int) else None


def is_loopback(url: str) -> bool:
    """Does the address name this machine?"""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
