"""Telling one person something privately, within what Slack allows all processes together.

It goes first, as cards do, and is tried again where nothing is left and where Slack is away, but not for long:
whoever acted has gone on by then, and what it is about is in the store. Where an answer of Slack's is lost it may be
said twice: better than never, for who waits to hear what became of their click.
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
from bot.slack.clients import ANSWER_WITHIN, SLACK_ERRORS, error_name, is_passing, retry_after
from bot.slack.limiter import Action, posting, whispering
from bot.slack.payloads import Actor, Spot
from bot.slack.services import Services
from bot.slack.thread.desired import Priority

#: Seconds for which an answer is of use.
_OF_USE: Final = 20.0
#: After the first time that Slack was away; twice as long after each other.
_FIRST_PAUSE: Final = 0.5
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
    channel, thread_ts, until = spot.channel, spot.thread_ts, _now() + _OF_USE
    if channel is not None and await post(
        services, channel, thread_ts, text, only_to=actor.user, until=until
    ):
        return
    await post(services, actor.user, None, text, until=until)


async def post(
    services: Services,
    channel: str,
    thread_ts: str | None,
    text: str,
    *,
    only_to: str | None = None,
    until: float | None = None,
) -> bool:
    """Post a private sentence; False when Slack did not take it. What it is about is in the store. ``until``: by the
    loop's clock, when it is of no use any more; else that is soon."""
    if not text:
        return True
    where: dict[str, Any] = {"channel": channel, "text": text}
    if thread_ts is not None:
        where["thread_ts"] = thread_ts
    until = until or _now() + _OF_USE
    try:
        if only_to is None:
            send = partial(services.slack.chat_postMessage, **where, unfurl_links=False)
            return await sent_in_time(services, partial(posting, channel=channel), send, until)
        send = partial(services.slack.chat_postEphemeral, **where, user=only_to)
        return await sent_in_time(services, whispering, send, until)
    except SLACK_ERRORS as error:
        _log.warning("Could not answer in %s: %s", channel, error_name(error))
        return False


async def sent_in_time(
    services: Services,
    action_of: Callable[[str], Action],
    send: Callable[[], Awaitable[Any]],
    until: float | None = None,
) -> bool:
    """False when it could not be sent while it was of use; ``action_of`` a team. ``until`` as for ``post``. Raises
    ``SLACK_ERRORS``."""
    until = until or _now() + _OF_USE
    pause = _FIRST_PAUSE
    while True:
        try:
            action = action_of((await services.people.home()).team)
            wait = await _wait(services, action) or await _try(services, action, send)
        except SLACK_ERRORS as error:
            if not is_passing(error):
                raise
            wait, pause = pause, pause * 2
            _log.info("Somebody is answered a little later: %s", error_name(error))
        if not wait:
            return True
        if _now() + wait > until:
            _log.warning("Could not answer somebody: Slack takes no more now")
            return False
        await asyncio.sleep(wait)


def _now() -> float:
    return asyncio.get_running_loop().time()


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
        async with asyncio.timeout(ANSWER_WITHIN):
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
