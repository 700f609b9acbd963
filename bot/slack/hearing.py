"""What a message brings with it: its words, what others said before it, and what is shared with it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from agent.rules.ids import SessionId
from agent.rules.parts import GivenFile, Quoted
from bot.slack.cards.given import not_read_text
from bot.slack.given.reading import given_files
from bot.slack.messages import Message
from bot.slack.quoting.earlier import said_before
from bot.slack.services import Services


@dataclass(frozen=True, slots=True)
class Heard:
    """What the agent is told of a message. But for ``text`` all of it is data."""

    text: str
    #: What others had said in its thread that the agent has not been told, oldest first.
    quoted: tuple[Quoted, ...] = ()
    files: tuple[GivenFile, ...] = ()

    @property
    def not_read(self) -> str:
        """What whoever shared them is told, once and privately, of files that the agent does not see; mrkdwn.
        Empty where it sees them all."""
        return not_read_text(self.files)


async def hear(services: Services, message: Message, text: str, session: SessionId) -> Heard:
    """``text``, as the person typed it to the conversation ``session``, with what came with it. Of what Slack does
    not give in time, two seconds, the agent is told that. What was said before it there has been handed on then.
    Raises ``StoreUnavailable``."""
    quoted, files = await asyncio.gather(
        said_before(services, message, session), given_files(services, message)
    )
    await services.turns.come(message)
    return Heard(text, quoted, files)
