"""Messages as Slack shows them, read while somebody waits: in a short time, as Slack allows, or not at all."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.slack.ids import Address
from bot.slack.limiter import Action, reading
from bot.slack.messages import TOMBSTONE
from bot.slack.quoting.newest import Page, Read, read_newest
from bot.slack.services import Services
from bot.slack.thread.desired import Priority
from bot.slack.thread.edge import AnswerLost, RateLimited, SlackRefused, data_of
from bot.slack.thread.setbacks import is_lasting

#: Slack waits three seconds for an acknowledgement. Before this it may have been asked what opened the thread, and
#: the run is begun after it.
READ_SECONDS: Final = 1.0
#: Slack asks for no more than so many at once.
_PAGE: Final = 200
#: In a page that is about one message: a thread's first message comes along whatever is asked for.
_ONE: Final = 2
_NOT_FOUND: Final = "message_not_found"
#: Slack's words for a message that is not there.
IS_GONE: Final = frozenset({_NOT_FOUND, "thread_not_found"})
#: In place of Slack's word: so much is read that it is not asked.
NOT_ALLOWED: Final = "not allowed now"
_log = logging.getLogger(__name__)


class NotRead(Exception):
    """Slack did not show it; ``code`` is its word for why, None where it said nothing. ``is_lasting``: it will say so
    as often as it is asked, until somebody does something about it."""

    def __init__(self, code: str | None, *, is_lasting: bool = False) -> None:
        super().__init__(code or "no answer")
        self.code = code
        self.is_lasting = is_lasting


async def read_thread(services: Services, root: Address, *, after: str, before: str) -> Read:
    """What stands in the thread between these moments, the newest of it where that is long: its first message may
    come along. Raises ``StoreUnavailable``."""

    async def read_between(since: str, until: str) -> Page:
        page = await _page(services, root, {"oldest": since, "latest": until, "limit": _PAGE})
        following = page.get("response_metadata")
        has_more = isinstance(following, Mapping) and following.get("next_cursor")
        return Page(tuple(_messages(page)), not has_more)

    read = Read()
    try:
        async with asyncio.timeout(READ_SECONDS):
            await read_newest(read_between, read, after, before)
    except (TimeoutError, NotRead) as error:
        _log.info("not all of the thread at %s was read: %s", root, error)
    return read


async def read_channel(services: Services, channel: str, *, after: str, before: str) -> Read:
    """What stands in the channel itself between these moments, the newest of it. Raises ``StoreUnavailable``."""
    bounds = {"channel": channel, "oldest": after, "latest": before, "limit": _PAGE}
    action = reading((await services.people.home()).team, is_thread=False)
    try:
        async with asyncio.timeout(READ_SECONDS):
            page = await _shown(services, action, services.slack.conversations_history, bounds)
    except (TimeoutError, NotRead) as error:
        _log.info("%s was not read: %s", channel, error)
        return Read()
    return Read(_messages(page)[::-1], is_whole=True)


async def read_one(services: Services, message: Address, thread_ts: str) -> Mapping[str, Any]:
    """The message as it stands there now. Raises ``NotRead``, also where it is gone; ``StoreUnavailable``."""
    bounds = {"oldest": message.ts, "latest": message.ts, "limit": _ONE}
    return (await _read_from(services, message, thread_ts, bounds))[0]


async def read_from(
    services: Services, message: Address, thread_ts: str
) -> list[Mapping[str, Any]]:
    """The same, and of what stands behind it in its thread as much as is shown at once. Raises as ``read_one``."""
    bounds = {"oldest": message.ts, "limit": _PAGE}
    return await _read_from(services, message, thread_ts, bounds)


async def _read_from(
    services: Services, message: Address, thread_ts: str, bounds: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    root = Address(message.channel, thread_ts)
    try:
        async with asyncio.timeout(READ_SECONDS):
            page = await _page(services, root, {**bounds, "inclusive": True})
    except TimeoutError as error:
        raise NotRead(None) from error
    shown = _messages(page)
    found = [n for n, one in enumerate(shown) if one.get("ts") == message.ts]
    # What has replies leaves its place behind.
    if not found or shown[found[0]].get("subtype") == TOMBSTONE:
        raise NotRead(_NOT_FOUND, is_lasting=True)
    return shown[found[0] :]


async def _page(services: Services, root: Address, bounds: Mapping[str, Any]) -> Mapping[str, Any]:
    """Raises ``NotRead``, ``StoreUnavailable``."""
    action = reading((await services.people.home()).team, is_thread=True)
    wanted = {"channel": root.channel, "ts": root.ts, **bounds}
    return await _shown(services, action, services.slack.conversations_replies, wanted)


async def _shown(
    services: Services,
    action: Action,
    look: Callable[..., Awaitable[AsyncSlackResponse]],
    wanted: Mapping[str, Any],
) -> Mapping[str, Any]:
    """It goes first: somebody waits for it. Raises ``NotRead``, ``StoreUnavailable``."""
    while wait := await services.limiter.take(action, Priority.APPROVAL):
        if wait > READ_SECONDS:
            raise NotRead(NOT_ALLOWED)
        await asyncio.sleep(wait)
    try:
        return await data_of(look(**wanted))
    except RateLimited as error:
        await services.limiter.withhold(action, error.retry_after)
        raise NotRead(error.code) from error
    except SlackRefused as error:
        raise NotRead(error.code, is_lasting=is_lasting(error)) from error
    except AnswerLost as error:
        raise NotRead(None) from error


def _messages(page: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = page.get("messages")
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
