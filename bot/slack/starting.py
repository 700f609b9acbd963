"""From what somebody said to a run: who may, where it is shown, and what is said when there is none."""

from __future__ import annotations

import asyncio

from agent.errors import (
    ConfigError,
    KeyReused,
    NothingToDo,
    OpeningGivenUp,
    SessionBusy,
    StoreUnavailable,
    TooLong,
    TooManyStarts,
)
from agent.rules.ids import RunId
from bot.slack.allowed import who_may_start
from bot.slack.answering import Answer
from bot.slack.cards.not_started import not_opened
from bot.slack.cards.starts import too_many_starts_text
from bot.slack.cards.text import escape
from bot.slack.choosing import Meant
from bot.slack.commands import Command
from bot.slack.hearing import Heard, TakenBack, hear
from bot.slack.help import help_on, nothing_begun
from bot.slack.ids import Address, Place
from bot.slack.interruptions import near_word, word_alone
from bot.slack.limiter import looking_up_channel
from bot.slack.messages import Message
from bot.slack.people import NotEligible
from bot.slack.roots.opening import NotOpened
from bot.slack.roots.sessions import session_of
from bot.slack.roots.starting import StartInDoubt, start_in_thread_of_its_own
from bot.slack.services import Services
from bot.slack.thread.desired import Priority
from bot.slack.thread.edge import AnswerLost, RateLimited, SlackRefused, data_of

_STORE_IS_AWAY = (
    "Nothing was started: our store can't be reached right now. Please try again in a minute."
)

_IN_DOUBT = (
    "I can't say whether your run has started: our store can't be reached right now. Its message stands here. If it has"
    " started, that shows how it goes on; if not, it says so in a few minutes. Please don't ask again before."
)


async def start_by_command(services: Services, command: Command, prompt: str) -> Answer:
    """A run whose status message has opened a thread in the command's channel."""
    try:
        (member, meant), home, may_hear = await asyncio.gather(
            who_may_start(services, command.actor, command.channel, prompt),
            services.people.home(),
            _may_hear(services, command.channel),
        )
        if not may_hear:
            return Answer(text=not_opened("not_in_channel", home.bot_user))
        if told := _not_to_do(services, meant):
            return Answer(text=told)
        at = Place(home.team, command.channel)
        run_id = await start_in_thread_of_its_own(
            services, meant, member.principal, at, command.key
        )
    except NothingToDo:
        return Answer(text=help_on(services.runtime.agents))
    except NotOpened as error:
        return Answer(text=not_opened(error.code, home.bot_user))
    except (
        NotEligible,
        ConfigError,
        KeyReused,
        OpeningGivenUp,
        SessionBusy,
        TooLong,
        TooManyStarts,
    ) as error:
        return _not_started(error)
    except StartInDoubt:
        return Answer(text=_IN_DOUBT)
    except StoreUnavailable:
        return Answer(text=_STORE_IS_AWAY)
    return Answer(if_late=f"Your run has started. ({run_id})")


class OtherWasQuicker(Exception):
    """Another run has become active in the thread while ``heard`` was: that is heard once."""

    def __init__(self, run_id: RunId, heard: Heard) -> None:
        super().__init__(run_id)
        self.run_id = run_id
        self.heard = heard


async def start_by_message(services: Services, message: Message, prompt: str) -> Answer:
    """A run in the thread that the message is in, or opens. Raises ``OtherWasQuicker`` where another is active there,
    and ``StoreUnavailable`` and ``SendAgain``: then the message is delivered again."""
    place = Place(message.team, message.channel, message.thread)
    try:
        member, meant = await who_may_start(services, message.actor, message.channel, prompt)
        if told := _not_to_do(services, meant):
            return Answer(text=told)
        session = await session_of(services, message, place)
        heard = await hear(services, message, meant.prompt, session)
        run_id = services.runtime.new_run_id()
        try:
            begun = await services.runtime.start(
                heard.text,
                requester=member.principal,
                agent=meant.agent,
                session=session,
                key=message.key,
                channel=message.channel,
                place=str(place),
                run_id=run_id,
                ref=message.key,
                quoted=heard.quoted,
                files=heard.files,
                as_of=heard.as_of,
            )
        except SessionBusy as busy:
            raise OtherWasQuicker(RunId(busy.run_id), heard) from busy
    except TakenBack:
        return Answer()
    except KeyReused:
        # Another process has begun it, as it read by then; of what has been edited since another event tells.
        return Answer()
    except NothingToDo:
        return Answer(text=help_on(services.runtime.agents))
    except (NotEligible, ConfigError, TooLong, TooManyStarts) as error:
        if message.thread_ts is None:
            # Nobody who replies, or stops it, is to wait for what does not come.
            at = Address(message.channel, message.ts)
            services.roots.keep_asking_nothing(at, is_heard=True)
        return _not_started(error)
    # Of a message that is delivered twice it is told once.
    return (
        Answer(text=heard.not_read, begun=run_id)
        if begun == run_id and heard.not_read
        else Answer()
    )


def _not_to_do(services: Services, meant: Meant) -> str:
    """What whoever names an agent, and has nothing for it to do, is told; empty where there is something."""
    if not meant.is_named:
        return ""
    if not meant.prompt:
        return help_on(services.runtime.agents)
    word = word_alone(meant.prompt) or near_word(meant.prompt)
    return nothing_begun(word) if word and word != "retry" else ""


async def _may_hear(services: Services, channel: str) -> bool:
    """False only where Slack says that we are not in the channel: we might be let write there, and would hear no
    reply. Raises ``StoreUnavailable``."""
    action = looking_up_channel((await services.people.home()).team)
    # Where Slack does not say, it is seen whether we can write there when we do.
    if await services.limiter.take(action, Priority.APPROVAL):
        return True
    try:
        said = (await data_of(services.slack.conversations_info(channel=channel))).get("channel")
    except RateLimited as error:
        await services.limiter.withhold(action, error.retry_after)
        return True
    except (SlackRefused, AnswerLost):
        return True
    return (
        not isinstance(said, dict) or said.get("is_member") is not False or bool(said.get("is_im"))
    )


def _not_started(
    error: NotEligible
    | ConfigError
    | KeyReused
    | OpeningGivenUp
    | SessionBusy
    | TooLong
    | TooManyStarts,
) -> Answer:
    if isinstance(error, TooManyStarts):
        return Answer(text=too_many_starts_text(error))
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
    if isinstance(error, OpeningGivenUp):
        return Answer(text="Nothing was started: it took too long. Please try again in a minute.")
    why = f"{error.why}." if isinstance(error, NotEligible) else escape(str(error))
    return Answer(text=f"Nothing was started: {why}")
