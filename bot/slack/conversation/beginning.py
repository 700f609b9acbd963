"""What may be about to come: a message that Slack has and no run has heard yet.

What comes with a message is read before it is handed on, another process may be at that, and Slack delivers in any
order. What is said of such a message, ``stop`` or an edit, may be there first.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from agent.errors import TooManyStarts
from agent.rules.access import Doing
from agent.rules.ids import Principal
from agent.rules.people import knows
from agent.rules.state import RunState
from bot.slack.allowed import who_may, who_may_start
from bot.slack.answering import SendAgain
from bot.slack.conversation.following import (
    NotReadHere,
    is_before_the_stop,
    is_of_an_older_run,
    run_of_thread,
)
from bot.slack.conversation.taking_part import must_be_meant
from bot.slack.ids import Address
from bot.slack.interruptions import near_word
from bot.slack.messages import Message
from bot.slack.people import CouldNotLookUp, Home, NotEligible
from bot.slack.quoting.newest import Read
from bot.slack.quoting.pages import (
    IS_GONE,
    NOT_ALLOWED,
    NotRead,
    read_channel,
    read_one,
    read_thread,
)
from bot.slack.quoting.quotable import message_of_person
from bot.slack.quoting.told import is_between
from bot.slack.roots.asides import may_look
from bot.slack.services import Services
from bot.slack.words import Ask, wish_of

#: So long after it was said a message may come behind what is said of it.
TOGETHER: Final = timedelta(seconds=10)
#: Seconds after what opened the thread within which people correct it.
_RIGHT_AWAY: Final = 60.0
#: Slack tries again after one minute and after five: then it is taken as it is, or it would be lost.
_DELIVERED_WITHIN: Final = timedelta(minutes=4)
#: Seconds for which a run is waited for that is about to begin: with all that is read before, as long as Slack waits
#: for an acknowledgement.
_PATIENCE: Final = 1.2
_LOOK_AGAIN: Final = 0.1
_log = logging.getLogger(__name__)


async def begun_just_now(
    services: Services, message: Message, state: RunState | None
) -> RunState | None:
    """The run for which somebody had asked in the message's thread just before, as soon as it has begun; None where
    nobody had. ``state`` is the newest of the thread, where nothing is at work. Raises ``SendAgain`` where it has not
    begun in time, ``StoreUnavailable``."""
    if message.thread_ts is None or not _is_new(services, message):
        return None
    since = f"{float(message.ts) - TOGETHER.total_seconds():.6f}"
    root = Address(message.channel, message.thread_ts)
    read = await read_thread(services, root, after=since, before=message.ts)
    if not read.is_whole:
        # Also where we may not look: by the next time it is told by the run itself, and no ``stop`` is lost.
        raise SendAgain("what was said in a thread just before is not known")
    if not await _is_awaited(services, message, read, since, state):
        return None
    return await _begun(services, message, state)


async def begun_by_what_opened(services: Services, message: Message) -> RunState | None:
    """The run that the first message of the thread asks for, where no run is known yet and ``message`` was said right
    behind that: it may come minutes later, as Slack tries again what could not be taken. None where it asks for none.
    It is looked at once. Where we may not see it, or people talk in more threads than we may look into for that, it is
    taken for nothing of ours. Raises as ``begun_just_now``."""
    home, root = await services.people.home(), Address(message.channel, message.thread)
    is_late = services.runtime.store.clock.now() - message.said_at > _DELIVERED_WITHIN
    if is_late or message.thread_ts is None or message.parent_user == home.bot_user:
        return None
    if float(message.ts) - float(root.ts) > _RIGHT_AWAY or services.roots.asks_nothing(root):
        return None
    asker = await _who_asks_for_a_run(services, root, message)
    if asker is None:
        return None
    if await _has_starts_left(services, asker):
        return await _begun(services, message, None)
    # It may have begun meanwhile, and have been the last.
    return await _run_now(services, message)


async def _who_asks_for_a_run(
    services: Services, root: Address, reply: Message
) -> Principal | None:
    """In the message at the root, and may. That nobody does is remembered, and so is that we may not see it: else Slack
    would be asked for each word that people say to each other below it. Raises ``SendAgain``, ``StoreUnavailable``."""
    if reply.is_aside and services.roots.is_closed(root.channel):
        return None
    home = await services.people.home()
    if reply.is_aside and not await may_look(services, root, services.roots.looking):
        return None
    try:
        shown = await services.roots.looking.once(root, lambda: read_one(services, root, root.ts))
    except NotRead as error:
        if reply.is_aside and error.code == NOT_ALLOWED and not services.limiter.held:
            return None  # Those who speak to us have used up all of it.
        if not error.is_lasting:
            raise SendAgain("what opened a thread is not known") from error
        if error.code in IS_GONE:
            services.roots.keep_asking_nothing(root)
        else:
            _log.info("what opened the thread at %s is not known: %s", root, error)
            services.roots.keep_closed(root.channel)
        return None
    asked = message_of_person(shown, reply, home)
    is_to_us = asked is not None and not asked.is_aside and asked.text(home.bot_user)
    if asked is None or not is_to_us or not _is_to_do(asked, home.bot_user):
        services.roots.keep_asking_nothing(root)
        return None
    if _is_answered(shown, home) and await _run_now(services, reply) is None:
        services.roots.keep_asking_nothing(root, is_heard=True)
        return None
    try:
        text = asked.text(home.bot_user)
        return (await who_may_start(services, asked.actor, root.channel, text))[0].principal
    except CouldNotLookUp:
        return None  # The next time it may be known.
    except NotEligible:
        services.roots.keep_asking_nothing(root)
        return None


async def _has_starts_left(services: Services, asker: Principal) -> bool:
    """May they begin one more run now? Raises ``StoreUnavailable``."""
    runtime = services.runtime
    limit = runtime.agents[runtime.default_agent].starts_limit
    if limit is None:
        return True
    try:
        await runtime.store.lists.must_have_starts_left(asker, runtime.default_agent, limit)
    except TooManyStarts:
        return False
    return True


async def wait_for_what_they_asked(services: Services, message: Message) -> None:
    """Until the runs have begun for which whoever said this had asked just before, each in a message that opens a
    thread as this one does. Raises ``SendAgain`` where one has not in time, ``StoreUnavailable``."""
    if not _is_new(services, message):
        return
    since = f"{float(message.ts) - TOGETHER.total_seconds():.6f}"
    read = await read_channel(services, message.channel, after=since, before=message.ts)
    # Where Slack does not show it, what is at work is stopped all the same.
    home = await services.people.home()
    for shown in read.messages:
        asked = message_of_person(shown, message, home)
        if asked is None or asked.is_aside or asked.actor.user != message.actor.user:
            continue
        if asked.thread_ts in (None, asked.ts) and _is_to_do(asked, home.bot_user):
            is_answered = _is_answered(shown, home)
            await _wait_for(services, replace(asked, thread_ts=None), is_answered=is_answered)


def _is_to_do(asked: Message, bot_user: str) -> bool:
    is_wish = isinstance(wish_of(asked, bot_user), Ask)
    return is_wish and near_word(asked.text(bot_user)) is None


def _is_answered(shown: Mapping[str, Any], home: Home) -> bool:
    """Do words of ours stand below it? They come when it has been heard, by whichever process, and its run has begun,
    if any."""
    by = shown.get("reply_users")
    return isinstance(by, list) and (home.bot_user in by or home.bot_id in by)


async def _wait_for(services: Services, asked: Message, *, is_answered: bool) -> None:
    try:
        state = await run_of_thread(services, asked)
    except NotReadHere:
        return  # It has begun.
    if state is None and not is_answered and await may_yet_come(services, asked, None):
        await _begun(services, asked, None)


async def may_yet_come(services: Services, message: Message, state: RunState | None) -> bool:
    """Was it said just now, by one who may say it to this run, or begin the next one? Not what is known to have begun
    nothing."""
    if services.roots.has_begun_nothing(Address(message.channel, message.ts)):
        return False
    return _is_new(services, message) and await _may_be_said(services, message, state)


async def _may_be_said(services: Services, message: Message, state: RunState | None) -> bool:
    if state and is_of_an_older_run(state, message):
        return False
    try:
        if state is None:
            said = message.text((await services.people.home()).bot_user)
            await who_may_start(services, message.actor, message.channel, said)
        else:
            doing: Doing = "start" if state.is_ended else "steer"
            await who_may(services, message.actor, state.agent, doing)
    except NotEligible:
        return False
    return True


def _is_new(services: Services, message: Message) -> bool:
    return services.runtime.store.clock.now() - message.said_at <= TOGETHER


async def _is_awaited(
    services: Services, message: Message, read: Read, since: str, state: RunState | None
) -> bool:
    """Does something that was read ask for a run that has not begun?"""
    home = await services.people.home()
    for shown in read.messages:
        asked = message_of_person(shown, message, home)
        if asked is None or not is_between(asked.ts, since, message.ts):
            continue
        if _is_answered(shown, home):
            continue  # If it has begun one, what opened the thread is looked at for that.
        text = asked.text(home.bot_user)
        if asked.is_aside and (state is None or asked.is_to_others(home.bot_user)):
            continue
        is_to_do = isinstance(wish_of(asked, home.bot_user), Ask)
        if is_to_do and await _may_begin(services, asked, text, state):
            return True
    return False


async def _may_begin(services: Services, asked: Message, text: str, state: RunState | None) -> bool:
    if not await may_yet_come(services, asked, state):
        return False
    if state is None:
        return True
    said_at = services.apart.by_store(asked.said_at)
    if knows(state, asked.key) or is_before_the_stop(state, said_at):
        return False
    try:
        await must_be_meant(services, asked, text, state)
    except NotEligible:
        return False
    return True


async def _begun(services: Services, message: Message, state: RunState | None) -> RunState:
    """Raises ``SendAgain``, ``StoreUnavailable``."""
    wakeups, loop = services.runtime.store.wakeups, asyncio.get_running_loop()
    until = loop.time() + _PATIENCE
    while True:
        moves = wakeups.moves
        newest = await _run_now(services, message)
        if newest is not None and (state is None or newest.run_id != state.run_id):
            return newest
        if (left := until - loop.time()) <= 0:
            raise SendAgain("a run is about to begin")
        await wakeups.wait(moves, min(left, _LOOK_AGAIN))


async def _run_now(services: Services, message: Message) -> RunState | None:
    """Raises ``SendAgain``, ``StoreUnavailable``."""
    try:
        return await run_of_thread(services, message)
    except NotReadHere as error:
        raise SendAgain("the run of a thread can't be read here") from error
