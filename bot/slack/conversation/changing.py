"""A message that was edited or deleted: what the agent has not heard yet, it hears as it is now, or not at all.

Nothing is begun by it, and nothing decided, which is said where it reads as if it were. Whoever edits a message into
``stop`` wants something stopped: that is a word said now.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Final

from agent.errors import CorruptJournal, NotFound, NothingToDo, TooLong, UnknownEvent
from agent.rules.ids import Principal
from agent.rules.people import is_overtaken, knows
from agent.rules.state import RunState
from bot.slack.answering import Answer, SendAgain
from bot.slack.cards.text import quoted
from bot.slack.choosing import without_own_name
from bot.slack.conversation.beginning import may_yet_come
from bot.slack.conversation.coming_late import still_says
from bot.slack.conversation.following import NotReadHere, has_heard_of, run_of_thread
from bot.slack.conversation.interrupting import interrupt
from bot.slack.help import HOW_TO_DECIDE
from bot.slack.ids import SlackUser
from bot.slack.interruptions import Interruption, near_word
from bot.slack.messages import Change
from bot.slack.quoting.earlier import newest_runs
from bot.slack.replies import hint_for_edit
from bot.slack.roots.sessions import BelowItsCard
from bot.slack.services import Services
from bot.slack.words import Ask, AskHowToDecide, Intervene, wish_of

#: Slack waits three seconds for an answer, and two are taken at most to read what comes with a message.
_WAITED_FOR: Final = 2.3
_LOOK_AGAIN: Final = 0.1
_ANSWERED: Final = (
    "Your answer was taken as it was: “{answer}”. What you change here changes nothing. ({run})"
)
_BEGAN_NONE: Final = "Nothing was done: what you had asked for here has begun no run. If you mean another, write `{how}` in its thread."
_SHOWN: Final = 120
_HEARD: Final = (
    "Nothing was changed: the agent had read this message already, as it was. Say in a new one what is to be"
    " otherwise. ({run})"
)


class NotArrived(SendAgain):
    """What was changed may be on its way, or being read."""


async def change_when_there(services: Services, changed: Change) -> Answer:
    """The same as ``change``, as soon as what was changed has been taken: else the agent would have read it by the time
    that Slack tells of the change again."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _WAITED_FOR
    while True:
        try:
            return await change(services, changed)
        except NotArrived:
            if loop.time() >= deadline:
                raise
        await asyncio.sleep(_LOOK_AGAIN)


async def change(services: Services, changed: Change) -> Answer:
    """What follows from it. Raises ``StoreUnavailable`` and ``SendAgain``: then it is delivered again."""
    message, home = changed.message, await services.people.home()
    text = message.text(home.bot_user)
    if (
        not changed.is_deleted
        and changed.was is not None
        and changed.was.text(home.bot_user) == text
    ):
        return Answer()
    try:
        state = await run_of_thread(services, message)
    except NotReadHere as error:
        if error.is_newer:
            raise SendAgain("the run of a thread is of a newer version") from error
        return Answer()
    except BelowItsCard:
        return Answer()
    if _is_overtaken(changed, state):
        return Answer()
    if word := _new_word(changed, home.bot_user):
        if not await still_says(services, changed, word.how):
            return Answer()  # Of what it says now another event tells.
        return await _interrupt(services, changed, word.how, state)
    if state is None:
        return await _not_known(services, changed, home.bot_user, None)
    by = SlackUser(message.actor.team or home.team, message.actor.user).principal
    if answer := _answer_by(state, message.key, by):
        return Answer(text=_ANSWERED.format(answer=quoted(answer, _SHOWN), run=state.run_id))
    try:
        is_so = await _record(services, changed, text, by, state)
    except NotFound:
        return await _not_known(services, changed, home.bot_user, state)
    except (NothingToDo, CorruptJournal, UnknownEvent):
        return Answer()
    except TooLong as error:
        return Answer(
            text=f"Nothing was changed: that has {error.length:,} characters. Say it in at most {error.limit:,}."
        )
    if is_so and not changed.is_deleted and text:
        return Answer(text=await _hint(services, changed, text, state))
    if is_so or not _is_owed_a_word(state, changed, by, text):
        return Answer()
    return Answer(text=_HEARD.format(run=state.run_id))


async def _record(
    services: Services, changed: Change, text: str, by: Principal, state: RunState
) -> bool:
    """Is it so now? Raises as ``Runtime.edit_message``."""
    message, runtime = changed.message, services.runtime
    # Whoever leaves nothing of it but our name has taken it back.
    if changed.is_deleted or not text:
        return await runtime.delete_message(message.key, by, state.session)
    to_agent = without_own_name(state.agent, text)
    return await runtime.edit_message(message.key, to_agent, by, state.session, as_of=message.as_of)


