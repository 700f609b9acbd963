"""What a message brings with it: its words, what others said before it, and what is shared with it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from agent.rules.ids import SessionId
from agent.rules.parts import GivenFile, Quoted
from bot.slack import fields
from bot.slack.cards.given import not_read_text
from bot.slack.given.reading import given_files
from bot.slack.ids import Address
from bot.slack.messages import Message, edited_ts_of
from bot.slack.quoting.earlier import said_before
from bot.slack.quoting.pages import IS_GONE, NotRead, read_one
from bot.slack.services import Services
from bot.slack.words import Ask, wish_of

#: Seconds, in which somebody may have put it otherwise.
SLOW: Final = 0.3


@dataclass(frozen=True, slots=True)
class Heard:
    """What the agent is told of a message. But for ``text`` all of it is data."""

    text: str
    #: What others had said in its thread that the agent has not been told, oldest first.
    quoted: tuple[Quoted, ...] = ()
    files: tuple[GivenFile, ...] = ()
    #: When it was edited to read so; None for what was not.
    as_of: datetime | None = None

    @property
    def not_read(self) -> str:
        """What whoever shared them is told, once and privately, of files that the agent does not see; mrkdwn.
        Empty where it sees them all."""
        return not_read_text(self.files)


class TakenBack(Exception):
    """While it was being heard it was deleted, or put otherwise so that nothing is to be done: of that another event
    tells."""


async def hear(services: Services, message: Message, text: str, session: SessionId) -> Heard:
    """``text``, as the person typed it to the conversation ``session``, with what came with it. Of what Slack does
    not give in time, two seconds, the agent is told that. What was said before it there has been handed on then.
    What takes a while, or waits for that, is told as it reads by then. Raises ``TakenBack``, ``StoreUnavailable``."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    quoted, files = await asyncio.gather(
        said_before(services, message, session), given_files(services, message)
    )
    await services.turns.come(message)
    is_slow = loop.time() - begun > SLOW
    if is_slow:
        text, as_of = await _newest(services, message, text)
    else:
        as_of = message.as_of
    return Heard(text, quoted, files, as_of)


async def _newest(services: Services, message: Message, text: str) -> tuple[str, datetime | None]:
    """What it says now, and since when. Where Slack does not show it, what it said. Raises as ``hear``."""
    at, bot_user = Address(message.channel, message.ts), (await services.people.home()).bot_user
    try:
        shown = await read_one(services, at, message.thread)
    except NotRead as error:
        if error.code in IS_GONE:
            raise TakenBack from error
        return text, message.as_of
    raw = fields.optional_text(shown, "text")
    now = replace(message, raw=raw, edited_ts=edited_ts_of(shown))
    if now.text(bot_user) == message.text(bot_user):
        return text, now.as_of
    if not isinstance(wish_of(now, bot_user), Ask):
        raise TakenBack
    return now.text(bot_user), now.as_of
