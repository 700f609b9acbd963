"""How people, times and data read on a terminal, for whatever the rules put into words."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from agent.rules.explaining import Voice
from agent.rules.ids import Principal
from agent.rules.parts import Word
from bot.cli.names import name_of, show_minute, who_said
from bot.cli.plain import one_line


class _Plain:
    def data(self, text: str) -> str:
        return one_line(text)

    def user(self, id: str) -> str:
        return one_line(id)

    def group(self, id: str) -> str:
        return one_line(id)

    def principal(self, principal: Principal) -> str:
        return name_of(principal)

    def speaker(self, word: Word) -> str:
        return who_said(word)

    def id_of(self, principal: Principal) -> str | None:
        return name_of(principal) if principal.startswith("slack:") else None

    def when(self, at: datetime) -> str:
        return f"{show_minute(at)} UTC"


PLAIN: Final[Voice] = _Plain()
