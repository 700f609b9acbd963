"""Which questions share a card: those about the calls of one model reply that were asked together, so that nobody who
is called to one of them is not called at all.

What is read here never changes once it was asked, so that a card keeps its calls whatever becomes of them. It takes
laying out every question of a run, and is asked for each of them again and again: it is found out once of a state.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from agent.rules.consent import missing
from agent.rules.ids import ApprovalId, GroupId
from agent.rules.state import Approval, RunState
from bot.slack.cards.arguments import argument_blocks, describe_arguments, notes
from bot.slack.cards.blocks import CARD_ROOM, Room, room_of
from bot.slack.cards.deciding import title_of
from bot.slack.cards.limits import limit_text
from bot.slack.cards.tainted import tainted_blocks
from bot.slack.cards.text import measure, one_line
from bot.slack.cards.votes import who_may_decide

#: What a card takes besides its calls: its heading, whom it calls, and the buttons for all of them.
_AROUND: Final = Room(1_000, 4)
#: What a call takes besides what is asked: its title, why it is asked and until when, its buttons.
_BESIDES: Final = Room(1_650, 5)
#: What is said of it once it is decided.
_ENDED: Final = Room(2_000, 10)
#: Of its title and of why it is asked.
TITLE_LIMIT: Final = 100
WHY_LIMIT: Final = 200
#: For who has said yes so far, where one yes is not enough, with what they wrote.
VOTES_ROOM: Final = Room(700, 5)
#: What is written at once has one time. A call of which it was first to be found out what will happen is asked later:
#: it still joins where it calls nobody who was not called to that card just now.
_TOGETHER: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class SharedCard:
    """One card of several calls, in the order in which they were asked."""

    members: tuple[Approval, ...]
    #: Which of its reply's cards it is, and how many there are.
    number: int
    of: int

    @property
    def name(self) -> ApprovalId:
        """The first call's: by it the card is known, also to who would show that call alone."""
        return self.members[0].id

    def has(self, approval_id: ApprovalId) -> bool:
        return any(one.id == approval_id for one in self.members)

    def number_of(self, approval_id: ApprovalId) -> int:
        """Under which it stands there, whatever becomes of the others. Raises ``ValueError`` for what does not."""
        return [one.id for one in self.members].index(approval_id) + 1

    @property
    def pending(self) -> tuple[Approval, ...]:
        return tuple(one for one in self.members if one.status == "pending")


def shared_cards(state: RunState) -> Iterator[SharedCard]:
    """All of a run's; what is on none of them has a card of its own."""
    # In the order of their first calls, and each once.
    return iter({card.name: card for card in _by_member(state).values()}.values())


def shared_card(approval_id: ApprovalId, state: RunState) -> SharedCard | None:
    """The one that it is on; None where it has its own."""
    return _by_member(state).get(approval_id)


def _by_member(state: RunState) -> Mapping[ApprovalId, SharedCard]:
    known = _FOUND.get(id(state))
    if known is not None and known[0]() is state:
        return known[1]
    found = {
        one.id: card
        for batch in _batches(state)
        for card in _cards(batch, state)
        for one in card.members
    }
    key = id(state)
    _FOUND[key] = (weakref.ref(state, lambda _: _FOUND.pop(key, None)), found)
    return found


#: Of every state that somebody still has, by its identity: it is never changed, and too large to be compared.
_FOUND: Final[dict[int, tuple[weakref.ref[RunState], Mapping[ApprovalId, SharedCard]]]] = {}


def _cards(batch: Sequence[Approval], state: RunState) -> Iterator[SharedCard]:
    cards = list(_filled(batch, state))
    for number, members in enumerate(cards, 1):
        if len(members) > 1:
            yield SharedCard(members, number, len(cards))


def _batches(state: RunState) -> Iterator[Sequence[Approval]]:
    """What was asked together, at the same place, and of the same people where each has it directly."""
    of_group: dict[GroupId, list[list[Approval]]] = {}
    for approval in filter(_may_share, state.approvals.values()):
        batches = of_group.setdefault(approval.requested.group, [])
        if (batch := next((b for b in batches if _is_beside(b[0], approval)), None)) is None:
            batches.append([approval])
        else:
            batch.append(approval)
    return (batch for batches in of_group.values() for batch in batches if len(batch) > 1)


def _may_share(approval: Approval) -> bool:
    """What is asked again has to ring anew, and stands below what was said of it before."""
    asked = approval.requested
    is_new = asked.supersedes is None and asked.again_because is None
    return approval.kind == "call" and is_new


def _is_beside(first: Approval, approval: Approval) -> bool:
    asked, other = first.requested, approval.requested
    later = abs(approval.requested_at - first.requested_at)
    # Now, and when others are asked as well.
    people = [one.approvers.with_others(one.patience.escalate) for one in (asked, other)]
    is_for_some = asked.delivery.card == "dm" or later > timedelta(0)
    is_beside = later <= _TOGETHER and asked.delivery == other.delivery
    return is_beside and (not is_for_some or people[0] == people[1])


def _filled(batch: Sequence[Approval], state: RunState) -> Iterator[tuple[Approval, ...]]:
    """As many to a card as are shown in full on it."""
    members: list[Approval] = []
    left = whole = CARD_ROOM - _AROUND
    for approval in batch:
        takes = _size(approval, state)
        if members and not left.holds(takes):
            yield tuple(members)
            members, left = [], whole
        members.append(approval)
        left -= takes
    yield tuple(members)


def _size(approval: Approval, state: RunState) -> Room:
    """What it takes of a message; what can't be shown in full takes all there is."""
    asked = approval.requested
    arguments = describe_arguments(asked.args, state.call(asked.of_call).parameters)
    shown, is_complete = argument_blocks(arguments, asked.preview)
    if not is_complete:
        return CARD_ROOM
    everybody = asked.approvers.with_others(asked.patience.escalate)
    title, why = one_line(title_of(approval), TITLE_LIMIT), one_line(asked.reason, WHY_LIMIT)
    # Those who may decide are named, and called to it.
    limit = limit_text(approval, state.call(asked.of_call), state)
    words = measure(title) + measure(why) + measure(limit)
    words += 2 * measure(who_may_decide(everybody, state))
    besides = [*notes(arguments, asked.preview), *tainted_blocks(state.call(asked.of_call))]
    takes = room_of([*shown, *besides]) + _BESIDES + Room(words, 0)
    if _needs_several(approval, state):
        takes += VOTES_ROOM
    return takes.at_least(ended_room(approval, state))


def ended_room(approval: Approval, state: RunState) -> Room:
    """What there is at least for one call of a card, once it is decided."""
    return _ENDED + VOTES_ROOM if _needs_several(approval, state) else _ENDED


def _needs_several(approval: Approval, state: RunState) -> bool:
    asked = approval.requested
    everybody = asked.approvers.with_others(asked.patience.escalate)
    return missing(everybody, state.requesters, ()).count > 1
