"""What a kill switch or a freeze window keeps from starting, in words."""

from __future__ import annotations

from agent.rules.parts import Halt
from agent.rules.state import RunState
from agent.rules.switches import in_words
from bot.slack.cards.blocks import Block, context, mrkdwn
from bot.slack.cards.mentions import name_principal, when
from bot.slack.cards.text import quoted

_NAME_LIMIT, _REASON_LIMIT = 80, 300


def halt_words(halt: Halt) -> str:
    """``Held: @Bob switched off process_refund, today 13:05: they are doubled``"""
    if halt.switch is not None:
        who = "somebody" if halt.by is None else name_principal(halt.by)
        at = "" if halt.at is None else f", {when(halt.at)}"
        words = f"Held: {who} switched off {quoted(in_words(halt.switch), _NAME_LIMIT)}{at}"
    else:
        words = f"Frozen until {quoted(halt.ends, _NAME_LIMIT)}"
    return f"{words}: {quoted(halt.reason, _REASON_LIMIT)}" if halt.reason else words


def halted_in_short(state: RunState) -> str:
    """The first of it; it stands in a heading."""
    halt = state.halts[0]
    if halt.switch is not None:
        return f"Held: {quoted(in_words(halt.switch), _NAME_LIMIT)} is switched off"
    return f"Frozen until {quoted(halt.ends, _NAME_LIMIT)}"


def halt_blocks(state: RunState) -> list[Block]:
    """All of it, and that it needs nobody to go on."""
    if not state.halts or state.is_ended or state.stop is not None:
        return []
    told = [context(mrkdwn(f"⏸ {halt_words(halt)}")) for halt in state.halts[:5]]
    return [*told, context(mrkdwn("It goes on by itself after that."))]


def is_kept(call_id: str, state: RunState) -> bool:
    """Is it kept from starting, alone or with all of its run?"""
    return any(not halt.call_ids or call_id in halt.call_ids for halt in state.halts)
