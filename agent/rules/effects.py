"""What events, and a run's state, say of the limits that its calls reserved. Pure; see ``reservations``."""

from __future__ import annotations

from agent.rules.calls import Call
from agent.rules.events import (
    ApprovalDecided,
    CallLeftUnknown,
    CallLookedUp,
    CallRefused,
    CallReturned,
    Event,
)
from agent.rules.reservations import Reserved, Status, Word
from agent.rules.state import RunState


def word_of(event: Event) -> Word | None:
    """What this event says of the effect of the call that it is about; None: nothing."""
    match event:
        case CallLookedUp():
            return "looked_up"
        case CallLeftUnknown():
            return "left_unknown"
        case CallReturned(receipt=receipt):
            return "ended" if receipt is None else receipt.status
        case CallRefused():
            return "ended"
        case ApprovalDecided():
            return _word_of_decision(event)
        case _:
            return None


def reserved(state: RunState) -> tuple[Reserved, ...]:
    """What the run's calls have of limits, and what they had."""
    return tuple(
        Reserved(call.id, limit, amount, _status(call))
        for call in state.calls.values()
        for limit, amount in call.reserved.items()
    )


def _word_of_decision(decided: ApprovalDecided) -> Word | None:
    match decided.action, decided.outcome:
        case "settle", "happened":
            return "committed"
        case "settle", "not_happened":
            return "looked_up"
        case ("settle", "check") | ("approve", _):
            return None
        case "steer", _ if decided.args is not None:
            return None
        case _:
            return "ended"


def _status(call: Call) -> Status:
    known = call.receipt.status if call.receipt else "unknown"
    if known == "rejected":
        return "rejected" if call.status == "ended" else "freed"
    return "committed" if known == "committed" else "held"
