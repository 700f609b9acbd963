"""The few calls to Slack that drawing a thread needs, and what can come of each."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.cards.blocks import Block
from bot.slack.clients import error_code, retry_after, status_of
from bot.slack.ids import METADATA_TYPE, Address

log = logging.getLogger(__name__)

#: Seconds after which an answer counts as lost.
ANSWER_WITHIN: Final = 15.0
_PAGE: Final = 200


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


class Leaked(SlackRefused):
    """It was to stand in a thread that is gone, stands in the channel instead, for everybody, and could not be
    taken back."""

    def __init__(self, address: Address) -> None:
        super().__init__("thread_not_found")
        self.address = address


class AnswerLost(Exception):
    """It may have been done, or not."""


@dataclass(frozen=True, slots=True)
class Posted:
    """A message as it was found."""

    address: Address
    run_id: str | None
    key: str | None


class SlackThreads:
    """Posts, edits and reads messages. Each call raises ``SlackRefused`` or ``AnswerLost``.

    ``client`` must have no retry handlers: the SDK's own silently post a second time when a
    connection drops after Slack has posted.
    """

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client

    async def post(
        self,
        channel: str,
        thread_ts: str | None,
        text: str,
        blocks: Sequence[Block],
        *,
        run_id: str,
        key: str,
    ) -> Address:
        """A new message, in the thread if there is one. Raises ``Leaked``, too."""
        answer = await _answer(
            self._client.chat_postMessage(
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
        if not isinstance(ts, str):
            raise AnswerLost("ok without a ts")
        address = Address(stands_in if isinstance(stands_in, str) else channel, ts)
        said_in_thread = not _stands_alone(answer.get("message"))
        if thread_ts is None or said_in_thread or await self._is_in_thread(address, thread_ts):
            return address
        try:
            await self.take_back(address)
        except (SlackRefused, AnswerLost) as error:
            log.error("a message that leaked to %s can't be deleted: %s", address.channel, error)
            raise Leaked(address) from error
        raise SlackRefused("thread_not_found")

    async def _is_in_thread(self, address: Address, thread_ts: str) -> bool:
        """Slack did not say so of what it has posted. Unless it says now that it is not, it is."""
        just_before = f"{float(address.ts) - 0.001:.6f}"
        try:
            page, _ = await self.page(
                address.channel, thread_ts, oldest=just_before, latest=None, cursor=None
            )
        except SlackRefused as error:
            return error.code != "thread_not_found"
        except AnswerLost:
            return True
        return any(one.address.ts == address.ts for one in page)

    async def take_back(self, address: Address) -> None:
        """Delete a message; one that is gone is gone."""
        try:
            await _answer(self._client.chat_delete(channel=address.channel, ts=address.ts))
        except SlackRefused as error:
            if error.code != "message_not_found":
                raise

    async def direct_channel(self, user: str) -> str:
        """Where this user reads what is said to them alone."""
        channel = (await _answer(self._client.conversations_open(users=user))).get("channel")
        found = channel.get("id") if isinstance(channel, dict) else None
        if not isinstance(found, str):
            raise AnswerLost("ok without a channel")
        return found

    async def update(self, address: Address, text: str, blocks: Sequence[Block]) -> None:
        """Replace text and blocks; metadata stays."""
        await _answer(
            self._client.chat_update(
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
    ) -> tuple[list[Posted], str | None]:
        """Messages of the thread, or of the channel itself, and where the next page begins."""
        wanted: dict[str, Any] = {
            "channel": channel,
            "oldest": oldest,
            "latest": latest,
            "cursor": cursor,
            "limit": _PAGE,
            "include_all_metadata": True,
        }
        if thread_ts is None:
            call = self._client.conversations_history(**wanted)
        else:
            call = self._client.conversations_replies(ts=thread_ts, **wanted)
        answer = await _answer(call)
        messages = answer.get("messages") or []
        if not isinstance(messages, list):
            raise AnswerLost("ok without messages")
        found = [_posted(channel, one) for one in messages if isinstance(one, dict)]
        return found, _text(_mapping(answer.get("response_metadata")).get("next_cursor")) or None


async def _answer(call: Awaitable[Any]) -> Mapping[str, Any]:
    """Slack's answer as a mapping, or what it means that there is none."""
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            response = await call
    except SlackApiError as error:
        raise _meaning(error) from error
    except aiohttp.ClientConnectorError as error:
        raise NotSent("unreachable") from error
    except (aiohttp.ClientError, SlackClientError, TimeoutError, OSError, ValueError) as error:
        raise AnswerLost(type(error).__name__) from error
    said: Mapping[str, Any] = response.data
    return said


def _meaning(error: SlackApiError) -> Exception:
    code, status = error_code(error), status_of(error)
    if (seconds := retry_after(error)) is not None:
        return RateLimited(code or "ratelimited", seconds)
    if code is None or (status is not None and status >= 500):
        return AnswerLost(f"status {status}")
    return SlackRefused(code)


def _stands_alone(message: object) -> bool:
    """Does Slack show the message, and in no thread?"""
    return isinstance(message, dict) and bool(message.get("ts")) and not message.get("thread_ts")


def _posted(channel: str, message: Mapping[str, Any]) -> Posted:
    metadata = _mapping(message.get("metadata"))
    is_ours = metadata.get("event_type") == METADATA_TYPE
    payload = _mapping(metadata.get("event_payload")) if is_ours else {}
    return Posted(
        Address(channel, str(message.get("ts"))),
        _text(payload.get("run_id")),
        _text(payload.get("key")),
    )


def _mapping(value: object) -> Mapping[str, Any]:
    """Anybody's app may write any metadata."""
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
