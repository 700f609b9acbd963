"""From words to what they ask for: commands and messages alike."""

from __future__ import annotations

from typing import assert_never

from agent.rules.decisions import Approve, Deny
from agent.rules.people import knows
from agent.rules.state import RunState
from bot.slack import granting, intervening, overview
from bot.slack.allowed import who_may
from bot.slack.answering import Answer, SendAgain
from bot.slack.cards.given import beside_an_answer_text, without_words_text
from bot.slack.commands import Command
from bot.slack.conversation.beginning import begun_by_what_opened
from bot.slack.conversation.coming_late import STOPPED_SINCE, Stopped, as_it_stands
from bot.slack.conversation.following import (
    NotReadHere,
    follow,
    is_of_an_older_run,
    left_alone,
    overtaken,
    run_of_thread,
)
from bot.slack.conversation.interrupting import interrupt, retry
from bot.slack.conversation.outside import which_is_meant
from bot.slack.conversation.taking_part import must_take_part
from bot.slack.deciding import decide_in_words
from bot.slack.help import (
    HOW_TO_DECIDE,
    NOTHING_TO_STOP,
    help_on,
    mistyped,
    misused,
    nothing_begun,
)
from bot.slack.interruptions import hinted_word, near_word
from bot.slack.journal.showing import journal
from bot.slack.messages import Message
from bot.slack.people import NotEligible
from bot.slack.replies import answer_by_reply, is_offered
from bot.slack.roots.sessions import BelowItsCard
from bot.slack.services import Services
from bot.slack.starting import OtherWasQuicker, start_by_command, start_by_message
from bot.slack.switching import turning
from bot.slack.words import (
    Ask,
    AskHowToDecide,
    AskHowToSwitch,
    Help,
    Intervene,
    Mistyped,
    Misused,
    Retry,
    ShowGrants,
    ShowJournal,
    ShowPending,
    ShowRuns,
    ShowStatus,
    ShowSwitches,
    TurnSwitch,
    TypedDecision,
    Wish,
    read_command,
    read_decision,
    wish_of,
)


async def answer_command(services: Services, command: Command) -> Answer:
    """What ``/agent TEXT`` asks for."""
    match read_command(command.text):
        case Ask(prompt=prompt):
            return await start_by_command(services, command, prompt)
        case Help():
            return Answer(text=help_on(services.runtime.agents))
        case AskHowToDecide():
            return Answer(text=HOW_TO_DECIDE)
        case Intervene(how=how, run_id=run_id):
            return await intervening.act_in_words(
                services, command.actor, how, run_id, command.channel
            )
        case TurnSwitch() as wish:
            return await turning.turn(services, command.actor, wish)
        case AskHowToSwitch():
            return Answer(text=turning.HOW_TO_SWITCH)
        case ShowSwitches():
            return await turning.status(services, command.actor)
        case Misused() as wish:
            return Answer(text=misused(wish))
        case Mistyped(name=name):
            return Answer(text=mistyped(name))
        case ShowPending():
            return await overview.pending(services, command.actor)
        case ShowRuns():
            return await overview.runs(services, command.actor)
        case ShowGrants():
            return await granting.grants(services, command.actor)
        case ShowStatus(run_id=run_id):
            return await overview.status(services, command.actor, run_id)
        case ShowJournal(run_id=run_id):
            return await journal(services, command.actor, run_id)
        case never:
            assert_never(never)


async def answer_message(services: Services, message: Message) -> Answer:
    """What follows from what somebody said to us, or in a thread. Raises ``StoreUnavailable`` and ``SendAgain``: then
    it is delivered again."""
    home = await services.people.home()
    services.apart.heard(message.said_at, services.runtime.store.clock.now())
    if message.is_aside and (
        # What mentions us comes as a mention, too.
        message.mentions(home.bot_user) or message.is_to_others(home.bot_user)
    ):
        return Answer()
    if not message.is_aside and read_decision(message.raw, home.bot_user):
        said = await as_it_stands(services, message, None, begins=False)
        decision = read_decision(said.raw, home.bot_user) if said else None
        return await _decide(services, message, decision) if decision else Answer()
    with services.turns.of(message):
        return await _answer_in_turn(services, message, home.bot_user)


async def _answer_in_turn(services: Services, message: Message, bot_user: str) -> Answer:
    try:
        state = await run_of_thread(services, message)
    except NotReadHere as error:
        return _not_read_here(message, error)
    except BelowItsCard as error:
        # People talk to each other in a channel.
        return Answer() if message.is_aside else Answer(text=error.told)
    if not isinstance(_wish_of(message, bot_user, state), Intervene):
        # Whoever mentions us may begin a run of their own: what opened the thread is told to that.
        is_of_thread = message.is_aside or message.is_direct
        if state is None and is_of_thread:
            state = await begun_by_what_opened(services, message)
        if state is None and message.is_aside:
            return Answer()
    try:
        said = await as_it_stands(services, message, state)
    except Stopped:
        return Answer(text=STOPPED_SINCE)
    if said is None or _begins_nothing_now(message, said, state, bot_user):
        return Answer()
    return await _answer_as_it_is(services, said, state, bot_user)


