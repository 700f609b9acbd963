"""What is said, to who shared them alone, of files that the agent was not given; mrkdwn."""

from __future__ import annotations

from collections.abc import Sequence

from agent.rules.given import fitting_files
from agent.rules.parts import GivenFile
from bot.slack.cards.text import quoted

_NAME = 120
#: Without words they start nothing, and an answer is words alone.
_SHARE = "Share it again, in a new message that says what you want with it."


def not_read_text(files: Sequence[GivenFile]) -> str:
    """A line for each that was not read, or not whole; empty where all were."""
    return "\n".join(_line(one) for one in fitting_files(files) if one.why_not)


def without_words_text(names: Sequence[str]) -> str:
    """For a message in which nothing is said of its files."""
    return f"Nothing was done: what should I do with {_named(names)}? {_SHARE}"


def beside_an_answer_text(names: Sequence[str]) -> str:
    """Of files beside an answer to a question, which is words alone; empty where there are none."""
    if not names:
        return ""
    return f"The agent has your answer, but not {_named(names)}. {_SHARE}"


def _named(names: Sequence[str]) -> str:
    return f"“{quoted(names[0], _NAME)}”" if len(names) == 1 else f"these {len(names)} files"


def _line(file: GivenFile) -> str:
    how = "was not read" if file.text is None else "was not read whole"
    return f"“{quoted(file.name, _NAME)}” {how}: {file.why_not}."
