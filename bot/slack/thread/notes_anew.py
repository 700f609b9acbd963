"""A note of what people say while something waits, posted anew where Slack lets nobody edit the one that stands there:
what is said later could be used as guidance nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agent.ports import ThreadMessage
from agent.rules.ids import ApprovalId
from agent.rules.state import RunState
from bot.slack.cards.guidance import Note, note_message, notes
from bot.slack.thread.desired import Priority, Wanted
from bot.slack.thread.digests import shows_something_older


def notes_anew(
    state: RunState, rows: Mapping[str, ThreadMessage], links: Mapping[ApprovalId, str]
) -> Iterator[Wanted]:
    """By what is known of the messages now; ``links`` lead to the cards."""
    for note in notes(state):
        if (key := _key(note, rows)) is not None:
            message = note_message(note, state, links.get(note.offers[-1].about))
            is_open = bool(note.open)
            yield Wanted(key, message, Priority.ANSWER, is_open=is_open, is_past=not is_open)


def _key(note: Note, rows: Mapping[str, ThreadMessage]) -> str | None:
    """Of the newest note that can be edited; else of one that is to come, named by the newest words in it."""
    begins = f"{note.key}:"
    there = [one.removeprefix(begins) for one in rows if one.startswith(begins)]
    # What ends otherwise is another build's.
    newest = max((int(one) for one in there if one.isascii() and one.isdecimal()), default=None)
    first = rows.get(note.key)
    if newest is None and (first is None or not shows_something_older(first)):
        return None
    if newest is not None and not shows_something_older(rows[f"{begins}{newest}"]):
        return f"{begins}{newest}"
    said = max((one.said.news for one in note.open), default=None)
    return None if said is None or said == newest else f"{begins}{said}"
