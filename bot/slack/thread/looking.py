"""Looking whether a card that people are waited for at still stands: anybody may delete a message, and nothing
tells of it. It is edited, to what it shows, and posted again where it is gone."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from agent.ports import ThreadMessage
from agent.rules.state import Approval

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
