"""What whoever says something to a run is told of words that do not do what they may be meant to."""

from __future__ import annotations

from agent.rules.state import RunState
from bot.slack.cards.deciding import title_of
from bot.slack.cards.guidance import decides_nothing_text
from bot.slack.cards.like_a_decision import is_like_a_decision
from bot.slack.help import how_to_say
from bot.slack.interruptions import Interruption, hinted_word, near_word
from bot.slack.links import link_in_thread
from bot.slack.services import Services


async def hint_for(services: Services, text: str, state: RunState) -> str:
    """Of what was said to this run as it is; empty where there is nothing to tell. Raises ``StoreError``."""
    if state.is_ended:
        return ""
    word = hinted_word(text)
    hints = [how_to_say(word)] if word and _means_something(word, state) else []
    waiting = [
        one for one in state.open_approvals if one.kind == "call" and one.status == "pending"
    ]
    if waiting and is_like_a_decision(text, " ".join(title_of(one) for one in waiting)):
        hints.append(decides_nothing_text(await link_in_thread(services, waiting[-1].id, state)))
    return " ".join(hints)


def meant(text: str, state: RunState) -> Interruption | None:
    """The word that was meant to be said to this run, by one that says nearly the same and nothing else."""
    word = near_word(text)
    return word if word and _means_something(word, state) else None


def _means_something(word: Interruption, state: RunState) -> bool:
    """Where nothing is paused, ``continue`` is a word as any other."""
    return word != "resume" or state.held is not None
