"""A message that comes late: it counts as it stands in Slack by then.

What is said of a message that no run has heard, an edit or ``stop``, waits for it for a short time only. What comes
later than that may have been taken back long ago.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from agent.rules.state import RunState
from bot.slack.allowed import who_may, who_may_start
from bot.slack.conversation.beginning import TOGETHER
from bot.slack.conversation.following import has_heard_of
from bot.slack.given.shared import shared_files
from bot.slack.ids import Address
from bot.slack.interruptions import Interruption
from bot.slack.messages import Change, Message, edited_ts_of
from bot.slack.people import NotEligible
from bot.slack.quoting.earlier import newest_runs
from bot.slack.quoting.pages import IS_GONE, NotRead, read_from, read_one
from bot.slack.quoting.quotable import message_of_person
from bot.slack.services import Services
from bot.slack.words import Intervene, read_message, wish_of

STOPPED_SINCE: Final = "Nothing was started: `stop` was written in this thread since. Say it again if it is still to be done."


class Stopped(Exception):
    """Somebody who may has written ``stop`` below what would have begun a run."""


async def as_it_stands(
    services: Services, message: Message, state: RunState | None, *, begins: bool = True
) -> Message | None:
    """The message as it is to be understood; None where nothing is left of it that is said to us. Where Slack does not
    show it, it is taken as it came. ``state`` is the newest run of its thread; where that is over, and the message
    ``begins`` one, nobody may have stopped it. Raises ``Stopped``, ``StoreUnavailable``."""
    may_be_other = _is_late(services, message.said_at) or _was_edited(state, message.key)
    if not may_be_other or await _is_known(services, message, state):
        return message
    try:
        found, *later = await read_from(
            services, Address(message.channel, message.ts), message.thread
        )
    except NotRead as error:
        return None if error.code in IS_GONE else message
    home = await services.people.home()
    now = _as_shown(message, found, home.bot_user)
    if now is None:
        return None
    is_word = isinstance(wish_of(now, home.bot_user), Intervene)
    is_to_begin = begins and not is_word and (state is None or state.is_ended)
    if is_to_begin and await _is_stopped(services, now, later, state):
        raise Stopped
    return now


async def still_says(services: Services, changed: Change, how: Interruption) -> bool:
    """Does a message say the word that it was edited to, if that comes late? It may have been put otherwise again, or
    been taken back. Where Slack does not show it, it is taken as it came. Raises ``StoreUnavailable``."""
    message, home = changed.message, await services.people.home()
    said = changed.said_anew(home.bot_user)
    if not _is_late(services, said.said_at):
        return True
    try:
        shown = await read_one(services, Address(message.channel, message.ts), message.thread)
    except NotRead as error:
        return error.code not in IS_GONE
    now = _as_shown(said, shown, home.bot_user)
    wish = wish_of(now, home.bot_user) if now else None
    return isinstance(wish, Intervene) and wish.how == how


def _is_late(services: Services, said_at: datetime) -> bool:
    return services.runtime.store.clock.now() - said_at > TOGETHER


def _was_edited(state: RunState | None, key: str) -> bool:
    """Has the run been told of it already, as what somebody had said, and of an edit of that?"""
    if state is None:
        return False
    quotes = (*state.quoted, *(quote for one in state.said for quote in one.quoted))
    return any(quote.ref == key and quote.as_of is not None for quote in quotes)


async def _is_known(services: Services, message: Message, state: RunState | None) -> bool:
    if state is None:
        return False
    runs = [state, *await newest_runs(services, state.session)]
    return any(has_heard_of(run, message.key) for run in runs)


def _as_shown(message: Message, shown: Mapping[str, Any], bot_user: str) -> Message | None:
    raw = shown.get("text")
    now = replace(
        message,
        raw=raw if isinstance(raw, str) else "",
        files=shared_files(shown),
        edited_ts=edited_ts_of(shown),
    )
    if not (now.text(bot_user) or now.files):
        return None
    if now.is_direct or now.mentions(bot_user):
        return replace(now, is_aside=False)
    is_to_nobody = now.thread_ts is None or now.is_to_others(bot_user)
    return None if is_to_nobody else replace(now, is_aside=True)


async def _is_stopped(
    services: Services,
    message: Message,
    later: Sequence[Mapping[str, Any]],
    state: RunState | None,
) -> bool:
    home = await services.people.home()
    for shown in later:
        said = message_of_person(shown, message, home)
        if said is None or float(said.ts) < float(message.ts):
            continue
        wish = read_message(said.text(home.bot_user))
        if isinstance(wish, Intervene) and wish.how == "stop":
            try:
                if state is None:
                    text = message.text(home.bot_user)
                    await who_may_start(services, said.actor, message.channel, text)
                else:
                    await who_may(services, said.actor, state.agent, "stop")
            except NotEligible:
                continue
            return True
    return False
