"""Whose words, said to nobody in particular, may begin the conversation's next run.

People go on talking in a thread when its run is over: a thank-you from somebody new is no request. Who mentions us, or
writes to us directly, always speaks to us.
"""

from __future__ import annotations

from collections.abc import Iterator

from agent.rules.ids import Principal
from agent.rules.state import RunState
from bot.slack.ids import SlackUser
from bot.slack.interruptions import hinted_word
from bot.slack.messages import Message
from bot.slack.people import NotEligible
from bot.slack.quoting.earlier import newest_runs
from bot.slack.services import Services


async def must_be_meant(services: Services, message: Message, text: str, state: RunState) -> None:
    """Is ``text`` meant for the agent of a conversation whose newest run, ``state``, has ended? Raises
    ``NotEligible`` where it is not, ``StoreUnavailable``."""
    if not message.is_aside:
        return
    if hinted_word(text) in ("stop", "pause"):
        raise NotEligible(message.actor.user, "nothing is at work in this thread")
    await must_take_part(services, message, state)


async def must_take_part(services: Services, message: Message, state: RunState) -> None:
    """Has whoever says it asked for one of the conversation's newest runs, or said something to one? Raises
    ``NotEligible`` where not, ``StoreUnavailable``."""
    home = await services.people.home()
    by = SlackUser(message.actor.team or home.team, message.actor.user).principal
    for run in await newest_runs(services, state.session):
        if by in _who_took_part(run):
            return
    raise NotEligible(message.actor.user, "you have taken no part in this conversation")


def _who_took_part(run: RunState) -> Iterator[Principal]:
    yield from run.requesters
    yield from (one.by for one in run.said if one.ref not in run.deleted)
    decided = (one.decided for one in run.approvals.values())
    yield from (one.by for one in decided if one is not None and one.action == "answer")
