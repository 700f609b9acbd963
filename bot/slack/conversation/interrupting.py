"""``pause``, ``resume`` and ``stop``, alone as a message: to the run of its thread, before anything else. And
``retry``, to one that failed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from agent.rules.state import RunState
from bot.slack.allowed import who_may
from bot.slack.answering import Answer
from bot.slack.conversation.beginning import (
    begun_by_what_opened,
    begun_just_now,
    wait_for_what_they_asked,
)
from bot.slack.conversation.following import has_heard_of, is_of_an_older_run, left_alone
from bot.slack.conversation.taking_part import must_take_part
from bot.slack.help import HOW_TO_RETRY, how_to_intervene
from bot.slack.interruptions import Interruption
from bot.slack.intervening import act_in_words
from bot.slack.messages import Message
from bot.slack.people import NotEligible
from bot.slack.services import Services
from bot.slack.since import is_done, is_undone

_SINCE: Final[Mapping[Interruption, str]] = {
    "pause": "Nothing was done: since you wrote this, the run was paused and goes on again.",
    "resume": "Nothing was done: since you wrote this, the run was paused.",
}


async def interrupt(
    services: Services, message: Message, how: Interruption, state: RunState | None
) -> Answer:
    """Do it to the run of the thread, also to one that is only about to begin, and say so; in a message that opens a
    thread, to a run of theirs. What is said where nothing is at work is left alone, unless it is said to us, or by one
    who took part in what has ended there. Raises ``StoreUnavailable`` and ``SendAgain``."""
    if state is None and message.thread_ts is None:
        if how != "resume":
            await wait_for_what_they_asked(services, message)
        return await act_in_words(
            services, message.actor, how, None, message.channel, said_at=message.said_at
        )
    said_at = services.apart.by_store(message.said_at)
    if how != "resume" and _is_nothing_at_work(state, how, message, said_at):
        state = await begun_just_now(services, message, state) or state
        state = state or await begun_by_what_opened(services, message)
    if state is None or is_of_an_older_run(state, message):
        return Answer() if message.is_aside else Answer(text=how_to_intervene(how))
    if is_done(state, how, said_at):
        return Answer()
    if is_undone(state, how, said_at):
        return Answer(text=_SINCE[how])
    if message.is_aside:
        try:
            await who_may(services, message.actor, state.agent, "stop")
            # People say stop to each other, too.
            if state.is_ended and how != "resume":
                await must_take_part(services, message, state)
        except NotEligible as error:
            return await left_alone(services, message, error, state)
    return await act_in_words(
        services, message.actor, how, state.run_id, message.channel, said_at=message.said_at
    )


def _is_nothing_at_work(
    state: RunState | None, how: Interruption, message: Message, said_at: datetime
) -> bool:
    if state is None:
        return True
    is_over = is_of_an_older_run(state, message) or is_done(state, how, said_at)
    return state.is_ended and not is_over


async def retry(services: Services, message: Message, state: RunState | None) -> Answer | None:
    """Have the newest run of the thread go on from where it failed, and say so. None where it is a word to its agent
    as any other: the run is at work, or has been told it. Else as ``interrupt``."""
    said_at = services.apart.by_store(message.said_at)
    if state is not None and any(again > said_at for _, again in state.outages):
        return Answer()  # It has been done since it was said.
    if state is not None and (not state.is_ended or has_heard_of(state, message.key)):
        return None
    if state is None or is_of_an_older_run(state, message):
        return Answer() if message.is_aside else Answer(text=HOW_TO_RETRY)
    if message.is_aside:
        try:
            await who_may(services, message.actor, state.agent, "start")
        except NotEligible as error:
            return await left_alone(services, message, error, state)
    return await act_in_words(services, message.actor, "retry", state.run_id, message.channel)
