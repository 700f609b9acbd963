"""The HTTP client by which a server is spoken to: what it may answer is bounded."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

from agent.tools.mcp.pipes import MESSAGE_LIMIT

_TIMEOUT = httpx2.Timeout(30.0, read=300.0)


class TooLarge(httpx2.StreamError):
    """Of one answer alone: the next one may be read."""


def through_proxies(
    headers: dict[str, str] | None = None,
    timeout: httpx2.Timeout | None = None,
    auth: httpx2.Auth | None = None,
    follow_redirects: bool = True,
) -> httpx2.AsyncClient:
    """Where the environment names some."""
    return _client(headers, timeout, auth, trust_env=True)


def directly(
    headers: dict[str, str] | None = None,
    timeout: httpx2.Timeout | None = None,
    auth: httpx2.Auth | None = None,
    follow_redirects: bool = True,
) -> httpx2.AsyncClient:
    """Through no proxy: none leads to what runs here."""
    return _client(headers, timeout, auth, trust_env=False)


def _client(
    headers: dict[str, str] | None,
    timeout: httpx2.Timeout | None,
    auth: httpx2.Auth | None,
    *,
    trust_env: bool,
) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        # How large something is that comes packed is only seen once it is in memory.
        headers={**(headers or {}), "Accept-Encoding": "identity"},
        timeout=timeout or _TIMEOUT,
        auth=auth,
        # The library follows those that lead to the same server, and no others.
        follow_redirects=False,
        trust_env=trust_env,
        event_hooks={"response": [_bound]},
    )


async def _bound(response: httpx2.Response) -> None:
    """Events are bounded one by one by the library, for a stream of them has no end."""
    is_packed = response.headers.get("content-encoding", "identity").lower() != "identity"
    is_of_events = response.headers.get("content-type", "").startswith("text/event-stream")
    if (is_packed or not is_of_events) and isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream, 0 if is_packed else MESSAGE_LIMIT)


class _Bounded(httpx2.AsyncByteStream):
    """Raises ``TooLarge``."""

    def __init__(self, stream: httpx2.AsyncByteStream, limit: int) -> None:
        self._stream = stream
        self._left = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for some in self._stream:
            self._left -= len(some)
            if self._left < 0:
                raise TooLarge(f"more than {MESSAGE_LIMIT:,} bytes, or packed unasked")
            yield some

    async def aclose(self) -> None:
        await self._stream.aclose()
