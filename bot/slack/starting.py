"""From what somebody said to a run: who may, where it is shown, and what is said when there is none."""

from __future__ import annotations

import asyncio

from slack_sdk.errors import SlackApiError

from agent.errors import (
    ConfigError,
    KeyReused,
    NothingToDo,
    SessionBusy,
    StoreUnavailable,
    TooLong,
)
from agent.rules.ids import RunId, SessionId
from agent.rules.state import RunState
from agent.rules.undecided import is_to_be_asked_again
from bot.slack.answering import Answer
from bot.slack.cards.interrupted import paused_words
from bot.slack.cards.mentions import mention_deciders, name_principal, those_asked
from bot.slack.cards.question import question_of
from bot.slack.cards.text import escape, quoted
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
    """A run in the thread that the message is in, or opens. Raises ``StoreUnavailable``: then the
    message is delivered again."""
    return await _start_in_thread(services, message, prompt, None)


async def _start_in_thread(
    services: Services, message: Message, prompt: str, ended: RunId | None
) -> Answer:
    """The same, once the run ``ended`` that was in the way has."""
    place = Place(message.team, message.channel, message.thread)
    try:
        member = await services.people.member(message.actor.user, message.actor.team)
        session = await session_of(services, message, place)
        heard = await hear(services, message, prompt)
        run_id = services.runtime.new_run_id()
        begun = await services.runtime.start(
            heard.text,
            requester=member.principal,
            session=session,
            key=message.key,
            channel=message.channel,
            place=str(place),
            run_id=run_id,
            quoted=heard.quoted,
            files=heard.files,
        )
    except NothingToDo:
        return Answer(text=HELP)
    except (NotEligible, ConfigError, KeyReused, TooLong) as error:
        return _not_started(error)
    except SessionBusy as busy:
        state = await services.runtime.state(RunId(busy.run_id))
        # It may have ended since it was in the way; but not twice.
        if state.is_ended and state.run_id != ended:
            return await _start_in_thread(services, message, prompt, state.run_id)
        return Answer(text=_busy(state))
    # Of a message that is delivered twice it is told once.
    return Answer(text=heard.not_read if begun == run_id else "")


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


def _busy(state: RunState) -> str:
    return (
        f"Nothing was started: the run in this thread has not ended. {_what_it_waits_for(state)} "
        f"Ask again when it has, or ask outside this thread. ({state.run_id})"
    )


def _what_it_waits_for(state: RunState) -> str:
    if state.stop is not None:
        return "It is being stopped; what it had begun is waited for."
    if state.held is not None:
        return f"{paused_words(state.held)}, it waits for somebody to resume it."
    if any(is_to_be_asked_again(state, one) for one in state.approvals.values()):
        return "Nobody decided what it asked in time; it can be asked again in its thread."
    if not state.open_approvals:
        return "It is still at work."
    asked = state.open_approvals[0]
    if asked.kind == "question":
        who, question = name_principal(state.requester), quoted(question_of(asked), 200)
        return f"It waits for {who} to answer: {question}"
    if asked.kind == "budget":
        return "It has used its budget, and waits to be let go on."
    approvers = those_asked(asked.approvers, state.requesters)
    who = mention_deciders(approvers) or "the operator"
    return f"It waits for {who} to decide: {quoted(asked.requested.title, 120)}."
