"""What a rule says of where people are asked, and who is told: what can't be kept, and how it reads."""

from __future__ import annotations

import re
from typing import Final

from agent.rules.parts import Delivery, Notify, Patience

_CHANNEL: Final = re.compile(r"[CG][A-Z0-9_]+")
_TOLD: Final[dict[Notify, str]] = {
    "mention": "",
    "dm": "whoever may decide is told directly",
    "channel": "everybody in the channel is told",
    "none": "nobody is rung",
}


def is_channel_id(text: str) -> bool:
    """Does it read like a channel's id? Ids alone name a channel: anybody can take a name."""
    return _CHANNEL.fullmatch(text) is not None


def why_no_place(card: str) -> str | None:
    """Why no card can go there; None: it can."""
    if card in ("thread", "dm") or is_channel_id(card):
        return None
    return f"{card!r} is no place for a card; write thread, dm, or a channel's id such as C0123"


def what_nobody_hears(delivery: Delivery, patience: Patience) -> tuple[str, str] | None:
    """The key that asks for what can't be, and why."""
    if delivery.card == "dm" and delivery.notify == "channel":
        return "notify", "the card goes to each person directly, and there is no channel to be told"
    if delivery.card == "dm" and delivery.notify == "none":
        return "notify", "the card goes to each person directly, and that always rings"
    if delivery.notify == "none" and patience.remind is not None:
        return "remind", "notify is none, so that nobody is to be rung; take one of them out"
    if delivery.notify == "none" and patience.escalate:
        return "escalate", "notify is none, so that nobody is to be rung; take one of them out"
    return None


def delivery_in_words(delivery: Delivery) -> list[str]:
    """Nothing of what holds unless a rule says otherwise."""
    words = []
    if delivery.card == "dm":
        words.append("asked in direct messages")
    elif delivery.card != "thread":
        words.append(f"asked in {delivery.card}")
    if told := _TOLD[delivery.notify]:
        words.append(told)
    return words
