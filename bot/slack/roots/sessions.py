"""Which conversation a message belongs to.

The store knows it of each thread whose root's address it has. That may not be there yet, or be lost: then the root
itself says which run it is of, in its metadata. Slack is asked only about threads that may be ours, once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final

from agent.errors import CorruptJournal, NotFound, UnknownEvent
from agent.rules.ids import RunId, SessionId
from bot.slack.answering import SendAgain
from bot.slack.ids import Address, Place
from bot.slack.limiter import Action, reading
from bot.slack.messages import Message
from bot.slack.people import Home
from bot.slack.quoting.pages import IS_GONE
from bot.slack.roots.asides import may_look
from bot.slack.services import Services
from bot.slack.thread.desired import Priority
from bot.slack.thread.edge import AnswerLost, RateLimited, SlackRefused, data_of, posted_in
from bot.slack.thread.setbacks import is_lasting

#: Slack waits three seconds for an acknowledgement, and the run is begun or told after this.
ASK_SECONDS: Final = 1.5
_log = logging.getLogger(__name__)


class BelowItsCard(Exception):
    """What opened the thread shows a run that talks elsewhere: a card with who may decide it, or in another channel.
    Whoever sees that is not in the run's conversation."""

    #: For who spoke to us.
    told: Final = (
        "Nobody has heard this: the run whose card this is talks elsewhere, and what is written below its card is said"
        " to nobody. It is decided with the card's buttons; *Steer* says what is to be otherwise."
    )


async def session_of(services: Services, message: Message, place: Place) -> SessionId:
    """The conversation of the run that opened the thread, where one did. Raises ``BelowItsCard``,
    ``StoreUnavailable``, and ``SendAgain`` where it can't be told yet: a second conversation must not begin there."""
    if message.thread_ts is None:
        return place.session
    store, root = services.runtime.store, Address(message.channel, message.thread_ts)
    run_id = await store.threads.run_at(str(root))
    if run_id is None and not await store.lists.runs_of_session(place.session, limit=1):
        run_id = await _opened_by(services, message, root)
    if run_id is None:
        return place.session
    if await store.openings.is_open(run_id):
        raise SendAgain(f"{run_id} is about to begin")
    row = await store.lists.run(run_id)
    if row is None:
        return place.session
    if await _talks_elsewhere(services, run_id, message.channel):
        raise BelowItsCard(run_id)
    return row.session


async def _talks_elsewhere(services: Services, run_id: RunId, channel: str) -> bool:
    try:
        its = Place.of((await services.runtime.state(run_id)).place)
    except (NotFound, CorruptJournal, UnknownEvent):
        return False  # Where it is at work, that is told.
    return its is None or its.channel != channel


async def _opened_by(services: Services, message: Message, root: Address) -> RunId | None:
    """The run of ours that the message at the root is of, by what it says itself. Raises ``SendAgain``."""
    home = await services.people.home()
    if message.parent_user not in (None, home.bot_user):
        return None
    known = services.roots.known
    if root not in known and await _may_ask(services, message, root):
        try:
            run_id = await services.roots.asking.once(root, lambda: _ask(services, root, home))
            services.roots.keep(root, run_id)
        except SlackRefused as error:
            _log.info("what opened the thread at %s is not known: %s", root, error.code)
            if error.code in IS_GONE:
                services.roots.keep(root, None)
            else:
                services.roots.keep_closed(root.channel)
    return known.get(root)


async def _may_ask(services: Services, message: Message, root: Address) -> bool:
    """What people say to each other where we see nothing asks nothing; whoever speaks to us may have let us in."""
    if message.is_aside and services.roots.is_closed(root.channel):
        return False
    # Of what opened a thread of ours Slack says by whom it is.
    is_between_people = message.is_aside and message.parent_user is None
    return not is_between_people or await may_look(services, root, services.roots.asking)


async def _ask(services: Services, root: Address, home: Home) -> RunId | None:
    """Raises ``SendAgain``, and ``SlackRefused`` where Slack will say no as often as it is asked."""
    action = reading(home.team, is_thread=True)
    if await services.limiter.take(action, Priority.WAITING):
        raise SendAgain("Slack allows no more looks into threads now")
    try:
        async with asyncio.timeout(ASK_SECONDS):
            return await _read(services, root, home)
    except (TimeoutError, AnswerLost) as error:
        raise SendAgain("Slack did not say what opened a thread") from error
    except SlackRefused as error:
        await _obey(services, action, error)
        raise


async def _obey(services: Services, action: Action, error: SlackRefused) -> None:
    """Returns where Slack will say no as often as it is asked. Raises ``SendAgain``."""
    if isinstance(error, RateLimited):
        await services.limiter.withhold(action, error.retry_after)
    if not is_lasting(error):
        raise SendAgain(f"Slack did not say what opened a thread: {error.code}") from error


async def _read(services: Services, root: Address, home: Home) -> RunId | None:
    """Raises ``SlackRefused``, ``AnswerLost``."""
    answer = await data_of(
        services.slack.conversations_replies(
            channel=root.channel, ts=root.ts, limit=1, include_all_metadata=True
        )
    )
    messages = answer.get("messages") or []
    found = messages[0] if isinstance(messages, list) and messages else None
    if not isinstance(found, dict) or found.get("ts") != root.ts or not _is_ours(found, home):
        return None
    run_id = posted_in(root.channel, found).run_id
    return None if run_id is None else RunId(run_id)


def _is_ours(message: Mapping[str, Any], home: Home) -> bool:
    """Any app may write any metadata; nobody else posts as this bot."""
    if home.bot_id is not None:
        return message.get("bot_id") == home.bot_id
    return message.get("user") == home.bot_user
