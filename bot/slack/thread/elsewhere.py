"""Cards that stand elsewhere than in the thread: in another channel, or with each who may decide, directly.

To whom is found out once, before the thread says where it waits: as soon as that stands there, the rows alone
tell. A card that can't be put there is asked in the thread instead.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from agent.ports import ThreadMessage
from agent.rules.ids import ApprovalId
from agent.rules.state import Approval, RunState
from bot.slack.cards.elsewhere import (
    card_elsewhere,
    card_for,
    is_channel,
    notice_message,
    past_notice_message,
)
from bot.slack.cards.in_full import NOT_THERE
from bot.slack.cards.message import Message
from bot.slack.ids import Address
from bot.slack.thread.addressees import Addressees
from bot.slack.thread.desired import (
    Priority,
    Standing,
    Wanted,
    card_key,
    escalation_key,
    key_in_thread,
    place_key,
)
from bot.slack.thread.files import Files
from bot.slack.thread.setbacks import Later

log = logging.getLogger(__name__)

_NOTICE: Final = "notice:"


def notice_key(approval_id: ApprovalId, user: str) -> str:
    """The key of what one person is told directly of a card that stands where all can see it."""
    return f"{_NOTICE}{approval_id}:{user}"


def keys_in_channels(state: RunState) -> set[str]:
    """Of the cards that belong into other channels."""
    return {
        place_key(one.id, one.requested.delivery.card)
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


def are_any(state: RunState) -> bool:
    """Is there anything of it that is not put, or not told, in its thread alone?"""
    return any(one.requested.delivery.form > 1 for one in state.approvals.values())


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
    #: Nobody takes the run on.
    is_blocked: bool = False

    async def show(self) -> tuple[dict[ApprovalId, Standing], list[float]]:
        """Where each of them stands now, and when what could not be done is tried again."""
        standing: dict[ApprovalId, Standing] = {}
        waits: list[float] = []
        for approval in self.state.approvals.values():
            if approval.requested.delivery.card == "thread":
                continue
            try:
                standing[approval.id] = await self._show(approval, waits)
            except Later as later:
                waits.append(later.seconds)
                standing[approval.id] = Standing(is_open=True)
        return standing, waits

    async def tell(self) -> list[float]:
        """Those who are told directly of a card that all can see; when it is tried again."""
        waits: list[float] = []
        for approval in self.state.approvals.values():
            if approval.requested.delivery.notify == "dm" and not _is_direct(approval):
                try:
                    await self._tell(approval, waits)
                except Later as later:
                    waits.append(later.seconds)
        return waits

    async def _show(self, approval: Approval, waits: list[float]) -> Standing:
        places, refused, is_open = [], None, False
        for place in await self._places(approval):
            wanted = self._card(approval, place)
            if (later := await self.put(wanted)) is None:
                # What left out, when it was posted, whom it must not ring, is made whole.
                later = await self.put(wanted)
            if later is not None:
                waits.append(later.seconds)
                if why := self.why_refused(wanted):
                    refused = refused or why
                    continue  # What can't be edited there nobody can trust.
            row = self.rows.get(wanted.key)
            if row is not None and row.address is not None and row.status != "posting":
                places.append(place)
                await self._attach(approval, place, waits)
            else:
                is_open = is_open or later is not None
        return Standing(tuple(places), refused, is_open=is_open)

    async def _attach(self, approval: Approval, place: str, waits: list[float]) -> None:
        """The file below a card that can't be approved without it."""
        if not self.files.is_needed(approval, place):
            return
        waits += await self.files.attach(approval, place)
        if (later := await self.put(self._card(approval, place))) is not None:
            waits.append(later.seconds)

    async def _places(self, approval: Approval) -> list[str]:
        """Where it is to stand, and wherever it stands already."""
        place, prefix = approval.requested.delivery.card, place_key(approval.id, "")
        found = [key.removeprefix(prefix) for key in sorted(self.rows) if key.startswith(prefix)]
        if approval.status == "pending":
            if place != "dm":
                found.append(place)
            elif self._is_to_be_found_out(approval):
                found += await self.addressees.of(approval, self.state)
        return list(dict.fromkeys(found))

    def _is_to_be_found_out(self, approval: Approval) -> bool:
        """Until the thread says where it is asked; and once more for whoever may decide it since."""
        said = [escalation_key(approval.id, stage) for stage in range(1, approval.stage + 1)]
        return any(key not in self.rows for key in (card_key(approval.id), *said))

    def _card(self, approval: Approval, place: str) -> Wanted:
        is_needed = self.files.is_needed(approval, place)
        file = self.files.standing(approval, place) if is_needed else NOT_THERE
        draw = card_elsewhere if is_channel(place) else card_for
        return Wanted(
            key=place_key(approval.id, place),
            message=draw(approval, self.state, self.link, is_blocked=self.is_blocked, file=file),
            priority=Priority.APPROVAL,
            is_open=approval.status == "pending",
            is_past=approval.status != "pending",
            to=place,
        )

    async def _tell(self, approval: Approval, waits: list[float]) -> None:
        prefix, is_pending = notice_key(approval.id, ""), approval.status == "pending"
        found = [key.removeprefix(prefix) for key in self.rows if key.startswith(prefix)]
        link = None
        if is_pending and (card := self._where_it_stands(approval)) is not None:
            link = await self.addressees.link(card)
            if not found:
                found = await self.addressees.of(approval, self.state)
        said: Message = (
            notice_message(approval, self.state, link)
            if is_pending
            else past_notice_message(approval)
        )
        for user in found:
            key = notice_key(approval.id, user)
            is_new = is_pending and key not in self.rows
            urgency = Priority.APPROVAL if is_new else Priority.ANSWER
            wanted = Wanted(key, said, urgency, is_past=not is_pending, to=user)
            if (later := await self.put(wanted)) is not None:
                waits.append(later.seconds)

    def _where_it_stands(self, approval: Approval) -> Address | None:
        place = approval.requested.delivery.card
        for key in (place_key(approval.id, place), key_in_thread(approval.id, self.state)):
            row = self.rows.get(key)
            if row is not None and row.address is not None and row.status != "posting":
                return Address.of(row.address)
        return None


def _is_direct(approval: Approval) -> bool:
    return approval.requested.delivery.card == "dm"
