"""How much is used and left of the limit of a call's rule, on its card: as it stood when the call was judged."""

from __future__ import annotations

from agent.rules.calls import Call
from agent.rules.explaining import limit_of, limit_said
from agent.rules.state import Approval, RunState
from bot.slack.cards.blocks import Block, mrkdwn
from bot.slack.cards.voice import MRKDWN


def limit_text(approval: Approval, call: Call, state: RunState) -> str:
    """mrkdwn; empty where its rule has no limit, or it is about something else than the call as it was judged."""
    use = limit_of(approval, call)
    return "" if use is None else f"Limit: {limit_said(use, state.requester, MRKDWN)}"


def limit_lines(approval: Approval, call: Call, state: RunState) -> list[Block]:
    text = limit_text(approval, call, state)
    return [mrkdwn(text)] if text else []
