"""The modals in which all calls of a card are decided at once: each is listed, and nothing else is decided."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from agent.rules.ids import ApprovalId, GroupId
from agent.rules.state import Approval, RunState
from bot.slack.cards.approval import not_foreseen
from bot.slack.cards.arguments import argument_blocks, describe_arguments, notes
from bot.slack.cards.blocks import Block, bold, plain, section
from bot.slack.cards.deciding import title_of
from bot.slack.cards.inputs import written
from bot.slack.cards.modals import View
from bot.slack.cards.tainted import tainted_blocks
from bot.slack.cards.together import shared_card
from bot.slack.ids import APPROVE_ALL, DENY_ALL, REASON_BLOCK

Verb = Literal["Approve", "Deny"]
MODALS: Final[dict[Verb, str]] = {"Approve": APPROVE_ALL, "Deny": DENY_ALL}
#: More than any card holds.
_MOST: Final = 20


@dataclass(frozen=True, slots=True)
class Listed:
    """What a modal lists: calls of one reply."""

    group: GroupId
    approvals: tuple[ApprovalId, ...]

    @classmethod
    def read(cls, private_metadata: str) -> Listed | None:
        """None for what no modal of ours holds."""
        try:
            held = json.loads(private_metadata)
        except (ValueError, RecursionError):
            return None
        group, ids = (
            (held.get("group"), held.get("approvals")) if isinstance(held, dict) else ("", [])
        )
        if not isinstance(group, str) or not isinstance(ids, list) or not 0 < len(ids) <= _MOST:
            return None
        if not all(isinstance(one, str) for one in ids) or len(set(ids)) < len(ids):
            return None
        return cls(GroupId(group), tuple(map(ApprovalId, ids)))


def all_modal(verb: Verb, listed: Sequence[Approval], state: RunState, *, others: int = 0) -> View:
    """``others`` wait on the same card, and this person may not decide them. At least one is listed."""
    held = {"group": listed[0].requested.group, "approvals": [one.id for one in listed]}
    is_no = verb == "Deny"
    return {
        "type": "modal",
        "callback_id": MODALS[verb],
        "private_metadata": json.dumps(held),
        "title": plain(f"{verb} all"),
        "submit": plain(f"{verb} {len(listed)}"),
        "close": plain("Cancel"),
        "blocks": [
            section(_WHAT[verb]),
            *(block for one in listed for block in _listed(one, state)),
            *([section(_OTHERS.format(others))] if others else []),
            *([written(REASON_BLOCK, _REASON, is_optional=True)] if is_no else []),
        ],
    }


def number_on_card(approval: Approval, state: RunState) -> str:
    """``3. ``, by which it is found there; empty where it shares none."""
    card = shared_card(approval.id, state)
    return f"{card.number_of(approval.id)}. " if card else ""


def _listed(approval: Approval, state: RunState) -> Iterator[Block]:
    asked = approval.requested
    call = state.call(asked.of_call)
    arguments = describe_arguments(asked.args, call.parameters)
    shown, _ = argument_blocks(arguments, asked.preview)
    yield bold(f"{number_on_card(approval, state)}{title_of(approval)}")
    yield from shown
    yield from notes(arguments, asked.preview)
    yield from not_foreseen(approval, call)
    yield from tainted_blocks(call)


_WHAT: Final[dict[Verb, str]] = {
    "Approve": "*These are approved, each by itself, and nothing else:*",
    "Deny": "*These are denied, each by itself, and nothing else:*",
}
_OTHERS: Final = "Not among them, because it is not yours to decide: {} more."
_REASON: Final = "Reason (the agent is told)"
