"""The files with all of a question: which are to stand where, and whether they do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from agent.ports import ThreadMessage
from agent.rules.ids import ApprovalId
from agent.rules.state import Approval, RunState
from bot.slack.cards.arguments import describe_arguments, is_summary_whole
from bot.slack.cards.elsewhere import is_channel
from bot.slack.cards.in_full import (
    THERE,
    FileStanding,
    InFull,
    fits_in_a_file,
    is_file_needed,
    is_in_slack_itself,
)
from bot.slack.cards.in_words import is_told_in_words
from bot.slack.cards.message import Message
from bot.slack.thread.desired import Priority, Wanted
from bot.slack.thread.digests import stands_in_text
from bot.slack.thread.keys import file_key, is_shared_at, key_at, key_in_thread
from bot.slack.thread.setbacks import Later
from bot.slack.thread.uploading import shows

#: Characters of what is asked that a list has room for.
_IN_LISTS: Final = 240


def is_attached(
    rows: Mapping[str, ThreadMessage], approval: Approval, state: RunState, user: str
) -> bool:
    """Does the file stand where this user is asked, as far as is known?"""
    return file_for(rows, approval, state, user) is not None


def file_for(
    rows: Mapping[str, ThreadMessage], approval: Approval, state: RunState, user: str
) -> ThreadMessage | None:
    """The file where this user is asked: in the channel of its rule, with them directly, or, where it is
    asked in neither, in the thread."""
    elsewhere = (approval.requested.delivery.card, user)
    is_elsewhere = any(key_at(approval.id, place, state) in rows for place in elsewhere)
    places = elsewhere if is_elsewhere else (*elsewhere, None)
    keys = (file_key(approval.id, place) for place in places)
    found = (rows.get(key) for key in keys)
    return next((row for row in found if shows(row, approval.requested.hash)), None)


def is_shown(
    rows: Mapping[str, ThreadMessage], approval: Approval, state: RunState, user: str
) -> bool:
    """Can this user read all of it where they are asked?"""
    if is_attached(rows, approval, state, user):
        return True
    cards = _cards(rows, approval, state, user)
    if not cards:
        return _is_told_in_lists(approval, state)
    if all(map(stands_in_text, cards.values())):
        alone = {_is_alone(approval, place) for place in cards}
        return any(is_told_in_words(approval, state, is_alone=one) for one in alone)
    return is_in_slack_itself(approval, state.call(approval.requested.of_call))


def _is_told_in_lists(approval: Approval, state: RunState) -> bool:
    """Where it stands nowhere, people know of it from the list of what waits for them."""
    asked = approval.requested
    arguments = describe_arguments(asked.args, state.call(asked.of_call).parameters)
    return asked.preview is None and is_summary_whole(arguments, _IN_LISTS)


def _cards(
    rows: Mapping[str, ThreadMessage], approval: Approval, state: RunState, user: str
) -> Mapping[str | None, ThreadMessage]:
    """By the places where its rule wants it; else that of the thread, by None."""
    found: dict[str | None, ThreadMessage] = {}
    for place in (approval.requested.delivery.card, user):
        if (key := key_at(approval.id, place, state)) in rows:
            found[place] = rows[key]
    home = key_in_thread(approval.id, state)
    if not found and home in rows:
        found[None] = rows[home]
    return {place: row for place, row in found.items() if row.address is not None}


def _is_alone(approval: Approval, place: str | None) -> bool:
    """Has it a card of its own there, whatever it shares in other places?"""
    return place is not None and not is_shared_at(place, approval)


@dataclass(frozen=True, slots=True)
class Files:
    """For whoever holds the thread's lease. ``put`` has one message in its place: None when it is done, else when
    it is tried again; ``why_refused`` is Slack's lasting word against one; ``is_card_due`` whether the card of a key
    is to be looked at, and what belongs to it. ``place``: a channel or a user; None: the thread."""

    state: RunState
    rows: Mapping[str, ThreadMessage]
    put: Callable[[Wanted], Awaitable[Later | None]]
    why_refused: Callable[[Wanted], str | None]
    is_card_due: Callable[[str], bool]
    _needed: dict[ApprovalId, bool] = field(default_factory=dict)

    def is_needed(self, approval: Approval, place: str | None = None) -> bool:
        """Can it be approved there only with the file?"""
        if approval.kind != "call":
            return False
        if approval.status == "pending" and self.standing(approval, place).is_there:
            return True
        row = self.rows.get(self._card_key(approval, place))
        if row is not None and stands_in_text(row):
            is_open = approval.status == "pending" and fits_in_a_file(approval)
            is_alone = _is_alone(approval, place)
            return is_open and not is_told_in_words(approval, self.state, is_alone=is_alone)
        if (known := self._needed.get(approval.id)) is None:
            call = self.state.call(approval.requested.of_call)
            known = self._needed[approval.id] = is_file_needed(approval, call)
        return known

    def standing(self, approval: Approval, place: str | None = None) -> FileStanding:
        """As far as is known."""
        wanted = self._wanted(approval, place)
        if shows(self.rows.get(wanted.key), approval.requested.hash):
            return THERE
        return FileStanding(refused=self.why_refused(wanted))

    def is_due(self, approval: Approval, place: str | None = None) -> bool:
        """Is it to be looked whether it still stands there? To be asked before its card is put there: that is a look
        at the card."""
        return self.is_card_due(self._card_key(approval, place))

    async def attach(
        self, approval: Approval, place: str | None = None, *, is_due: bool
    ) -> list[float]:
        """Have it stand there; after how many seconds that is tried again."""
        wanted = self._wanted(approval, place)
        later = await self.put(replace(wanted, is_looked_at=is_due and wanted.key in self.rows))
        return [] if later is None else [later.seconds]

    def _wanted(self, approval: Approval, place: str | None) -> Wanted:
        file = InFull(approval, self.state.call(approval.requested.of_call))
        key = file_key(approval.id, place)
        card = self._card_key(approval, place)
        return Wanted(
            key,
            Message(file.comment, ()),
            Priority.APPROVAL,
            to=place,
            below=card if place and is_channel(place) else None,
            file=file,
        )

    def _card_key(self, approval: Approval, place: str | None) -> str:
        if place is None:
            return key_in_thread(approval.id, self.state)
        return key_at(approval.id, place, self.state)
