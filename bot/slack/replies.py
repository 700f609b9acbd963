"""A reply in a run's thread that answers what its agent asks. Any other stays a message."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from agent.errors import CorruptJournal, DecisionRefused, NotFound, UnknownEvent
from agent.rules.decisions import Answer as AnswerIt
from agent.rules.decisions import why_not
from agent.rules.state import Approval, RunState
from bot.slack.answering import Answer
from bot.slack.cards.question import takes_own_words
from bot.slack.deciding import decider_of
from bot.slack.ids import Place
from bot.slack.payloads import Message
from bot.slack.people import NotEligible
from bot.slack.services import Services
from bot.slack.starting import session_of

#: How far Slack's clock and the store's may be apart.
_APART: Final = timedelta(minutes=1)


async def answer_by_reply(services: Services, message: Message, text: str) -> Answer | None:
    """What follows from a reply that answers the only open question of its thread's run, if it may be answered
    in one's own words and by this person; None where the message is no answer. Raises ``StoreUnavailable``:
    then the message is delivered again."""
    if message.thread_ts is None:
        return None
    try:
        state = await _newest_run(services, message)
        if state is None:
            return None
        member = await services.people.member(message.actor.user, message.actor.team)
        if any(_is_answered_by(one, message, member.principal, text) for one in _questions(state)):
            # A message may be delivered again when it has been carried out.
            return Answer()
        asked = _the_open_one(state)
        if asked is None:
            return None
        decider = await decider_of(services, asked, state, message.actor)
        if why_not(asked.approvers, state.requesters, decider, asked.kind) is not None:
            return None
        await services.runtime.decide(asked.id, AnswerIt(text), decider, seen=state)
    except (NotEligible, NotFound, DecisionRefused, CorruptJournal, UnknownEvent):
        return None
    return Answer()


async def _newest_run(services: Services, message: Message) -> RunState | None:
    """Of the conversation that the thread is."""
    place = Place(message.team, message.channel, message.thread)
    session = await session_of(services, message, place)
    rows = await services.runtime.store.lists.runs_of_session(session, limit=1)
    return await services.runtime.state(rows[0].run_id) if rows else None


def _questions(state: RunState) -> list[Approval]:
    return [one for one in state.approvals.values() if one.kind == "question"]


def _the_open_one(state: RunState) -> Approval | None:
    """None where it is not clear which is meant, and where it is answered by its buttons alone."""
    asked = [one for one in _questions(state) if one.status == "pending"]
    return asked[0] if len(asked) == 1 and takes_own_words(asked[0]) else None


def _is_answered_by(asked: Approval, message: Message, by: str, text: str) -> bool:
    """Has this message, or the same words said before it, answered this?"""
    decided, at = asked.decided, asked.decided_at
    if decided is None or at is None or (decided.by, decided.text) != (by, text.strip()):
        return False
    return float(message.ts) <= (at + _APART).timestamp()
