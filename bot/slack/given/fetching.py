"""The bytes of a file, from Slack and from nobody else: the app's token is sent to whoever is asked for them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient
from yarl import URL

from bot.slack.clients import error_name
from bot.slack.given.readable import (
    GONE,
    NOT_LET,
    NOT_NOW,
    NOT_WHOLE,
    SIZE_LIMIT,
    is_html,
    too_large,
)
from bot.slack.given.shared import SharedFile

_SLACK: Final = "slack.com"
_PIECE: Final = 65_536
_log = logging.getLogger(__name__)


class NotFetched(Exception):
    """``why`` is for people and for the agent; it holds no address."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


async def fetch(client: AsyncWebClient, file: SharedFile) -> bytes:
    """All of it. Raises ``NotFetched``. Whoever calls it has the patience."""
    url = _address(file.url or "", client.base_url)
    if url is None:
        _log.warning("The file %s is said to lie where no file of Slack's does", file.id)
        raise NotFetched(NOT_NOW)
    try:
        async with _session(client) as session, _get(client, session, url) as response:
            if (why := _why_not(response, file)) is not None:
                _log.warning("The file %s was answered with %s", file.id, response.status)
                raise NotFetched(why)
            content = await _read(response)
    except (aiohttp.ClientError, OSError, ValueError) as error:
        _log.warning("The file %s could not be fetched: %s", file.id, error_name(error))
        raise NotFetched(NOT_NOW) from error
    # The answer may end early and look whole.
    if file.size is not None and len(content) < file.size:
        _log.warning("Of the file %s came %s bytes of %s", file.id, len(content), file.size)
        raise NotFetched(NOT_WHOLE)
    return content


def _address(said: str, base_url: str) -> URL | None:
    """Where it lies, if that is Slack's own, or where the Web API is. As it is read here it is asked for."""
    try:
        url, base = URL(said), URL(base_url)
        is_at_base = (url.scheme, url.host, url.port) == (base.scheme, base.host, base.port)
    except ValueError:
        return None
    if not url.host or url.user is not None or url.password is not None:
        return None
    is_secure = url.scheme == "https" and url.port == 443
    hosts = [_SLACK] if base.host is None else [_SLACK, base.host]
    is_below = any(url.host == one or url.host.endswith(f".{one}") for one in hosts)
    return url if is_at_base or (is_secure and is_below) else None


@asynccontextmanager
async def _session(client: AsyncWebClient) -> AsyncIterator[aiohttp.ClientSession]:
    if client.session is not None:
        yield client.session
        return
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        yield session


def _get(
    client: AsyncWebClient, session: aiohttp.ClientSession, url: URL
) -> aiohttp.client._RequestContextManager:
    """Whoever may not is sent on to a page to sign in: with the token nobody is followed anywhere."""
    return session.get(
        url,
        headers={"Authorization": f"Bearer {client.token}", "Accept-Encoding": "identity"},
        allow_redirects=False,
        proxy=client.proxy,
        ssl=client.ssl or True,
    )


def _why_not(response: aiohttp.ClientResponse, file: SharedFile) -> str | None:
    status = response.status
    if status in (404, 410):
        return GONE
    if 300 <= status < 400 or status in (401, 403):
        return NOT_LET
    if status != 200:
        return NOT_NOW
    return NOT_LET if response.content_type == "text/html" and not is_html(file) else None


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """No more than is read, whatever is sent. Raises ``NotFetched``."""
    found = bytearray()
    async for piece in response.content.iter_chunked(_PIECE):
        found += piece
        if len(found) > SIZE_LIMIT:
            raise NotFetched(too_large())
    return bytes(found)
