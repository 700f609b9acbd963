"""Signed HTTP delivery to the app's URLs, in turn."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlencode

import aiohttp

from bot.sandbox.delivery.transport import Kind, Reply, Retry, Timing
from bot.sandbox.record import Record
from bot.sandbox.wire import Json, new_id
from bot.sandbox.workspace import SIGNING_SECRET

FORM = "application/x-www-form-urlencoded"


def signature(timestamp: str, body: bytes, secret: str = SIGNING_SECRET) -> str:
    """Slack's `v0` signature of a request body."""
    signed = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


class HttpDelivery:
    def __init__(
        self, urls: Sequence[str], record: Record, timing: Timing, clock: Callable[[], float]
    ) -> None:
        self._urls = list(urls)
        self._record = record
        self._timing = timing
        self._clock = clock
        self._turn = -1
        self._session: aiohttp.ClientSession | None = None

    async def event(self, payload: Json, retry: Retry | None) -> Reply:
        headers = {"Content-Type": "application/json"}
        if retry is not None:
            headers |= {
                "X-Slack-Retry-Num": str(retry.number),
                "X-Slack-Retry-Reason": retry.reason,
            }
        return await self._deliver("events_api", payload, json.dumps(payload).encode(), headers)

    async def interaction(self, kind: Kind, payload: Json) -> Reply:
        form = payload if kind == "slash_commands" else {"payload": json.dumps(payload)}
        body = urlencode(form).encode()
        return await self._deliver(kind, payload, body, {"Content-Type": FORM})

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _deliver(
        self, kind: str, payload: Json, body: bytes, headers: Mapping[str, str]
    ) -> Reply:
        """One delivery. Where nobody listens the next URL is tried, as a load balancer would."""
        reply = Reply(False, why="connection_failed")
        for _ in self._urls:
            self._turn = (self._turn + 1) % len(self._urls)
            reply = await self._post(self._urls[self._turn], kind, payload, body, headers)
            if reply.why != "connection_failed":
                break
        return reply

    async def _post(
        self, url: str, kind: str, payload: Json, body: bytes, headers: Mapping[str, str]
    ) -> Reply:
        timestamp = str(int(self._clock()))
        signed = {
            **headers,
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": signature(timestamp, body),
        }
        delivery_id = new_id("http-")
        self._record.note(
            "delivery",
            envelope_id=delivery_id,
            connection=url,
            type=kind,
            retry_attempt=int(headers.get("X-Slack-Retry-Num", 0)),
            event_id=payload.get("event_id"),
            payload=payload,
        )
        try:
            async with asyncio.timeout(self._timing.ack):
                reply = await self._exchange(url, body, signed)
        except TimeoutError:
            return Reply(False, why="http_timeout")
        except aiohttp.ClientConnectorError:
            return Reply(False, why="connection_failed")
        except aiohttp.ClientError:
            return Reply(False, why="http_error")
        if reply.acknowledged:
            self._record.note(
                "acknowledgement", envelope_id=delivery_id, connection=url, body=reply.body
            )
        return reply

    async def _exchange(self, url: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        if self._session is None:
            # No cookies, no proxy of the environment: the app is on this machine.
            self._session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar())
        async with self._session.post(
            url, data=body, headers=headers, allow_redirects=False
        ) as response:
            text = await response.text()
            if response.status != 200:
                wanted = response.headers.get("X-Slack-No-Retry") != "1"
                return Reply(False, why="http_error", retry_wanted=wanted)
            return Reply(True, _parsed(text))


def _parsed(text: str) -> Json:
    """A JSON object as it is; any other text is the text of an answer to a command."""
    if not text:
        return {}
    try:
        body = json.loads(text)
    except ValueError:
        return {"text": text}
    return body if isinstance(body, dict) else {}
