"""What whoever decides must know of a tainted call: whose words the agent had read before it proposed it."""

from __future__ import annotations

from typing import Final

from agent.rules.calls import Call
from agent.rules.taint import taints_in_words
from bot.slack.cards.blocks import Block, context, mrkdwn
from bot.slack.cards.mentions import name_principal
from bot.slack.cards.text import quoted

_NAME_LIMIT: Final = 60


def tainted_blocks(call: Call) -> list[Block]:
    """Nothing for one that is not."""
    said = tainted_in_words(call)
    return [context(mrkdwn(f"⚠️ {said}"))] if said else []


def tainted_in_words(call: Call) -> str:
    """A sentence in mrkdwn; "" for one that is not."""
    taints = call.verdict.tainted_by if call.verdict else ()
    if not taints:
        return ""
    read = taints_in_words(
        taints, name=name_principal, quote=lambda name: quoted(name, _NAME_LIMIT)
    )
    return f"Before it proposed this, the agent had read {read}. Those words may be behind it."
