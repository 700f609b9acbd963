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
from bot.slack.thread.desired import Wanted, asked_in, is_card_of, key_in_thread

#: What was sent so lately stands there.
_SURELY_THERE: Final = timedelta(minutes=1)
#: A card is looked at after so long, and again whenever it has waited twice as long: a dozen times in a week.
_FIRST_LOOK: Final = timedelta(minutes=5)


def next_look(card: ThreadMessage, approval: Approval) -> datetime:
    """When it is looked at whatever happens."""
    waited = card.attempted_at - approval.requested_at
    return card.attempted_at + max(waited, _FIRST_LOOK)


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
    if rings and sent_at < now - _SURELY_THERE:
        return True
    # What seems to lie ahead, a clock that was set back since, would be asked for again and again.
    is_asked_for = asked_for_at is not None and sent_at < asked_for_at <= now
    return is_asked_for or next_look(card, approval) <= now


@dataclass(frozen=True, slots=True)
class Looks:
    """At the cards of one run that people are waited for at, wherever they stand."""

    state: RunState
    #: What is known of its messages now.
    rows: Mapping[str, ThreadMessage]
    now: datetime
    #: The approvals to which people are about to be called.
    ringing: Collection[ApprovalId | None]
    asked_for_at: datetime | None

    def is_due(self, wanted: Wanted) -> bool:
        """Shows this card what it is to show, as far as is known, and is it to be looked at?"""
        card = self.rows.get(wanted.key)
        if card is None or card.status != "posted" or card.digest != wanted.digest:
            return False
        return any(
            is_to_be_looked_at(
                card,
                approval,
                self.now,
                rings=approval.id in self.ringing,
                asked_for_at=self.asked_for_at,
            )
            for approval in self.state.open_approvals
            if is_card_of(approval.id, self.state)(wanted.key)
        )

    def is_before_its_card(self, wanted: Wanted) -> bool:
        """Would it call people to a card of which it is not known that it stands there?"""
        approval_id = asked_in(wanted.key)
        if approval_id is None or not wanted.is_call_out or wanted.key in self.rows:
            return False
        card = self.rows.get(wanted.below or key_in_thread(approval_id, self.state))
        return card is None or card.status != "posted" or not card.digest

    def next(self) -> datetime | None:
        """When one of them is looked at whatever happens."""
        looks = [
            next_look(row, approval)
            for approval in self.state.open_approvals
            for is_card in (is_card_of(approval.id, self.state),)
            for key, row in self.rows.items()
            if row.status == "posted" and is_card(key)
        ]
        return min(looks, default=None)
