"""The few calls to Slack that drawing a thread needs, and what can come of each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Final

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.cards.blocks import Block
from bot.slack.cards.live import read_mark
from bot.slack.clients import ANSWER_WITHIN, error_code, is_code, retry_after, status_of
from bot.slack.ids import METADATA_TYPE, Address

_PAGE: Final = 200
#: Slack says of these that some of it may have been done before it went wrong.
_MAY_BE_DONE: Final = frozenset({"fatal_error", "internal_error"})


class SlackRefused(Exception):
    """Slack said no: nothing was posted or changed. ``code`` is its word for why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class RateLimited(SlackRefused):
    """Too much: not before ``retry_after`` seconds."""

    def __init__(self, code: str, retry_after: float) -> None:
        super().__init__(code)
        self.retry_after = retry_after


class NotSent(SlackRefused):
    """Slack could not be reached at all."""


class AnswerLost(Exception):
    """It may have been done, or not."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A message as it was posted."""

    address: Address
    #: Has Slack said that it stands where it was to? Else it may stand in the channel, for everybody.
    is_in_place: bool


@dataclass(frozen=True, slots=True)
class Posted:
    """A message as it was found."""

    address: Address
    run_id: str | None
    key: str | None
    #: By Slack's ids of them.
    files: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the messages of a thread, or of a channel."""

    messages: Sequence[Posted]
    #: Where the next page begins; None: this is the last one.
    cursor: str | None
    #: What Slack's clock said, in seconds since 1970, where it has one.
    said_at: float | None


class SlackThreads:
    """Posts, edits and reads messages. Each call raises ``SlackRefused`` or ``AnswerLost``.

    ``client`` must have no retry handlers: the SDK's own silently post a second time when a
    connection drops after Slack has posted.
    """

    def __init__(self, client: AsyncWebClient) -> None:
        self.client = client
        #: By user. A direct message stays where it is.
        self._direct_channels: dict[str, str] = {}

    async def post(
        self,
        channel: str,
        thread_ts: str | None,
        text: str,
        blocks: Sequence[Block],
        *,
        run_id: str,
        key: str,
    ) -> Sent:
        """A new message, in the thread if there is one."""
        answer = await data_of(
            self.client.chat_postMessage(
                channel=channel,
                thread_ts=thread_ts,
                text=text,
                blocks=list(blocks) or None,
                metadata={
                    "event_type": METADATA_TYPE,
                    "event_payload": {"run_id": run_id, "key": key},
                },
                unfurl_links=False,
                unfurl_media=False,
            )
        )
        ts, stands_in = answer.get("ts"), answer.get("channel")
        if not isinstance(ts, str) or not Address.is_one(f"{channel}/{ts}"):
            raise AnswerLost("ok without a ts")
        address = Address(stands_in if isinstance(stands_in, str) else channel, ts)
        return Sent(address, thread_ts is None or not _stands_alone(answer.get("message")))

    async def take_back(self, address: Address) -> None:
        """Delete a message; one that is gone is gone."""
        try:
            await data_of(self.client.chat_delete(channel=address.channel, ts=address.ts))
        except SlackRefused as error:
            if error.code != "message_not_found":
                raise

    def known_direct_channel(self, user: str) -> str | None:
        """Where this user reads what is said to them alone, if that was asked before."""
        return self._direct_channels.get(user)

    async def direct_channel(self, user: str) -> str:
        """Where this user reads what is said to them alone."""
        channel = (await data_of(self.client.conversations_open(users=user))).get("channel")
        found = channel.get("id") if isinstance(channel, dict) else None
        if not isinstance(found, str):
            raise AnswerLost("ok without a channel")
        self._direct_channels[user] = found
        return found

    async def update(self, address: Address, text: str, blocks: Sequence[Block]) -> None:
        """Replace text and blocks; metadata stays."""
        await data_of(
            self.client.chat_update(
                channel=address.channel, ts=address.ts, text=text, blocks=list(blocks)
            )
        )

    async def page(
        self,
        channel: str,
        thread_ts: str | None,
        *,
        oldest: str,
        latest: str | None,
        cursor: str | None,
    ) -> Page:
        """Messages of the thread, or of the channel itself."""
        wanted: dict[str, Any] = {
            "channel": channel,
            "oldest": oldest,
            "latest": latest,
            "cursor": cursor,
            "limit": _PAGE,
            "include_all_metadata": True,
        }
        if thread_ts is None:
            call = self.client.conversations_history(**wanted)
        else:
            call = self.client.conversations_replies(ts=thread_ts, **wanted)
        answer, headers = await _answer(call)
        messages = answer.get("messages") or []
        if not isinstance(messages, list):
            raise AnswerLost("ok without messages")
        found = [posted_in(channel, one) for one in messages if isinstance(one, dict)]
        following = _text(_mapping(answer.get("response_metadata")).get("next_cursor")) or None
        return Page(found, following, _date(headers))


async def data_of(call: Awaitable[Any]) -> Mapping[str, Any]:
    """Slack's answer, or what it means that there is none."""
    return (await _answer(call))[0]


