"""The one place that makes Slack clients.

Towards a Slack on this machine no proxy is used: the SDK would send even loopback addresses through
the environment's. It reads that in each constructor, and an empty string makes it read it again, so
the proxy is taken away afterwards. Bolt makes a client of its own for each request:
``without_proxy`` is the middleware that treats it likewise.

Silent retries are off: a connection that is dropped after Slack has posted would post twice.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
from slack_bolt.context.async_context import AsyncBoltContext
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.slack.quiet import slack_logger

SLACK: Final = AsyncWebClient.BASE_URL
#: Seconds between two pings; four without an answer, and a connection is given up.
_PING_SECONDS: Final = 5.0

_log = logging.getLogger(__name__)


def slack_client(token: str, api_url: str | None = None) -> AsyncWebClient:
    """A Web API client. ``api_url`` None is Slack's own."""
    base_url = api_url or SLACK
    client = AsyncWebClient(
        token=token, base_url=base_url, logger=slack_logger(), retry_handlers=[]
    )
    if is_loopback(base_url):
        client.proxy = None
    return client


def socket_client(app_token: str, api_url: str | None = None) -> SocketModeClient:
    """A Socket Mode client, to be made inside the running loop."""
    client = SocketModeClient(
        app_token=app_token,
        web_client=slack_client(app_token, api_url),
        logger=slack_logger(),
        ping_interval=_PING_SECONDS,
        # ``connection`` does it: see there.
        auto_reconnect_enabled=False,
    )
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

    def __init__(self, api_url: str | None = None) -> None:
        self._is_local = is_loopback(api_url or SLACK)

    async def send(self, url: str, message: dict[str, Any]) -> bool:
        """False when Slack did not take it. The URL is a secret and is not logged."""
        try:
            client = AsyncWebhookClient(url, logger=slack_logger(), retry_handlers=[])
            if self._is_local:
                client.proxy = None
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


def retry_after(error: SlackApiError) -> float | None:
    """For how many seconds Slack wants to be left alone; None unless it says so."""
    headers = getattr(error.response, "headers", None) or {}
    said = str(headers.get("Retry-After", ""))
    return float(said) if said.isdecimal() and error_code(error) == "ratelimited" else None


def is_loopback(url: str) -> bool:
    """Does the address name this machine?"""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
