"""Looking whether a card that people are waited for at still stands: anybody may delete a message, and nothing
tells of it. It is edited, to what it shows, and posted again where it is gone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from agent.ports import ThreadMessage
from agent.rules.ids import ApprovalId
from agent.rules.state import Approval, RunState
from agent.rules.undecided import is_to_be_asked_again
from bot.slack.thread.cards_of import decided_on
from bot.slack.thread.desired import Wanted
from bot.slack.thread.digests import unknown
from bot.slack.thread.keys import asked_in, key_in_thread

#: What was sent so lately stands there.
_SURELY_THERE: Final = timedelta(minutes=1)
#: A card is looked at after so long, and again whenever it has waited twice as long: a dozen times in a week.
_FIRST_LOOK: Final = timedelta(minutes=5)


def next_look(card: ThreadMessage, approval: Approval, now: datetime) -> datetime:
    """When it is looked at whatever happens. What was sent in time to come, by a clock that was set back since,
    counts as sent now."""
    sent_at = min(card.attempted_at, now)
    return sent_at + max(sent_at - approval.requested_at, _FIRST_LOOK)


def is_to_be_looked_at(
    card: ThreadMessage,
    approval: Approval,
    now: datetime,
    *,
    rings: bool,
    asked_for_at: datetime | None,
) -> bool:
    """``rings``: people are about to be called to it; ``asked_for_at``: when somebody last wanted the thread
    tried."""
    sent_at = card.attempted_at
    # By a clock that was set back since: nobody knows how long ago.
    is_ahead = sent_at > now
    if rings and (is_ahead or sent_at < now - _SURELY_THERE):
        return True
    # A call that seems to lie ahead would be answered again and again.
    is_called = asked_for_at is not None and asked_for_at <= now
    is_new = asked_for_at is not None and (is_ahead or sent_at < asked_for_at)
    return (is_called and is_new) or next_look(card, approval, now) <= now


@dataclass(frozen=True, slots=True)
class Looks:
    """At the cards of one run that people are waited for at, wherever they stand."""

    state: RunState
    #: What is known of its messages now.
    rows: Mapping[str, ThreadMessage]
    now: datetime
    #: The approvals to which people are about to be called.
    ringing: Collection[ApprovalId]
    asked_for_at: datetime | None

    def _waiting(self, key: str) -> list[Approval]:
        """What people are waited for at this card: to decide it, or to have it asked again."""
        asked = [self.state.approvals[one] for one in decided_on(key, self.state)]
        return [
            one for one in asked if one.status == "pending" or is_to_be_asked_again(self.state, one)
        ]

    def is_due(self, wanted: Wanted) -> bool:
        """Shows this card what it is to show, as far as is known, and is it to be looked at?"""
        card = self.rows.get(wanted.key)
        if card is None or card.status != "posted" or not wanted.is_shown_by(card):
            return False
        return self._is_time(card)

    def is_card_due(self, key: str) -> bool:
        """Is what stands there to be looked at, whatever it shows?"""
        card = self.rows.get(key)
        return card is not None and card.status == "posted" and self._is_time(card)

    def _is_time(self, card: ThreadMessage) -> bool:
        return any(
            is_to_be_looked_at(
                card,
                approval,
                self.now,
                rings=approval.id in self.ringing,
                asked_for_at=self.asked_for_at,
            )
            for approval in self._waiting(card.key)
        )

    def is_before_its_card(self, wanted: Wanted) -> bool:
        """Would it call people to a card of which it is not known that it stands there?"""
        approval_id = asked_in(wanted.key)
        if approval_id is None or not wanted.is_call_out or wanted.key in self.rows:
            return False
        card = self.rows.get(wanted.below or key_in_thread(approval_id, self.state))
        return card is None or card.status != "posted" or card.digest == unknown(card)

    def next(self) -> datetime | None:
        """When one of them is looked at whatever happens."""
        looks = [
            next_look(row, approval, self.now)
            for key, row in self.rows.items()
            if row.status == "posted"
            for approval in self._waiting(key)
        ]
        return min(looks, default=None)
