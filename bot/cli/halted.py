"""What a switch or a freeze window keeps, in words for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from agent.rules.parts import Halt
from agent.rules.switches import in_words
from bot.cli.names import name_of, show_minute
from bot.cli.plain import one_line


def halt_in_words(halt: Halt) -> str:
    """``the kill switch is on for process_refund, by UBOB at 2026-12-04 13:05: they are doubled``"""
    if halt.switch is None:
        words = f"frozen until {halt.ends} ({one_line(halt.window or '')})"
    else:
        by = "" if halt.by is None else f", by {name_of(halt.by)} at {show_minute(halt.at)} UTC"
        words = f"the kill switch is on for {one_line(in_words(halt.switch))}{by}"
    return f"{words}: {one_line(halt.reason)}" if halt.reason else words


def halts_in_words(halts: Iterable[Halt]) -> str:
    """What keeps the run from going on by now."""
    words = "; ".join(map(halt_in_words, halts))
    return f"HALTED: {words}" if words else "goes on: nothing halts it any more"