async def _answer(call: Awaitable[Any]) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """With its headers."""
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            response = await call
    except SlackApiError as error:
        raise _meaning(error) from error
    except aiohttp.ClientConnectorError as error:
        raise NotSent("unreachable") from error
    except (aiohttp.ClientError, SlackClientError, TimeoutError, OSError, ValueError) as error:
        raise AnswerLost(type(error).__name__) from error
    return response.data, response.headers


def _meaning(error: SlackApiError) -> Exception:
    said, status = error_code(error), status_of(error)
    # What is none of Slack's words some other machine has said, and it goes into logs and rows.
    code = said if said is not None and is_code(said) else None
    if (seconds := retry_after(error)) is not None:
        return RateLimited(code or "ratelimited", seconds)
    if code is None or code in _MAY_BE_DONE or (status is not None and status >= 500):
        return AnswerLost(f"status {status}")
    return SlackRefused(code)


def _date(headers: Mapping[str, str]) -> float | None:
    named = {str(name).lower(): str(value) for name, value in headers.items()}
    try:
        return parsedate_to_datetime(named.get("date", "")).timestamp()
    except (ValueError, OverflowError):
        return None


def _stands_alone(message: object) -> bool:
    """Does Slack show the message, and in no thread?"""
    return isinstance(message, dict) and bool(message.get("ts")) and not message.get("thread_ts")


def posted_in(channel: str, message: Mapping[str, Any]) -> Posted:
    """A message of this channel, as Slack shows it."""
    metadata = _mapping(message.get("metadata"))
    is_ours = metadata.get("event_type") == METADATA_TYPE
    payload = _mapping(metadata.get("event_payload")) if is_ours else {}
    address, files = Address(channel, str(message.get("ts"))), _files(message.get("files"))
    if not is_ours and (streamed := _streamed_as(message.get("blocks"))) is not None:
        return Posted(address, *streamed, files)
    return Posted(address, _text(payload.get("run_id")), _text(payload.get("key")), files)


def _streamed_as(shown: object) -> tuple[str, str] | None:
    """The run and the key of what is being streamed: until that ends it has no metadata."""
    blocks = [_mapping(one) for one in shown] if isinstance(shown, list) else []
    marks = (read_mark(one.get(name)) for one in blocks for name in ("task_id", "block_id"))
    return next((one for one in marks if one is not None), None)


def _files(shown: object) -> frozenset[str]:
    """Those that can be opened: of one that was deleted a tombstone stays."""
    files = [_mapping(one) for one in shown] if isinstance(shown, list) else []
    there = (_text(one.get("id")) for one in files if one.get("mode") != "tombstone")
    return frozenset(one for one in there if one is not None)


def _mapping(value: object) -> Mapping[str, Any]:
    """Anybody's app may write any metadata."""
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
