"""``pause``, ``resume`` and ``stop``, alone as a message: to the run of its thread, before anything else."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from agent.rules.state import RunState
from bot.slack.allowed import who_may
from bot.slack.answering import Answer
from bot.slack.conversation.following import is_of_an_older_run, left_alone
from bot.slack.help import how_to_intervene
from bot.slack.intervening import act_in_words
from bot.slack.messages import Message
from bot.slack.people import NotEligible
from bot.slack.services import Services
from bot.slack.words import Interruption

_SINCE: Final[Mapping[Interruption, str]] = {
    "pause": "Nothing was done: since you wrote this, the run was paused and goes on again.",
    "resume": "Nothing was done: since you wrote this, the run was paused.",
}


async def interrupt(
    services: Services, message: Message, how: Interruption, state: RunState | None
) -> Answer:
    """Do it to the run of the thread, and say so. What is said where nothing is at work is left alone, unless it
    is said to us."""
    if state is None or is_of_an_older_run(state, message):
        return Answer() if message.is_aside else Answer(text=how_to_intervene(how))
    if is_done(state, how, message.said_at):
        return Answer()
    if is_undone(state, how, message.said_at):
        return Answer(text=_SINCE[how])
    if message.is_aside:
        if state.is_ended:
            return Answer()
        try:
            await who_may(services, message.actor, state.agent, "stop")
        except NotEligible as error:
            return await left_alone(services, message, error, state)
    return await act_in_words(services, message.actor, how, state.run_id, message.channel)


def is_done(state: RunState, how: Interruption, said_at: datetime) -> bool:
    """Has it been done since it was said? Slack may deliver it late, or once more."""
    match how:
        case "pause":
            return state.held is not None and state.held.at > said_at
        case "resume":
            return state.held is None and any(ended > said_at for _, ended in state.holds)
        case "stop":
            return state.stop is not None and state.stop.at > said_at


def is_undone(state: RunState, how: Interruption, said_at: datetime) -> bool:
    """Has the contrary been done since?"""
    match how:
        case "pause":
            return state.held is None and any(begun > said_at for begun, _ in state.holds)
        case "resume":
            return state.held is not None and state.held.at > said_at
        case "stop":
            return False
