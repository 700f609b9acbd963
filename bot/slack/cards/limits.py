"""How much is used and left of the limit of a call's rule, on its card: as it stood when the call was judged."""

from __future__ import annotations

from agent.rules.calls import Call
from agent.rules.limits_in_words import limit_in_words
from agent.rules.state import Approval, RunState
from bot.slack.cards.blocks import Block, mrkdwn
from bot.slack.cards.mentions import name_principal
from bot.slack.cards.text import quoted

_LIMIT = 300
#: Where the name goes.
_WHO = "{who}"


def limit_text(approval: Approval, call: Call, state: RunState) -> str:
    """mrkdwn; empty where its rule has no limit, or it is about something else than the call as it was judged."""
    use = call.verdict.limit if call.verdict else None
    if use is None or approval.id != call.approval_id or approval.kind != "call":
        return ""
    words = quoted(limit_in_words(use, _WHO), _LIMIT)
    if "user" not in use.per:
        return f"Limit: {words}"
    # What is added up is data, and stands before the name.
    before, _, behind = words.rpartition(_WHO)
    return f"Limit: {before}{name_principal(state.requester)}{behind}"


def limit_lines(approval: Approval, call: Call, state: RunState) -> list[Block]:
    text = limit_text(approval, call, state)
    return [mrkdwn(text)] if text else []
