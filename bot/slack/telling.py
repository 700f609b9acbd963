"""Telling one person something privately, within what Slack allows all processes together.

It goes first, as cards do, and is waited for where nothing is left, but not for long: whoever acted has gone
on by then, and what it is about is in the store.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final

from slack_sdk.errors import SlackApiError

from agent.errors import StoreError
from bot.slack.cards.blocks import Block
from bot.slack.clients import SLACK_ERRORS, error_name, retry_after
from bot.slack.limiter import Action, posting, whispering
from bot.slack.payloads import Actor, Spot
from bot.slack.services import Services
from bot.slack.thread.desired import Priority

#: Seconds for which an answer is of use.
_OF_USE: Final = 20.0
_log = logging.getLogger(__name__)


async def whisper(
    services: Services,
    spot: Spot,
    actor: Actor,
    text: str,
    blocks: Sequence[Block] = (),
    *,
    is_in_place: bool = False,
) -> None:
    """Tell one person privately: where they acted if that is possible, else directly. ``is_in_place``: instead
    of what they acted on, which must be theirs alone."""
    if not text:
        return
    message = {"response_type": "ephemeral", "replace_original": is_in_place, "text": text}
    message |= {"blocks": list(blocks)} if blocks else {}
    if spot.thread_ts is not None:
        message["thread_ts"] = spot.thread_ts
    url = spot.response_url
    if url is not None and await services.response_urls.send(url, message):
        return
    channel, thread_ts = spot.channel, spot.thread_ts
    if channel is not None and await post(services, channel, thread_ts, text, only_to=actor.user):
        return
    await post(services, actor.user, None, text)


async def post(
    services: Services,
    channel: str,
    thread_ts: str | None,
    text: str,
    *,
    only_to: str | None = None,
) -> bool:
    """Post a private sentence; False when Slack did not take it. What it is about is in the store."""
    if not text:
        return True
    where: dict[str, Any] = {"channel": channel, "text": text}
    if thread_ts is not None:
        where["thread_ts"] = thread_ts
    try:
        team = (await services.people.home()).team
        if only_to is None:
            send = partial(services.slack.chat_postMessage, **where, unfurl_links=False)
            return await sent_in_time(services, posting(team, channel), send)
        send = partial(services.slack.chat_postEphemeral, **where, user=only_to)
        return await sent_in_time(services, whispering(team), send)
    except SLACK_ERRORS as error:
        _log.warning("Could not answer in %s: %s", channel, error_name(error))
        return False


async def sent_in_time(
    services: Services, action: Action, send: Callable[[], Awaitable[Any]]
) -> bool:
    """False when it was not allowed while it was of use. Raises ``SLACK_ERRORS``."""
    now = asyncio.get_running_loop().time
    until = now() + _OF_USE
    while wait := await _wait(services, action) or await _try(services, action, send):
        if now() + wait > until:
            _log.warning("Could not answer somebody: Slack allows no more now")
            return False
        await asyncio.sleep(wait)
    return True


async def _wait(services: Services, action: Action) -> float:
    """Seconds until it may be asked for again; zero: now. Without the store nobody knows, and that may be
    just what the person has to be told."""
    try:
        return await services.limiter.take(action, Priority.APPROVAL)
    except StoreError as error:
        _log.warning("It is not known what Slack still allows: %s", error)
        return 0.0


async def _try(services: Services, action: Action, send: Callable[[], Awaitable[Any]]) -> float:
    """Zero: it is sent. Else the seconds for which Slack wants to be let be, by all processes; then nothing
    was posted. Raises ``SLACK_ERRORS``."""
    try:
        await send()
    except SlackApiError as error:
        if (seconds := retry_after(error)) is None:
            raise
    else:
        return 0.0
    try:
        await services.limiter.withhold(action, seconds)
    except StoreError as error:
        _log.warning("Other processes don't know that Slack allows no more now: %s", error)
    return seconds
