"""The keys of a thread's messages: which is which, whatever it shows by now."""

from __future__ import annotations

from agent.rules.ids import ApprovalId
from agent.rules.state import Approval, RunState
from bot.slack.cards.elsewhere import is_channel
from bot.slack.cards.together import shared_card

STATUS_KEY = "status"
ANSWER_KEY = "answer"
UNDELIVERABLE_KEY = "undeliverable:"


def answer_key(end: int, part: int = 1) -> str:
    """The key of a part of what was said at an end of the run: a failed one that is taken on again
    has several."""
    which = f"{ANSWER_KEY}.{end + 1}" if end else ANSWER_KEY
    return which if part == 1 else f"{which}:{part}"


def answer_file_key(end: int) -> str:
    """The key of the file with all of what was said at this end."""
    return f"file:{answer_key(end)}"


def card_key(approval_id: ApprovalId) -> str:
    """The key of an approval's own message, and of the card that is named by it."""
    return f"approval:{approval_id}"


def key_in_thread(approval_id: ApprovalId, state: RunState) -> str:
    """The key of the message in its thread on which it is decided, alone or with others."""
    shared = shared_card(approval_id, state)
    return card_key(shared.name if shared else approval_id)


def place_key(approval_id: ApprovalId, place: str) -> str:
    """The key of an approval's card in another channel, or with one person."""
    return f"{card_key(approval_id)}:{place}"


def key_at(approval_id: ApprovalId, place: str, state: RunState) -> str:
    """The key of the card on which it is decided there, alone or with others."""
    shared = shared_card(approval_id, state)
    is_there = shared is not None and is_shared_at(place, state.approvals[approval_id])
    return place_key(shared.name if shared and is_there else approval_id, place)


def is_shared_at(place: str, approval: Approval) -> bool:
    """Has whoever looks there the card that it shares with others, if it shares one? Directly people have it
    only where all of it is asked of the same."""
    return is_channel(place) or approval.requested.delivery.card == "dm"


def file_key(approval_id: ApprovalId, place: str | None = None) -> str:
    """The key of the file with all of a question: where its card stands in the thread, or at a place."""
    return f"file:{approval_id}:{place}" if place else f"file:{approval_id}"


def reminder_key(approval_id: ApprovalId, number: int) -> str:
    """The key of a reminder: each is posted once."""
    return f"reminder:{approval_id}:{number}"


def escalation_key(approval_id: ApprovalId, stage: int) -> str:
    """The key of what others are told when they are asked as well."""
    return f"escalation:{approval_id}:{stage}"


def undeliverable_key(approval_id: ApprovalId) -> str:
    """The key of what who asked is told, by direct message, where this can't be asked in the thread."""
    return f"{UNDELIVERABLE_KEY}{approval_id}"


def closed_key(approval_id: ApprovalId, place: str | None = None) -> str:
    """The key of what is said below a card that can't be edited: what became of the question."""
    return f"closed:{approval_id}:{place}" if place else f"closed:{approval_id}"


def is_in_thread(key: str) -> bool:
    """Does what has this key stand in the run's own thread: its status, a card without a place, a part of an answer?"""
    kind, *rest = key.split(":")
    is_card = kind == "approval" and len(rest) == 1
    return is_card or kind == STATUS_KEY or kind.partition(".")[0] == ANSWER_KEY


def asked_in(key: str) -> ApprovalId | None:
    """The approval that a message of this key, a card or a call-out, is about."""
    kind, _, rest = key.partition(":")
    is_of_approval = kind in ("approval", "reminder", "escalation")
    return ApprovalId(rest.partition(":")[0]) if is_of_approval else None
