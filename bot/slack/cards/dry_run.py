"""What is said wherever a dry run shows: all of it is judged and asked about, and nothing is carried out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from agent.rules import dry_run
from agent.rules.dry_run import is_of_a_dry_run
from agent.rules.state import Approval, RunState
from bot.slack.cards.blocks import Block, section
from bot.slack.cards.message import Announcement, Message

_BOLD: Final = f"🧪 *{dry_run.DRY_RUN}:*"
DRY_RUN: Final = f"{_BOLD} nothing is carried out."
DRY_RUN_IN_PLAIN: Final = f"🧪 {dry_run.DRY_RUN}"
_WHATEVER: Final = f"{_BOLD} {dry_run.WHATEVER}."
_SOME: Final = _BOLD + " {} of its calls {} not carried out."


def as_dry_run(card: Message, asked: Sequence[Approval], state: RunState) -> Message:
    """The card of these, which says so where it is."""
    if not any(is_of_a_dry_run(one, state) for one in asked):
        return card
    first, line = card.first, section(_WHATEVER)
    # Behind what it is about, before who may say what.
    at = 1 if asked[0].kind == "question" else min(2, len(card.blocks))
    return replace(
        card,
        text=f"{DRY_RUN_IN_PLAIN} · {card.text}",
        blocks=(*card.blocks[:at], line, *card.blocks[at:]),
        announce=card.announce
        and Announcement(
            f"{DRY_RUN_IN_PLAIN} · {first.text}",
            (*first.blocks[:at], line, *first.blocks[at:]),
            is_complete=first.is_complete,
        ),
        plain=card.plain and f"{card.plain} {DRY_RUN_IN_PLAIN}: nothing is carried out.",
    )


def dry_run_blocks(state: RunState) -> list[Block]:
    """For where the run itself is told of: that it is one, or that so many of its calls were."""
    if state.is_dry_run:
        return [section(DRY_RUN)]
    ends = [call.result.outcome for call in state.own_calls if call.result is not None]
    count = ends.count("dry_run")
    return [section(_SOME.format(count, "was" if count == 1 else "were"))] if count else []
