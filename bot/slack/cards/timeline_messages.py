"""What a run's time line says of what people said to it: as it stands by now. What was taken back, or put otherwise,
before the agent heard it is not told again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from agent.rules.events import RunStarted
from agent.rules.interventions import MessageDeleted, MessageEdited, MessageReceived
from agent.rules.listing import join_words
from agent.rules.parts import GivenFile
from agent.rules.state import RunState
from bot.slack.cards.dry_run import DRY_RUN_IN_PLAIN
from bot.slack.cards.mentions import name_principal
from bot.slack.cards.text import quoted

_WORDS_LIMIT = 300
_NAME_LIMIT = 80
_FILES_NAMED = 3


def words_of_message(
    event: RunStarted | MessageReceived | MessageEdited | MessageDeleted, state: RunState
) -> str:
    """Who said what, ``state`` being how the run stands after all of it."""
    who = name_principal(event.requester if isinstance(event, RunStarted) else event.by)
    is_gone = event.ref in state.deleted
    match event:
        case RunStarted() if is_gone:
            return f"{who} asked for something, and took it back"
        case RunStarted(prompt=prompt, ref=ref):
            asked = (_now(ref, state) or state.prompt) if ref in state.edited else prompt
            dry = f"{DRY_RUN_IN_PLAIN} · " if event.dry_run else ""
            return f"{dry}{who} asked: “{quoted(asked, _WORDS_LIMIT)}”{_with_it(event)}"
        case MessageReceived() if is_gone:
            return f"{who} said something, and took it back"
        case MessageReceived(ref=ref) if ref in state.edited:
            return f"{who} said something, and changed it"
        case MessageReceived(text=text):
            return f"{who} said: “{quoted(text, _WORDS_LIMIT)}”{_with_it(event)}"
        case MessageEdited(text=text, ref=ref):
            is_newest = not is_gone and text == (_now(ref, state) or state.prompt)
            as_it_is = f": “{quoted(text, _WORDS_LIMIT)}”" if is_newest else ""
            return f"{who} changed what they said{as_it_is}"
        case MessageDeleted():
            return f"{who} took back what they had said"
        case _:
            assert_never(event)


def _now(ref: str | None, state: RunState) -> str | None:
    """The words that stand at ``ref``; None for what is only the run's beginning."""
    return next((one.text for one in state.said if one.ref == ref), None)


def _with_it(event: RunStarted | MessageReceived) -> str:
    """What the agent was given beside the words."""
    count = len(event.quoted)
    said = [f"{count} message{'' if count == 1 else 's'} of others"] if count else []
    given = [*said, *_files(event.files)]
    return f" · with it: {join_words(given)}" if given else ""


def _files(files: tuple[GivenFile, ...]) -> Iterable[str]:
    yield from map(_file, files[:_FILES_NAMED])
    if (more := len(files) - _FILES_NAMED) > 0:
        yield f"{more} more file{'' if more == 1 else 's'}"


def _file(file: GivenFile) -> str:
    name = f"“{quoted(file.name, _NAME_LIMIT)}”"
    return name if file.text is not None else f"{name} (not read)"
