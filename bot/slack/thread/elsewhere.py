"""Cards that stand elsewhere than in the thread: in another channel, or with each who may decide, directly.

To whom is found out before the thread says where it waits, and again until each of them has it: as soon as Slack
shows all there is, the rows alone tell. A card that can be put nowhere is asked in the thread instead.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from agent.ports import ThreadMessage
from agent.rules.ids import ApprovalId
from agent.rules.state import Approval, RunState
from bot.slack.cards.card import card_of
from bot.slack.cards.elsewhere import (
    announced,
    card_for_one,
    is_channel,
    with_way_back,
)
from bot.slack.cards.group import group_message
from bot.slack.cards.in_full import NOT_THERE, FileStanding
from bot.slack.cards.said_since import is_read_in, is_talked_of, with_said
from bot.slack.cards.together import SharedCard, shared_cards
from bot.slack.ids import Address, Place
from bot.slack.thread.addressees import Addressees
from bot.slack.thread.calling import Calling
from bot.slack.thread.desired import Priority, Wanted, calls_out_of
from bot.slack.thread.files import Files
from bot.slack.thread.keys import card_key, is_shared_at, key_at, key_in_thread, place_key
from bot.slack.thread.noticed import said_of, told_together
from bot.slack.thread.posted import posted
from bot.slack.thread.setbacks import Later
from bot.slack.thread.standing import Standing

_NOTICE: Final = "notice:"


def notice_key(approval_id: ApprovalId, user: str) -> str:
    """The key of what one person is told directly of a card that stands where all can see it."""
    return f"{_NOTICE}{approval_id}:{user}"


def keys_in_channels(state: RunState) -> set[str]:
    """Of the cards that belong into other channels."""
    return {
        key_at(one.id, one.requested.delivery.card, state)
        for one in state.approvals.values()
        if is_channel(one.requested.delivery.card)
    }


def channels_of(state: RunState) -> set[str]:
    """Those in which something waits that is not put in its thread."""
    cards = {one.requested.delivery.card for one in state.open_approvals}
    return {card for card in cards if is_channel(card)}


def not_known_yet(state: RunState) -> dict[ApprovalId, Standing]:
    """Before it is found out where its cards stand."""
    waiting = [one for one in state.open_approvals if one.requested.delivery.card != "thread"]
    return {one.id: Standing(is_open=True) for one in waiting}


def standing_by(state: RunState, rows: Mapping[str, ThreadMessage]) -> dict[ApprovalId, Standing]:
    """Where its cards stand by the rows alone, for who does not put them there."""
    standing = {}
    for one in state.open_approvals:
        if one.requested.delivery.card == "thread":
            continue
        home = key_in_thread(one.id, state)
        found = [
            key.removeprefix(f"{home}:")
            for key in sorted(rows)
            if key.startswith(f"{home}:") and _stands(key, rows)
        ]
        places = tuple(place for place in found if is_shared_at(place, one))
        # What stands in the thread and nowhere else is asked there after all.
        standing[one.id] = Standing(places, is_open=not places and not _stands(home, rows))
    return standing


def _stands(key: str, rows: Mapping[str, ThreadMessage]) -> bool:
    row = rows.get(key)
    return row is not None and row.address is not None and row.status != "posting"


def are_any(state: RunState) -> bool:
    """Is there anything of it that is not put, or not told, in its thread alone?"""
    return any(
        one.requested.delivery.form > 1 or _rings_one_person_alone(one, state)
        for one in state.approvals.values()
    )


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """For whoever holds the thread's lease. ``put`` has one message in its place: None when it is done, else
    when it is tried again; ``why_refused`` is Slack's lasting word against one."""

    state: RunState
    rows: Mapping[str, ThreadMessage]
    addressees: Addressees
    put: Callable[[Wanted], Awaitable[Later | None]]
    why_refused: Callable[[Wanted], str | None]
    files: Files
    #: Of the thread.
    link: str | None
    #: How many times each had been asked of others as well when Slack last showed all there was.
    shown: Mapping[ApprovalId, int] = field(default_factory=dict)
    #: Links to what people wrote in the thread, by its refs.
    words_at: Mapping[str, str] = field(default_factory=dict)
    #: Nobody takes the run on.
    is_blocked: bool = False

    async def show(self) -> tuple[dict[ApprovalId, Standing], list[float]]:
        """Where each of them stands now, and when what could not be done is tried again."""
        standing: dict[ApprovalId, Standing] = {}
        waits: list[float] = []
        shared = {one.id: card for card in shared_cards(self.state) for one in card.members}
        for approval in self.state.approvals.values():
            if approval.requested.delivery.card == "thread":
                continue
            card = shared.get(approval.id)
            try:
                if card is None or card.name == approval.id:
                    stands = await self._show(approval, card, waits)
                else:
                    await self._keep_true(approval, waits)
                    stands = standing[card.name]
                standing[approval.id] = await self._called(approval, stands, waits)
            except Later as later:
                waits.append(later.seconds)
                standing[approval.id] = Standing(is_open=True)
        return standing, waits

    async def tell(self) -> list[float]:
        """Those who are told directly of a card that stands in a channel; when it is tried again. Who is not in
        that has the card itself; so has whoever is named on a card in somebody else's direct messages."""
        waits: list[float] = []
        for approval in self.state.approvals.values():
            is_told = approval.requested.delivery.notify == "dm" and not _is_direct(approval)
            if is_told or _rings_one_person_alone(approval, self.state):
                try:
                    await self._tell(approval, waits)
                except Later as later:
                    waits.append(later.seconds)
        return waits

    async def _show(
        self, approval: Approval, shared: SharedCard | None, waits: list[float]
    ) -> Standing:
        """``shared``: it is the first of these."""
        places, refused, is_open = [], None, False
        for place in await self._places(approval, shared, waits):
            wanted = self._card(approval, shared, place)
            is_due = self.files.is_due(approval, place)
            if (later := await self.put(wanted)) is None:
                # What left out, when it was posted, whom it must not ring, is made whole.
                later = await self.put(wanted)
            if later is not None:
                waits.append(later.seconds)
                if why := self.why_refused(wanted):
                    refused = refused or why
                    continue  # What can't be edited there nobody can trust.
            if _stands(wanted.key, self.rows):
                places.append(place)
                await self._attach(approval, shared, place, waits, is_due=is_due)
            else:
                is_open = is_open or later is not None
        return Standing(tuple(places), refused, is_open=is_open)

    async def _attach(
        self,
        approval: Approval,
        shared: SharedCard | None,
        place: str,
        waits: list[float],
        *,
        is_due: bool,
    ) -> None:
        """The files below a card of which something can't be approved without them."""
        asked = shared.pending if shared else (approval,)
        if needed := [one for one in asked if self.files.is_needed(one, place)]:
            for one in needed:
                waits += await self.files.attach(one, place, is_due=is_due)
            await self._try(self._card(approval, shared, place), waits)

    async def _keep_true(self, approval: Approval, waits: list[float]) -> None:
        """What an earlier version posted for it, which shares another's card, has its buttons until it is decided."""
        for place in self._known_places(approval):
            wanted = replace(self._card(approval, None, place), is_open=False, is_past=True)
            await self._try(wanted, waits)

    async def _called(self, approval: Approval, stands: Standing, waits: list[float]) -> Standing:
        """With those who are called to it where they have it directly."""
        try:
            return replace(stands, called=await self.called(approval, stands.places))
        except Later as later:
            waits.append(later.seconds)
            return replace(stands, called={}, is_open=True)

    async def called(
        self, approval: Approval, places: Sequence[str]
    ) -> Mapping[str, tuple[str, ...]]:
        """Who of those who have its card is called to it directly. Raises ``Later``."""
        return await self._calling.directly(approval, places)

    @property
    def _calling(self) -> Calling:
        return Calling(self.state, self.rows, self.addressees)

    def _known_places(self, approval: Approval) -> list[str]:
        """Without those whom it is told directly besides."""
        return [one for one in self._all_places(approval) if is_shared_at(one, approval)]

    def _all_places(self, approval: Approval) -> list[str]:
        prefix = place_key(approval.id, "")
        return [key.removeprefix(prefix) for key in sorted(self.rows) if key.startswith(prefix)]

    async def _places(
        self, approval: Approval, shared: SharedCard | None, waits: list[float]
    ) -> list[str]:
        """Where it is to stand, and wherever it stands already."""
        found = self._known_places(approval)
        waiting = shared.pending if shared else (approval,) if approval.status == "pending" else ()
        if waiting and (place := approval.requested.delivery.card) != "dm":
            found.append(place)
        elif self._is_to_be_found_out(approval, waiting):
            try:
                for one in waiting:
                    found += await self.addressees.of(one, self.state)
            except Later as later:
                if card_key(approval.id) not in self.rows:
                    raise
                waits.append(later.seconds)  # Those who have it must see what becomes of it.
        return list(dict.fromkeys(found))

    def _is_to_be_found_out(self, approval: Approval, waiting: Sequence[Approval]) -> bool:
        """Until each has it who may decide it: a place that Slack refused has no row."""
        is_asked = card_key(approval.id) in self.rows
        are_all_shown = all(self.shown.get(one.id, -1) >= one.stage for one in waiting)
        return bool(waiting) and not (is_asked and are_all_shown)

    def _card(self, approval: Approval, shared: SharedCard | None, place: str) -> Wanted:
        waiting = shared.pending if shared else (approval,) if approval.status == "pending" else ()
        if shared is None:
            file = self._file(approval, place)
            card = card_of(approval, self.state, is_blocked=self.is_blocked, file=file)
        else:
            files = {one.id: self._file(one, place) for one in shared.pending}
            card = group_message(shared, self.state, is_blocked=self.is_blocked, files=files)
        if is_channel(place):
            card = announced(next(iter(waiting), approval), card)
        with_words, asked = is_read_in(place, self.state), waiting or (approval,)
        card = with_said(card, asked, self.state, self.words_at, with_words=with_words)
        if is_channel(place):
            message = with_way_back(card, self.state, self.link)
        else:
            message = card_for_one(card, self.state, self.link)
        return Wanted(
            key=place_key(approval.id, place),
            message=message,
            priority=Priority.APPROVAL,
            is_open=bool(waiting),
            is_past=not waiting,
            is_talked_of=is_talked_of(shared.members if shared else (approval,), self.state),
            to=place,
        )

    def _file(self, approval: Approval, place: str) -> FileStanding:
        is_needed = self.files.is_needed(approval, place)
        return self.files.standing(approval, place) if is_needed else NOT_THERE

    async def _tell(self, approval: Approval, waits: list[float]) -> None:
        prefix, together = notice_key(approval.id, ""), told_together(approval, self.state)
        told = [key.removeprefix(prefix) for key in self.rows if key.startswith(prefix)]
        have = [one for one in self._all_places(approval) if not is_channel(one)]
        # Of the others on its card an earlier version may have told besides: that is kept true.
        is_first = together[0].id == approval.id
        asked = together if is_first else (approval,)
        waiting = next((one for one in asked if one.status == "pending"), None)
        is_pending, link = waiting is not None, None
        if waiting is not None and (card := self._where_it_stands(approval)) is not None:
            link = await self.addressees.link(card)
            inside, outside = await self._to_be_told(waiting, card, but=(*told, *have))
            told += inside if is_first else []
            have += outside if waiting.id == approval.id else []
        said = said_of(asked, self.state, link)
        for user in told:
            key = notice_key(approval.id, user)
            is_new = is_pending and key not in self.rows
            urgency = Priority.APPROVAL if is_new else Priority.ANSWER
            await self._try(Wanted(key, said, urgency, is_past=not is_pending, to=user), waits)
        for user in have:
            is_due = self.files.is_due(approval, user)
            await self._try(self._card(approval, None, user), waits)
            await self._attach(approval, None, user, waits, is_due=is_due)
        called = await self._calling.directly(approval, have, besides=True)
        for wanted in calls_out_of(approval, self.state, Standing(called=called)):
            if wanted.to is not None and _stands(wanted.below or "", self.rows):
                await self._try(wanted, waits)

    async def _to_be_told(
        self, approval: Approval, card: Address, but: Collection[str]
    ) -> tuple[list[str], list[str]]:
        """Who is in the channel of its card, and who is not, of whoever may decide it and does not know of it yet.
        Raises ``Later``."""
        if self.shown.get(approval.id, -1) >= approval.stage:
            return [], []
        found = await self.addressees.of(approval, self.state)
        new = [one for one in found if one not in but]
        outside = await self.addressees.outside(card.channel, new)
        # Who is there and named on the card has been rung by it.
        inside = [] if _rings_one_person_alone(approval, self.state) else new
        return [one for one in inside if one not in outside], [one for one in new if one in outside]

    async def _try(self, wanted: Wanted, waits: list[float]) -> None:
        if (later := await self.put(wanted)) is not None:
            waits.append(later.seconds)

    def _where_it_stands(self, approval: Approval) -> Address | None:
        place = approval.requested.delivery.card
        state = self.state
        stands = posted(self.rows, state.place)
        keys = (key_at(approval.id, place, state), key_in_thread(approval.id, state))
        return next((stands[key] for key in keys if key in stands), None)


def _is_direct(approval: Approval) -> bool:
    return approval.requested.delivery.card == "dm"


def _rings_one_person_alone(approval: Approval, state: RunState) -> bool:
    """Does its card name who may decide it where nobody but the one whose direct messages these are can see it?"""
    delivery, place = approval.requested.delivery, Place.of(state.place)
    is_there = delivery.card == "thread" and delivery.notify == "mention"
    return is_there and place is not None and place.channel.startswith("D")
