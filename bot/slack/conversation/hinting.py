"""What whoever says something to a run is told of words that do not do what they may be meant to."""

from __future__ import annotations

from typing import Final

from agent.rules.state import Approval, RunState
from bot.slack.cards.deciding import title_of
from bot.slack.cards.guidance import DECIDES_NOTHING, fits
from bot.slack.cards.like_a_decision import is_like_a_decision, is_like_a_settlement
from bot.slack.help import how_to_say
from bot.slack.interruptions import Interruption, hinted_word, near_word
from bot.slack.links import link_in_thread
from bot.slack.services import Services

#: Behind a hint.
TOLD_AT_LEAST: Final = "The agent is told what you wrote at its next step."
_TOO_LONG: Final = "It is too long to be used as guidance."
_SETTLES_NOTHING: Final = (
    "This settles nothing: whether it happened is said with the buttons of {card}."
)
_ALLOWS_NOTHING: Final = (
    "This decides nothing: whether the run may go on is said with the buttons of {card}."
)


async def hint_for(services: Services, text: str, state: RunState) -> str:
    """Of what was said to this run as it is; empty where there is nothing to tell. Raises ``StoreError``."""
    word = None if state.is_ended else hinted_word(text)
    hints = [how_to_say(word)] if word and _means_something(word, state) else []
    for asked in reversed(state.open_approvals):
        if asked.status == "pending" and (hint := _hint(text, asked)):
            link = await link_in_thread(services, asked.id, state)
            hints.append(hint.format(card=f"<{link}|its card>" if link else "its card"))
            break
    return " ".join(hints)


def _hint(text: str, asked: Approval) -> str:
    """What ``text`` does not do, as it may be meant to, to what is asked; ``{card}`` stands for its card."""
    match asked.kind:
        case "call" if is_like_a_decision(text, title_of(asked)):
            return DECIDES_NOTHING
        case "call" if not fits(text):
            return f"{_TOO_LONG} {DECIDES_NOTHING}"
        case "review" if is_like_a_settlement(text):
            return _SETTLES_NOTHING
        case "budget" if is_like_a_decision(text):
            return _ALLOWS_NOTHING
        case _:
            return ""


def meant(text: str, state: RunState) -> Interruption | None:
    """The word that was meant to be said to this run, by one that says nearly the same and nothing else."""
    word = near_word(text)
    return word if word and _means_something(word, state) else None


def _means_something(word: Interruption, state: RunState) -> bool:
    """Where nothing is paused, ``continue`` is a word as any other."""
    return word != "resume" or state.held is not None
