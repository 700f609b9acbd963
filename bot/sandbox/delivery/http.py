"""Signed HTTP delivery to the app's URLs, in turn."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode, urljoin

import aiohttp

from bot.sandbox.delivery.judge import Judge
from bot.sandbox.delivery.transport import Kind, Reply, Retry, Timing
from bot.sandbox.ids import Ids
from bot.sandbox.record import Record
from bot.sandbox.wire import Json, parse_json
from bot.sandbox.workspace import SIGNING_SECRET, VERIFICATION_TOKEN

_SENDER = "Slackbot 1.0 (+https://api.slack.com/robots)"
FORM = "application/x-www-form-urlencoded"
REDIRECTS = (301, 302, 303, 307, 308)
#: Slack says that it follows two. How it repeats the request is not known: here it is posted again.
FOLLOWED = 2


def signature(timestamp: str, body: bytes, secret: str = SIGNING_SECRET) -> str:
    """Slack's `v0` signature of a request body."""
    signed = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class _Request:
    kind: str
    payload: Json
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Of an event any 2xx is an acknowledgement, of what a person did only 200.
    statuses: range = range(200, 201)


class HttpDelivery:
    no_answer = "http_timeout"

    def __init__(
        self,
        urls: Sequence[str],
        record: Record,
        judge: Judge,
        timing: Timing,
        clock: Callable[[], float],
        ids: Ids,
    ) -> None:
        self._urls = list(urls)
        self._record = record
        self._judge = judge
        self._timing = timing
        self._clock = clock
        self._ids = ids
        self._turn = -1
        self._session: aiohttp.ClientSession | None = None

    async def event(self, payload: Json, retry: Retry | None) -> Reply:
        headers = {"Content-Type": "application/json"}
        if retry is not None:
            headers |= {
                "X-Slack-Retry-Num": str(retry.number),
                "X-Slack-Retry-Reason": retry.reason,
            }
        body = json.dumps(payload).encode()
        request = _Request("events_api", payload, body, headers, statuses=range(200, 300))
        return await self._deliver(request)

    async def interaction(self, kind: Kind, payload: Json) -> Reply:
        form = payload if kind == "slash_commands" else {"payload": json.dumps(payload)}
        # Half a surrogate pair, which a person may paste, has no form in UTF-8.
        body = urlencode(form, errors="replace").encode()
        return await self._deliver(_Request(kind, payload, body, {"Content-Type": FORM}))

    async def verify(self) -> dict[str, str]:
        """Ask each URL whether it is the app's: by URL, why it is not, or ""."""
        return {url: await self._verify(url) for url in self._urls}

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _verify(self, url: str) -> str:
        challenge = self._ids.secret()
        payload = {
            "token": VERIFICATION_TOKEN,
            "challenge": challenge,
            "type": "url_verification",
        }
        headers = {"Content-Type": "application/json"}
        request = _Request("url_verification", payload, json.dumps(payload).encode(), headers)
        reply = await self._post(url, request)
        # Slack takes it as plain text, as a form, or as JSON.
        answered = (reply.text.strip().removeprefix("challenge="), reply.body.get("challenge"))
        if not reply.acknowledged or challenge in answered:
            return reply.why
        return "challenge_failed"

    async def _deliver(self, request: _Request) -> Reply:
        """One delivery. Where nobody listens the next URL is tried, as a load balancer would."""
        self._turn = (self._turn + 1) % len(self._urls)
        reply = Reply(False, why="connection_failed")
        # In an order fixed beforehand: meanwhile other deliveries take their turns.
        for url in [*self._urls[self._turn :], *self._urls[: self._turn]]:
            reply = await self._post(url, request)
            if reply.why != "connection_failed":
                break
        return reply

    async def _post(self, url: str, request: _Request) -> Reply:
        delivery_id = self._ids.new("http-")
        self._record.note(
            "delivery",
            envelope_id=delivery_id,
            connection=url,
            type=request.kind,
            retry_attempt=int(request.headers.get("X-Slack-Retry-Num", 0)),
            event_id=request.payload.get("event_id"),
            payload=request.payload,
        )
        is_event = request.kind == "events_api"
        if is_event:
            self._judge.sent(delivery_id, request.payload, lambda: True)
        reply = await self._answer(url, request)
        if is_event and reply.why == self.no_answer:
            self._judge.late(delivery_id, self._timing.ack)
        self._judge.answered(delivery_id, reply)
        if reply.acknowledged:
            answered = reply.body or ({"text": reply.text} if reply.text else {})
            self._record.note(
                "acknowledgement", envelope_id=delivery_id, connection=url, body=answered
            )
        return reply

    async def _answer(self, url: str, request: _Request) -> Reply:
        try:
            async with asyncio.timeout(self._timing.ack):
                return await self._exchange(url, request)
        except TimeoutError:
            return Reply(False, why=self.no_answer)
        except aiohttp.ClientSSLError:
            return Reply(False, why="ssl_error")
        except aiohttp.ClientConnectorError:
            # An event waits for somebody to listen, as it waits for a socket.
            return Reply(False, why="connection_failed", blames_app=request.kind != "events_api")
        except (aiohttp.ClientError, ValueError, LookupError):
            # Of a redirect to what is no address, or of a charset that there isn't.
            return Reply(False, why="http_error")

    async def _exchange(self, url: str, request: _Request) -> Reply:
        if self._session is None:
            # No cookies, and no proxy of the environment. No limit either: what waited for a free
            # connection would seem to be the app's delay.
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar()
            )
        headers = {"User-Agent": _SENDER, **request.headers, **self._signed(request.body)}
        for _ in range(1 + FOLLOWED):
            async with self._session.post(
                url, data=request.body, headers=headers, allow_redirects=False
            ) as response:
                if response.status not in REDIRECTS or "Location" not in response.headers:
                    text = await response.text(errors="replace")
                    return _reply(response, text, request.statuses)
                url = urljoin(url, response.headers["Location"])
        return Reply(False, why="too_many_redirects")

    def _signed(self, body: bytes) -> Json:
        timestamp = str(int(self._clock()))
        return {
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": signature(timestamp, body),
        }


def _reply(response: aiohttp.ClientResponse, text: str, statuses: range) -> Reply:
    if response.status not in statuses:
        wanted = response.headers.get("X-Slack-No-Retry") != "1"
        return Reply(False, why="http_error", retry_wanted=wanted)
    if not text.strip():
        return Reply(True)
    try:
        body = parse_json(text)
    except ValueError:
        return Reply(True, text=text)
    return Reply(True, body) if isinstance(body, dict) else Reply(True, text=text)
