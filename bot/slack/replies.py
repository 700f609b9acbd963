"""A reply in a run's thread that answers what its agent asks. Any other stays a message.

Whoever may answer is told why their words were not taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from agent.errors import CorruptJournal, DecisionRefused, NotFound, UnknownEvent
from agent.rules.consent import is_named
from agent.rules.decisions import Answer as AnswerIt
from agent.rules.decisions import Decider
from agent.rules.state import Approval, RunState
from bot.slack.answering import Answer
from bot.slack.cards.question import options_of, takes_own_words
from bot.slack.cards.refusals import how_to_answer, refusal_text
from bot.slack.deciding import decider_of, may_decide
from bot.slack.ids import SlackUser
from bot.slack.links import where_it_stands
from bot.slack.messages import Message
from bot.slack.payloads import Actor
from bot.slack.people import CouldNotLookUp, NotEligible
from bot.slack.services import Services
from bot.slack.words import Ask, Wish

#: How far Slack's clock and the store's may be apart, where no message of Slack's tells.
_APART: Final = timedelta(seconds=5)
_ONLY_OPTIONS: Final = "Not answered: choose one of the answers on the buttons of its message."
_WHICH: Final = (
    "Not answered: the agent asks more than one thing here, and it isn't clear which you mean. Answer each"
    " with the buttons of its message."
)


async def answer_by_reply(
    services: Services, message: Message, wish: Wish, state: RunState, bot_user: str
) -> Answer | str | None:
    """What follows from a reply of somebody who may answer what this run asks in the message's thread; why it is no
    answer, and how to give one, where it was said to the agent all the same; None where the message is no answer.
    Raises ``StoreUnavailable``: then it is delivered again."""
    text = message.text(bot_user)
    if message.thread_ts is None or not text or message.is_to_others(bot_user):
        return None
    if any(one.decided and one.decided.ref == message.key for one in state.approvals.values()):
        # A message may be delivered again when it has been carried out.
        return Answer()
    try:
        asked = await _asked(services, message, state)
        return await _answer(services, message, text, wish, asked, state)
    except (NotFound, CorruptJournal, UnknownEvent):
        return None


async def _asked(services: Services, message: Message, state: RunState) -> list[Approval]:
    """The open questions that had been asked when it was said."""
    open_ones = [one for one in state.open_approvals if one.kind == "question"]
    return [one for one in open_ones if await _is_said_after(services, message, one, state)]


async def _is_said_after(
    services: Services, message: Message, asked: Approval, state: RunState
) -> bool:
    """By Slack's own clock where the question stands in Slack; else by the store's."""
    stands = await where_it_stands(services, asked.id, state)
    since = min((float(one.ts) for one in stands.values()), default=None)
    if since is None:
        since = (asked.requested_at - _APART).timestamp()
    return float(message.ts) > since


async def _answer(
    services: Services,
    message: Message,
    text: str,
    wish: Wish,
    asked: Sequence[Approval],
    state: RunState,
) -> Answer | str | None:
    """To one of those who may, of what they are asked."""
    try:
        theirs = [
            (one, decider)
            for one in asked
            if (decider := await _who_may(services, one, state, message))
        ]
    except CouldNotLookUp as error:
        return Answer(text=f"Not answered: {error.why}.")
    if not theirs:
        return None
    question, decider = theirs[0]
    if not isinstance(wish, Ask):
        return Answer(text=how_to_answer(question.id))
    if len(asked) > 1:
        return _WHICH
    if not takes_own_words(question) and text not in options_of(question):
        return _ONLY_OPTIONS
    return await _take(services, question, AnswerIt(text, message.key), decider, state)


async def _who_may(
    services: Services, asked: Approval, state: RunState, message: Message
) -> Decider | None:
    """None for whoever may not answer it, and for what is said to nobody by one who merely belongs to the team:
    people talk to each other. Raises ``CouldNotLookUp`` for who may be one who may."""
    actor = message.actor
    try:
        decider = await decider_of(services, asked, state, actor)
    except CouldNotLookUp:
        if await _may_be_one(services, asked, state, actor):
            raise
        return None
    except NotEligible:
        return None
    if message.is_aside and decider.principal not in state.requesters:
        return decider if is_named(asked.approvers, decider.word) else None
    return decider if may_decide(asked, state, decider) else None


async def _may_be_one(services: Services, asked: Approval, state: RunState, actor: Actor) -> bool:
    """By their name, as far as the message says who they are; or as a member of whom only the groups are not
    known."""
    team = (await services.people.home()).team
    is_named = (
        actor.user in asked.approvers.users
        or SlackUser(team, actor.user).principal in state.requesters
    )
    if is_named and actor.team in (None, team):
        return True
    if not asked.approvers.all_groups:
        return False
    try:
        await services.people.member(actor.user, actor.team)
    except NotEligible:
        return False
    return True


async def _take(
    services: Services,
    question: Approval,
    answer: AnswerIt,
    decider: Decider,
    state: RunState,
) -> Answer:
    """Raises ``StoreUnavailable``."""
    try:
        await services.runtime.decide(question.id, answer, decider, seen=state)
    except DecisionRefused as error:
        now, state = await services.runtime.approval(question.id)
        if now.decided is not None and now.decided.ref == answer.ref:
            # Delivered twice at once, and the other was first.
            return Answer()
        return Answer(text=refusal_text(error, state))
    return Answer()
