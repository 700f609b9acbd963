"""How people, times and data read in mrkdwn, for whatever the rules put into words."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from agent.rules.explaining import Voice
from agent.rules.ids import Principal
from agent.rules.parts import Word
from bot.slack.cards.mentions import (
    mention_group,
    mention_user,
    name_decider,
    name_principal,
    when,
)
from bot.slack.cards.text import quoted
from bot.slack.ids import SlackUser

_DATA_LIMIT: Final = 800


class _Mrkdwn:
    def data(self, text: str) -> str:
        return quoted(text, _DATA_LIMIT)

    def user(self, id: str) -> str:
        return mention_user(id)

    def group(self, id: str) -> str:
        return mention_group(id)

    def principal(self, principal: Principal) -> str:
        return name_principal(principal)

    def speaker(self, word: Word) -> str:
        return name_decider(word)

    def id_of(self, principal: Principal) -> str | None:
        found = SlackUser.of(principal)
        return None if found is None else found.user

    def when(self, at: datetime) -> str:
        return when(at)


MRKDWN: Final[Voice] = _Mrkdwn()
