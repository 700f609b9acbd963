"""Which messages are an approval's cards, and what is decided on each."""

from __future__ import annotations

from collections.abc import Callable

from agent.rules.ids import ApprovalId
from agent.rules.state import RunState
from bot.slack.cards.together import shared_card
from bot.slack.thread.keys import asked_in, card_key, is_shared_at, key_in_thread, place_key


def is_card_of(approval_id: ApprovalId, state: RunState) -> Callable[[str], bool]:
    """Whether a key is that of one of an approval's cards, wherever that stands."""
    home, own = key_in_thread(approval_id, state), place_key(approval_id, "")
    approval, shared = state.approvals[approval_id], f"{home}:"

    def is_one(key: str) -> bool:
        if key == home or key.startswith(own):
            return True
        return key.startswith(shared) and is_shared_at(key.removeprefix(shared), approval)

    return is_one


def decided_on(key: str, state: RunState) -> tuple[ApprovalId, ...]:
    """What is decided on the card of this key, wherever it stands; nothing for what is no card's."""
    named = asked_in(key)
    if named is None or named not in state.approvals or not key.startswith(card_key(named)):
        return ()
    shared = shared_card(named, state)
    asked = [one.id for one in shared.members] if shared else [named]
    return tuple(one for one in asked if is_card_of(one, state)(key))
