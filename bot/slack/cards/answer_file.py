"""The file with all of an answer that is too long to be read in messages."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from agent.rules.ids import RunId
from bot.slack.cards.text import SHORTENED, beginning, show

#: By which people find it below the answer's beginning.
ANSWER_FILE: Final = "answer.md"
#: Characters: no model says more at once, nor is there time to make it readable while people wait.
LONGEST: Final = 500_000


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """Secrets are masked in it and hidden characters shown, as in any message."""

    answer: str
    run_id: RunId

    @property
    def name(self) -> str:
        return ANSWER_FILE

    @property
    def title(self) -> str:
        return "The whole answer"

    @property
    def binding(self) -> str:
        return hashlib.sha256(self.answer.encode()).hexdigest()

    @property
    def comment(self) -> str:
        return "This is the whole answer."

    def content(self) -> bytes:
        """UTF-8. Takes seconds where it is very long: not to be called where others wait."""
        first = beginning(self.answer, LONGEST)
        text = show(first).text
        if len(first) < len(self.answer):
            text += (
                f"{SHORTENED}\n\nAll of it, on the command line: pilothouse show {self.run_id}\n"
            )
        return text.encode()
