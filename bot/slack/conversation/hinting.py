"""What whoever says something to a run is told of words that do not do what they may be meant to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.rules.state import Approval, RunState
from bot.slack.cards.deciding import title_of
from bot.slack.cards.guidance import decides_nothing_text, fits
from bot.slack.cards.like_a_decision import is_like_a_decision, is_like_a_settlement
from bot.slack.help import how_to_say
from bot.slack.interruptions import Interruption, hinted_word, near_word
from bot.slack.links import link_in_thread
from bot.slack.services import Services

_TOO_LONG: Final = "It is too long to be used as guidance."
_SETTLES_NOTHING: Final = (
    "This settles nothing: whether it happened is said with the buttons of {card}."
)


async def hint_for(services: Services, text: str, state: RunState) -> str:
    """Of what was said to this run as it is; empty where there is nothing to tell. Raises ``StoreError``."""
    word = None if state.is_ended else hinted_word(text)
    hints = [how_to_say(word)] if word and _means_something(word, state) else []
    pending = [one for one in state.open_approvals if one.status == "pending"]
    calls = [one for one in pending if one.kind == "call"]
    reviews = [one for one in pending if one.kind == "review"]
    if calls and is_like_a_decision(text, " ".join(title_of(one) for one in calls)):
        hints.append(decides_nothing_text(await _link(services, calls, state)))
    elif calls and not fits(text):
        hints += [_TOO_LONG, decides_nothing_text(await _link(services, calls, state))]
    elif reviews and is_like_a_settlement(text):
        link = await _link(services, reviews, state)
        hints.append(_SETTLES_NOTHING.format(card=f"<{link}|its card>" if link else "its card"))
    return " ".join(hints)


async def _link(services: Services, asked: Sequence[Approval], state: RunState) -> str | None:
    return await link_in_thread(services, asked[-1].id, state)


def meant(text: str, state: RunState) -> Interruption | None:
    """The word that was meant to be said to this run, by one that says nearly the same and nothing else."""
    word = near_word(text)
    return word if word and _means_something(word, state) else None


def _means_something(word: Interruption, state: RunState) -> bool:
    """Where nothing is paused, ``continue`` is a word as any other."""
    return word != "resume" or state.held is not None
