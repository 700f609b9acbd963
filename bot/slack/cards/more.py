"""The menu beside the buttons of a call's card, and why people are asked at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from agent.rules.calls import Call
from agent.rules.explaining import granting_of, in_words, why_asked
from agent.rules.parts import GrantScope
from agent.rules.state import Approval, RunState
from bot.slack.cards.blocks import Block, overflow
from bot.slack.cards.text import quoted
from bot.slack.cards.voice import MRKDWN
from bot.slack.ids import MORE, Wish

#: What it says of a grant, by what the grant is for.
WISHES: Final[Mapping[GrantScope, Wish]] = {"run": "approve_run", "thread": "approve_thread"}
_WORDS: Final[Mapping[Wish, str]] = {
    "deny_reason": "Deny with a reason …",
    "approve_note": "Approve with a note …",
    "approve_run": "Approve for this run …",
    "approve_thread": "Approve in this thread until …",
    "why": "Why am I asked?",
}


def more_menu(approval: Approval, call: Call, *, may_approve: bool) -> Block:
    """What can be done besides; nothing that the rule does not allow."""
    wishes = _wishes(call, may_approve=may_approve)
    return overflow(MORE, [(_WORDS[wish], f"{wish}|{approval.id}") for wish in wishes])


def why_text(approval: Approval, call: Call, state: RunState) -> str:
    """Which rule asks, why, and who may decide: mrkdwn, for one person."""
    asked = approval.requested
    title = f"*Why “{quoted(asked.title or asked.tool, 120)}” is asked*"
    return "\n".join([title, *in_words(why_asked(approval, call, state), MRKDWN)])


def _wishes(call: Call, *, may_approve: bool) -> Iterator[Wish]:
    yield "deny_reason"
    if may_approve:
        yield "approve_note"
        granting = granting_of(call)
        yield from (WISHES[scope] for scope in (granting.scopes if granting else ()))
    yield "why"