def _is_overtaken(changed: Change, state: RunState | None) -> bool:
    """Was it put otherwise since? What is deleted is gone, whatever it said last."""
    message = changed.message
    return (
        state is not None
        and not changed.is_deleted
        and is_overtaken(state, message.key, message.as_of)
    )


def _new_word(changed: Change, bot_user: str) -> Intervene | None:
    """What it says since it was edited, and did not before, to us or to nobody."""
    said = changed.said_anew(bot_user)
    wish = wish_of(said, bot_user)
    is_to_others = said.is_aside and said.is_to_others(bot_user)
    if changed.is_deleted or is_to_others or not isinstance(wish, Intervene):
        return None
    was = changed.was
    return None if was is not None and wish_of(was, bot_user) == wish else wish


async def _interrupt(
    services: Services, changed: Change, how: Interruption, state: RunState | None
) -> Answer:
    """Do it as if it were said now; what the message said before is taken back."""
    home, message = await services.people.home(), changed.message
    if await _is_unheard(services, changed, home.bot_user, state):
        if await may_yet_come(services, message, state):
            raise NotArrived("the run that was asked for may be about to begin")
        was = changed.was or message
        if message.thread_ts is None and near_word(was.text(home.bot_user)) is None:
            # It stops what it has begun, and nothing else.
            return Answer(text=_BEGAN_NONE.format(how=how))
    said = changed.said_anew(home.bot_user)
    if state is None and not said.is_aside:
        said = replace(said, thread_ts=message.thread_ts)
    answer = await interrupt(services, said, how, state)
    if state is not None:
        by = SlackUser(message.actor.team or home.team, message.actor.user).principal
        with suppress(NotFound, NothingToDo, CorruptJournal, UnknownEvent):
            await services.runtime.delete_message(message.key, by, state.session)
    return answer


async def _is_unheard(
    services: Services, changed: Change, bot_user: str, state: RunState | None
) -> bool:
    """Was it to begin a run, before it was put otherwise, and has none heard of it?"""
    if (state is not None and not state.is_ended) or not _is_said_to_agent(
        changed, bot_user, state
    ):
        return False
    runs = [] if state is None else [state, *await newest_runs(services, state.session)]
    return not any(has_heard_of(one, changed.message.key) for one in runs)


def _is_said_to_agent(changed: Change, bot_user: str, state: RunState | None) -> bool:
    """Was it something to do?"""
    was = changed.was or changed.message
    is_to_us = was.is_direct or was.mentions(bot_user)
    # Where a run is, whoever names nobody else means it; but ``stop`` and its like are told no run.
    is_meant = is_to_us or (state is not None and not was.is_to_others(bot_user))
    return is_meant and isinstance(wish_of(was, bot_user), Ask)


async def _not_known(
    services: Services, changed: Change, bot_user: str, state: RunState | None
) -> Answer:
    """No run has heard of it. Raises ``SendAgain`` where one may yet."""
    is_said = _is_said_to_agent(changed, bot_user, state)
    if is_said and await may_yet_come(services, changed.message, state):
        raise NotArrived("what was changed may not have arrived yet")
    return Answer(text=_how_to_decide(changed, bot_user))


async def _hint(services: Services, changed: Change, text: str, state: RunState) -> str:
    """For whoever has put otherwise what this run hears: of words that do not do what they may be meant to."""
    bot_user = (await services.people.home()).bot_user
    said = changed.said_anew(bot_user)
    if said.is_aside and said.is_to_others(bot_user):
        return ""
    return await hint_for_edit(services, said, text, state) or _how_to_decide(changed, bot_user)


def _how_to_decide(changed: Change, bot_user: str) -> str:
    """For whoever has edited what they say to us into what reads like a decision; empty for all others."""
    said = changed.said_anew(bot_user)
    is_one = isinstance(wish_of(said, bot_user), AskHowToDecide)
    return HOW_TO_DECIDE if is_one and not (changed.is_deleted or said.is_aside) else ""


def _answer_by(state: RunState, key: str, by: Principal) -> str | None:
    """Their answer, as which it was taken. They are told also when the run is over: it may be, at once."""
    decided = (one.decided for one in state.approvals.values())
    answers = (one for one in decided if one is not None and one.action == "answer")
    return next((one.text for one in answers if one.ref == key and one.by == by), None)


def _is_owed_a_word(state: RunState, changed: Change, by: Principal, text: str) -> bool:
    """Was it said to this run, and by them, and did that go on when they changed it? Of what is over nobody has to be
    told."""
    key, ended_at = changed.message.key, state.ended_at
    was_over = ended_at is not None and (changed.at is None or changed.at >= ended_at)
    if was_over or not knows(state, key) or key in state.deleted:
        return False
    said = next((one for one in state.said if one.ref == key), None)
    was_by, was_read = (said.by, said.text) if said else (state.requester, state.prompt)
    # It may have been read as it is now.
    return was_by == by and (changed.is_deleted or was_read != text)
