"""From what somebody said to a run: who may, where it is shown, and what is said when there is none."""

from __future__ import annotations

import asyncio

from slack_sdk.errors import SlackApiError

from agent.errors import (
    ConfigError,
    KeyReused,
    NothingToDo,
    StoreUnavailable,
    TooLong,
)
from agent.rules.ids import SessionId
from bot.slack.answering import Answer
from bot.slack.cards.text import escape
from bot.slack.clients import SLACK_ERRORS, error_code
from bot.slack.commands import Command
from bot.slack.hearing import hear
from bot.slack.help import HELP
from bot.slack.ids import Address, Place
from bot.slack.messages import Message
from bot.slack.people import NotEligible
from bot.slack.services import Services

_NOT_THERE = frozenset({"channel_not_found", "not_in_channel"})
_INVITE = (
    "Nothing was started: I'm not in this conversation, so I could not show you anything. "
    "Invite me with `/invite <@{bot}>` and ask again, or write to me directly."
)
_STORE_IS_AWAY = (
    "Nothing was started: our store can't be reached right now. Please try again in a minute."
)


async def start_by_command(services: Services, command: Command, prompt: str) -> Answer:
    """A run whose status message opens a thread in the command's channel."""
    try:
        member, home, is_reachable = await asyncio.gather(
            services.people.member(command.actor.user, command.actor.team),
            services.people.home(),
            _is_reachable(services, command.channel),
        )
        if not is_reachable:
            return Answer(text=_INVITE.format(bot=home.bot_user))
        run_id = await services.runtime.start(
            prompt,
            requester=member.principal,
            key=command.key,
            channel=command.channel,
            place=str(Place(home.team, command.channel)),
        )
    except NothingToDo:
        return Answer(text=HELP)
    except (NotEligible, ConfigError, KeyReused, TooLong) as error:
        return _not_started(error)
    except StoreUnavailable:
        return Answer(text=_STORE_IS_AWAY)
    return Answer(if_late=f"Your run has started. ({run_id})")


async def start_by_message(services: Services, message: Message, prompt: str) -> Answer:
    """A run in the thread that the message is in, or opens. Raises ``SessionBusy`` where another is active there,
    and ``StoreUnavailable``: then the message is delivered again."""
    place = Place(message.team, message.channel, message.thread)
    try:
        member = await services.people.member(message.actor.user, message.actor.team)
        heard = await hear(services, message, prompt)
        await services.runtime.start(
            heard.text,
            requester=member.principal,
            session=await session_of(services, message, place),
            key=message.key,
            channel=message.channel,
            place=str(place),
            ref=message.key,
            quoted=heard.quoted,
            files=heard.files,
        )
    except NothingToDo:
        return Answer(text=HELP)
    except (NotEligible, ConfigError, KeyReused, TooLong) as error:
        return _not_started(error)
    return Answer()


async def session_of(services: Services, message: Message, place: Place) -> SessionId:
    """The conversation of the run that opened the thread, where one did."""
    if message.thread_ts is not None:
        root = str(Address(message.channel, message.thread_ts))
        run_id = await services.runtime.store.threads.run_at(root)
        if run_id is not None:
            row = await services.runtime.store.lists.run(run_id)
            return row.session if row is not None else place.session
    return place.session


async def _is_reachable(services: Services, channel: str) -> bool:
    """False only where Slack says that we are not in the channel."""
    try:
        said = (await services.slack.conversations_info(channel=channel)).get("channel")
    except SlackApiError as error:
        return error_code(error) not in _NOT_THERE
    except SLACK_ERRORS:
        return True
    return (
        not isinstance(said, dict) or said.get("is_member") is not False or bool(said.get("is_im"))
    )


def _not_started(error: NotEligible | ConfigError | KeyReused | TooLong) -> Answer:
    if isinstance(error, KeyReused):
        return Answer(
            text="Nothing was started: this message has started a run already, with other words. "
            f"Write a new one. ({error.run_id})"
        )
    if isinstance(error, TooLong):
        return Answer(
            text=f"Nothing was started: that has {error.length:,} characters. Say it in at most "
            f"{error.limit:,}."
        )
    why = f"{error.why}." if isinstance(error, NotEligible) else escape(str(error))
    return Answer(text=f"Nothing was started: {why}")
