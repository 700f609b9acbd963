"""The note of what people say while a call waits, below the card of each who has that in their own direct messages: of
a run that lives in somebody's, nobody else sees the thread, and who may decide could use none of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agent.ports import ThreadMessage
from agent.rules.state import RunState
from bot.slack.cards.elsewhere import is_channel
from bot.slack.cards.guidance import note_message, notes
from bot.slack.ids import Place
from bot.slack.thread.cards_of import is_card_of
from bot.slack.thread.desired import Priority, Wanted


def notes_directly(state: RunState, rows: Mapping[str, ThreadMessage]) -> Iterator[Wanted]:
    """By what is known of the messages now."""
    place = Place.of(state.place)
    if place is None or not place.channel.startswith("D"):
        return
    for note in notes(state):
        about, is_open = note.offers[-1].about, bool(note.open)
        is_card = is_card_of(about, state)
        for key in filter(is_card, sorted(rows)):
            user = ":".join(key.split(":")[2:])
            if not user or is_channel(user) or not _stands(rows[key]):
                continue
            yield Wanted(
                f"note:{about}:{user}",
                note_message(note, state),
                Priority.ANSWER,
                is_open=is_open,
                is_past=not is_open,
                to=user,
                below=key,
            )


def _stands(card: ThreadMessage) -> bool:
    return card.address is not None and card.status != "posting"
