"""What whoever decides must know of a tainted call: whose words the agent had read before it proposed it."""

from __future__ import annotations

from agent.rules.calls import Call
from agent.rules.explaining import tainted_said
from bot.slack.cards.blocks import Block, context, mrkdwn
from bot.slack.cards.voice import MRKDWN


def tainted_blocks(call: Call) -> list[Block]:
    """Nothing for one that is not."""
    said = tainted_in_words(call)
    return [context(mrkdwn(f"⚠️ {said}"))] if said else []


def tainted_in_words(call: Call) -> str:
    """A sentence in mrkdwn; "" for one that is not."""
    taints = call.verdict.tainted_by if call.verdict else ()
    return tainted_said(taints, MRKDWN) if taints else ""