def _begins_nothing_now(
    message: Message, said: Message, state: RunState | None, bot_user: str
) -> bool:
    """Was something to do edited into ``stop`` or its like before it was heard? It is said to no other run than the one
    that it would have begun; of its edit they are told."""
    words = [isinstance(_wish_of(one, bot_user, state), Intervene) for one in (message, said)]
    return words == [False, True] and state is None and said.thread_ts is None


def _wish_of(message: Message, bot_user: str, state: RunState | None) -> Wish | Retry:
    """What is offered as an answer is no word that stops what asks for it."""
    text = message.text(bot_user)
    if state is not None and is_offered(text, state):
        return Ask(text)
    return wish_of(message, bot_user)


async def _answer_as_it_is(
    services: Services, message: Message, state: RunState | None, bot_user: str
) -> Answer:
    text = message.text(bot_user)
    wish = _wish_of(message, bot_user, state)
    if isinstance(wish, Intervene):
        return await interrupt(services, message, wish.how, state)
    if message.is_aside and state is None:
        return Answer()
    if message.is_aside and state is not None and is_of_an_older_run(state, message):
        is_said = isinstance(wish, Ask) and wish.prompt
        return await overtaken(services, message, text, state) if is_said else Answer()
    if state is None and message.thread_ts is None and (near := near_word(text)):
        return Answer(text=nothing_begun(near))
    if not text and message.files:
        names = [one.name for one in message.files]
        return await _told(services, message, state, without_words_text(names))
    if message.is_aside and not text:
        return Answer()
    match wish:
        case Help():
            return await _told(services, message, state, help_on(services.runtime.agents))
        case Retry():
            done = await retry(services, message, state)
            if done is not None:
                return done
            return await _answer(services, message, Ask(text), state, bot_user)
        case _:
            return await _answer(services, message, wish, state, bot_user)


def _not_read_here(message: Message, error: NotReadHere) -> Answer:
    """Raises ``SendAgain`` for what is to be said to a run that a newer version can read: it may get it then."""
    if not message.is_aside:
        return Answer(text=error.told)
    if error.is_newer:
        raise SendAgain("the run of a thread is of a newer version") from error
    return Answer()


async def _answer(
    services: Services, message: Message, wish: Wish, state: RunState | None, bot_user: str
) -> Answer:
    """What was said is an answer to a question, or no decision, or else is said to the agent."""
    hint = ""
    if state is not None:
        is_spoken_to_us = message.mentions(bot_user) or knows(state, message.key)
        if state.is_ended and not is_spoken_to_us and _would_stop(wish):
            return await _told(services, message, state, NOTHING_TO_STOP)
        replied = await answer_by_reply(services, message, wish, state, bot_user)
        if isinstance(replied, Answer):
            return replied if replied.text else Answer(text=_beside(message))
        hint = replied or hint
    if not isinstance(wish, Ask):
        return await _told(services, message, state, HOW_TO_DECIDE)
    heard = None
    if state is None:
        if (which := await which_is_meant(services, message, bot_user)) is not None:
            return Answer(text=which)
        try:
            return await start_by_message(services, message, wish.prompt)
        except OtherWasQuicker as other:
            state, heard = await services.runtime.state(other.run_id), other.heard
    return await follow(services, message, wish.prompt, state, hint, heard)


def _would_stop(wish: Wish) -> bool:
    """Does it read as if something were to be stopped?"""
    return isinstance(wish, Ask) and hinted_word(wish.prompt) in ("stop", "pause")


def _beside(message: Message) -> str:
    """Of what stands beside an answer, which is words alone."""
    return beside_an_answer_text([one.name for one in message.files or ()])


async def _told(services: Services, message: Message, state: RunState | None, text: str) -> Answer:
    """Words that are reserved: explained to whoever spoke to us, or may say something to the run."""
    if message.is_aside and state is not None:
        try:
            await who_may(services, message.actor, state.agent, "steer")
            if state.is_ended:
                await must_take_part(services, message, state)
        except NotEligible as error:
            return await left_alone(services, message, error, state)
    return Answer(text=text)


async def _decide(services: Services, message: Message, typed: TypedDecision) -> Answer:
    decision = Approve() if typed.is_approval else Deny(typed.reason)
    return await decide_in_words(services, typed.approval_id, decision, message.actor)
