"""A reply in a run's thread that answers what its agent asks. Any other stays a message.

An answer can't be taken back, so what is hardly meant for one is none: words that come near ``stop`` and its like, what
asks something itself, and what was said before the question could be seen. Whoever may answer is told why their words
were not taken.
"""

from __future__ import annotations

import re
from typing import Final

from agent.errors import CorruptJournal, DecisionRefused, NotFound, UnknownEvent
from agent.rules.consent import is_named
from agent.rules.decisions import Answer as AnswerIt
from agent.rules.decisions import Decider
from agent.rules.state import Approval, RunState
from bot.slack.answering import Answer
from bot.slack.cards.question import options_of, takes_own_words
from bot.slack.cards.refusals import how_to_answer, refusal_text
from bot.slack.conversation.hinting import TOLD_AT_LEAST, hint_for, meant
from bot.slack.deciding import decider_of, may_decide
from bot.slack.ids import SlackUser
from bot.slack.links import where_it_stands
from bot.slack.messages import Message
from bot.slack.payloads import Actor
from bot.slack.people import CouldNotLookUp, NotEligible
from bot.slack.services import Services
from bot.slack.words import Ask, Wish

#: At its end, whatever signs and emoji stand behind it.
_ASKS: Final = re.compile(r"[?？؟](?:[^\w?]|:[a-z0-9_+'-]+:)*$")
_ONLY_OPTIONS: Final = "Not answered: choose one of the answers on the buttons of its message."
_WHICH: Final = (
    "Not answered: the agent asks more than one thing here, and it isn't clear which you mean. Answer each"
    " with the buttons of its message."
)
_HOW: Final = "Say the answer in a message of its own, or use the question's buttons."
_NOT_SEEN: Final = (
    f"Not answered: the question could not be seen here yet when you wrote this. {_HOW}"
)
_ASKS_ITSELF: Final = f"Not answered: what ends with a question mark is no answer, and the question stays open. {_HOW}"
_EDITED: Final = (
    f"Not answered: an edit answers nothing, and the question stays open. {_HOW} {TOLD_AT_LEAST}"
)
_IS_NO_ANSWER: Final = "Not answered: the question stays open."


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
        return await _answer(services, message, text, wish, state)
    except (NotFound, CorruptJournal, UnknownEvent):
        return None


def is_offered(text: str, state: RunState) -> bool:
    """Is it one of the answers to choose from, in several words, of something that is asked here?"""
    asked = (one for one in state.open_approvals if one.kind == "question")
    return len(text.split()) > 1 and any(_option(text, one) is not None for one in asked)


async def hint_for_edit(services: Services, message: Message, text: str, state: RunState) -> str:
    """For who has edited what they said to this run into what could be the answer to something that it asks, or else
    into what does something else than it may be meant to: empty for all others. Raises ``StoreError``."""
    asked = [one for one in state.open_approvals if one.kind == "question"]
    for question in asked:
        if await can_be_the_answer(services, message, text, question, state):
            return _EDITED
    hint = await hint_for(services, text, state)
    return f"{hint} {TOLD_AT_LEAST}" if hint else ""


async def can_be_the_answer(
    services: Services, message: Message, text: str, question: Approval, state: RunState
) -> bool:
    """Could it be meant as the answer, wherever it is said? Raises ``StoreUnavailable``."""
    if not await _could_be_seen(services, message, question, state):
        return False
    if _option(text, question) is None and _why_not(text, question, state):
        return False
    try:
        return await _who_may(services, question, state, message) is not None
    except CouldNotLookUp:
        return True  # They are asked.


def _option(text: str, question: Approval) -> str | None:
    """The option that it is, however it is written."""
    offered = options_of(question)
    is_meant = (one for one in offered if one.casefold() == text.casefold())
    return text if text in offered else next(is_meant, None)


async def _could_be_seen(
    services: Services, message: Message, asked: Approval, state: RunState
) -> bool:
    """Did it stand in Slack when this was said? By Slack's own clock."""
    stands = await where_it_stands(services, asked.id, state)
    return any(float(one.ts) < float(message.ts) for one in stands.values())


async def _answer(
    services: Services, message: Message, text: str, wish: Wish, state: RunState
) -> Answer | str | None:
    """To one of those who may, of what they are asked."""
    open_ones = [one for one in state.open_approvals if one.kind == "question"]
    seen = [one for one in open_ones if await _could_be_seen(services, message, one, state)]
    # Its card may stand there, and we have not heard of it yet.
    asked = seen or [one for one in open_ones if one.requested_at < message.said_at]
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
    if not seen:
        return _NOT_SEEN
    if len(asked) > 1:
        return _WHICH
    option = _option(text, question)
    if option is None and (why := _why_not(text, question, state)):
        return why
    return await _take(services, question, AnswerIt(option or text, message.key), decider, state)


def _why_not(text: str, question: Approval, state: RunState) -> str | None:
    """Why other words than the question's options are no answer to it."""
    if meant(text, state):
        return _IS_NO_ANSWER
    if not takes_own_words(question):
        return _ONLY_OPTIONS
    return _ASKS_ITSELF if _ASKS.search(text.casefold()) else None


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
