"""``stop`` and its like, sent off in the modal: said to the run of the message's thread, as any message there."""

from __future__ import annotations

from typing import Final

from bot.slack.answering import Answer
from bot.slack.ids import ASK_BLOCK
from bot.slack.interruptions import Alone
from bot.slack.intervening import act_in_words
from bot.slack.payloads import Actor
from bot.slack.services import Services
from bot.slack.shortcut.conversation import Conversation

_NO_RUN: Final = "Nothing was done: no run is at work in this thread."


async def act_there(services: Services, actor: Actor, at: Conversation, word: Alone) -> Answer:
    """Do it, and say so; where no run is, at the field."""
    if at.newest is None:
        return Answer(errors={ASK_BLOCK: _NO_RUN})
    return await act_in_words(services, actor, word, at.newest.run_id, at.place.channel)
