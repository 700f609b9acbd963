"""What is said in a thread of ours: to the run that is active there, or to begin the conversation's next one.

Who may not say something to the agent is left alone, as is, after a run's end, who has taken no part: people talk to
each other. Only who spoke to us is told why, and who asked for the run that is at work.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from agent.errors import (
    ConfigError,
    CorruptJournal,
    KeyReused,
    NotFound,
    RunEnded,
    TooLong,
    TooManyStarts,
    UnknownEvent,
)
from agent.rules.access import Doing
from agent.rules.ids import Principal, RunId
from agent.rules.people import knows
from agent.rules.state import RunState
from bot.slack.allowed import NotListed, who_may
from bot.slack.answering import Answer
from bot.slack.cards.starts import too_many_starts_text
from bot.slack.cards.text import escape, quoted
from bot.slack.choosing import agent_named, without_own_name
from bot.slack.conversation.hinting import TOLD_AT_LEAST, hint_for
from bot.slack.conversation.reacting import show_taken
from bot.slack.conversation.taking_part import must_be_meant
from bot.slack.hearing import Heard, TakenBack, hear
from bot.slack.help import KEPT_FOR_RETRY
from bot.slack.ids import Place, SlackUser
from bot.slack.messages import Message, address_of
from bot.slack.people import CouldNotLookUp, NotEligible
from bot.slack.quoting.earlier import newest_runs
from bot.slack.quoting.told import LATE
from bot.slack.roots.sessions import session_of
from bot.slack.services import Services

#: So many words in the thread of a failed run are taken for a remark on that.
_REMARK: Final = 3
_BEING_STOPPED: Final = "Nothing was done: the run in this thread is being stopped. Say it again once it has ended. ({run})"
_BEFORE_THE_STOP: Final = (
    "Nothing was done: this was written before the run in this thread was stopped. Say it again if it is still to be"
    " done. ({run})"
)
_ANOTHERS: Final = (
    "Nothing was done: this conversation is with {agent}, and stays with it. To ask {other}, write `{other}: …` outside"
    " of this thread, to me or with a mention of me, or use `/agent {other}: …`. ({run})"
)
_UNREADABLE: Final = (
    "Nothing was done: the run in this thread can't be read by the version that runs now. ({run})"
)

_OF_A_NEWER: Final = (
    "Nothing was done: the run in this thread can't be read by the version that runs now; a newer one wrote it. Ask"
    " whoever operates the bot to start the newer one, and say it again then. ({run})"
)


class NotReadHere(Exception):
    """The run that is active in a thread can't be read by this version; ``is_newer``: others may know how."""

    def __init__(self, run_id: RunId, *, is_newer: bool) -> None:
        super().__init__(run_id)
        self.is_newer = is_newer
        #: For who spoke to us.
        words = _OF_A_NEWER if is_newer else _UNREADABLE
        self.told = words.format(run=quoted(run_id, 90))


async def run_of_thread(services: Services, message: Message) -> RunState | None:
    """The newest of the conversation that the message's thread is. None where there is none, or one that has ended
    and can't be read here. Raises ``NotReadHere``, ``StoreUnavailable``, and ``SendAgain`` as ``session_of`` does."""
    place = Place(message.team, message.channel, message.thread)
    session = await session_of(services, message, place)
    rows = await services.runtime.store.lists.runs_of_session(session, limit=1)
    try:
        return await services.runtime.state(rows[0].run_id) if rows else None
    except NotFound:
        return None
    except (CorruptJournal, UnknownEvent) as error:
        if rows[0].status != "active":
            return None
        is_newer = isinstance(error, UnknownEvent)
        raise NotReadHere(rows[0].run_id, is_newer=is_newer) from error


async def follow(
    services: Services,
    message: Message,
    text: str,
    state: RunState,
    hint: str,
    heard: Heard | None = None,
) -> Answer:
    """What follows from ``text`` in the thread of this run: it is told it, or the next one begins with it, and
    whoever said it is told the ``hint``. ``heard``, if it has been already: Slack does not wait for that twice. Raises
    ``StoreUnavailable``: then the message is delivered again."""
    try:
        # Delivered again, whatever has become of the run since.
        is_known = knows(state, message.key)
        told = _Told(state) if is_known else await _tell(services, message, text, state, heard)
    except NotEligible as error:
        alone = await left_alone(services, message, error, state)
        # Who may answer may not always say something else.
        return alone if alone.text else Answer(text=hint)
    except (TakenBack, KeyReused):
        # Or another process has told it, as it read by then; of what has been edited since another event tells.
        return Answer()
    except _ForAnother as other:
        return Answer(text=_anothers(state, other.name))
    except _Remark:
        return Answer(text=KEPT_FOR_RETRY)
    except RunEnded as error:
        return Answer(text=_BEING_STOPPED.format(run=quoted(error.run_id, 90)))
    except TooLong as error:
        return Answer(text=too_long(error))
    except TooManyStarts as error:
        return Answer(text=too_many_starts_text(error))
    except ConfigError as error:
        return Answer(text=f"Nothing was done: {escape(str(error))}")
    except (CorruptJournal, UnknownEvent):
        return unreadable(state.run_id)
    if told is None:
        return Answer(text=_BEFORE_THE_STOP.format(run=quoted(state.run_id, 90)))
    if any(one.ref == message.key for one in told.state.said):
        services.answering.keep(show_taken(services, message))
    hint = " ".join(filter(None, (hint, await hint_for(services, text, state))))
    hint = f"{hint} {TOLD_AT_LEAST}" if hint else ""
    return Answer(text="\n".join(filter(None, (hint, told.not_read))))


def unreadable(run_id: str) -> Answer:
    """For whoever speaks to us in the thread of a run that another version has written on."""
    return Answer(text=_UNREADABLE.format(run=quoted(run_id, 90)))


async def overtaken(services: Services, message: Message, text: str, state: RunState) -> Answer:
    """What was said in a conversation of ours before ``state``, its newest run, began, and comes behind what that
    began with: it is told it, if it would have begun one itself. What people had said to each other before we were
    spoken to is left alone. Raises ``StoreUnavailable``."""
    runs = await newest_runs(services, state.session)
    if any(has_heard_of(run, message.key) for run in runs):
        return Answer()
    there = (run for run in runs if not is_of_an_older_run(run, message))
    if (before := next(there, None)) is None:
        return Answer()
    said_at = services.apart.by_store(message.said_at)
    if is_before_the_stop(before, said_at):
        return Answer(text=_BEFORE_THE_STOP.format(run=quoted(before.run_id, 90)))
    if before.ended_at is not None and before.ended_at < said_at:
        try:
            await must_be_meant(services, message, text, before)
        except NotEligible:
            return Answer()
    return await follow(services, message, text, state, "")


async def left_alone(
    services: Services, message: Message, error: NotEligible, state: RunState
) -> Answer:
    """What somebody is told who may not do what they said in the thread of this run: nothing, unless they said it to
    us, or are of the team and it could not be looked up, or wait for what they had asked for."""
    home = await services.people.home()
    by = SlackUser(message.actor.team or home.team, message.actor.user).principal
    is_theirs = isinstance(error, NotListed) and by in state.requesters and not state.is_ended
    is_unknown = isinstance(error, CouldNotLookUp) and message.actor.team in (None, home.team)
    if message.is_aside and not (is_theirs or is_unknown):
        return Answer()
    return Answer(text=f"Nothing was done: {error.why}.")


def too_long(error: TooLong) -> str:
    return f"Nothing was done: that has {error.length:,} characters. Say it in at most {error.limit:,}."


def _anothers(state: RunState, other: str) -> str:
    return _ANOTHERS.format(
        agent=quoted(state.agent, 40), other=quoted(other, 40), run=quoted(state.run_id, 90)
    )


class _ForAnother(Exception):
    """It begins by naming an agent that this conversation is not with."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class _Remark(Exception):
    """So few words, meant for nobody in particular, are not to take a failed run's Retry away."""


@dataclass(frozen=True, slots=True)
class _Told:
    """The run that has the message, and what of its files the agent does not see."""

    state: RunState
    not_read: str = ""


async def _tell(
    services: Services, message: Message, text: str, state: RunState, heard: Heard | None
) -> _Told | None:
    """The run that has it by now; None where it was written before the run was stopped. Who may say something to a
    run may not always start one: that is asked when it is known which it is. Raises ``NotEligible``, and as
    ``Runtime.steer`` does."""
    doing: Doing = "start" if state.is_ended else "steer"
    by = await who_may(services, message.actor, state.agent, doing)
    if state.is_ended:
        await must_be_meant(services, message, text, state)
    named = agent_named(services.runtime.agents, text)
    if named is not None and named[0] != state.agent:
        raise _ForAnother(named[0])
    if is_before_the_stop(state, services.apart.by_store(message.said_at)):
        return None
    if message.is_aside and state.ending == "failed" and len(text.split()) <= _REMARK:
        raise _Remark
    heard = heard or await hear(
        services, message, without_own_name(state.agent, text), state.session
    )
    # While it was being read another process may have told it what was said later.
    newest = await services.runtime.state(state.run_id)
    if _is_behind(newest, message) and LATE not in heard.quoted:
        heard = replace(heard, quoted=(*heard.quoted, LATE))
    try:
        taken = await _steer(services, message, heard, state, by.principal)
    except RunEnded:
        now = await services.runtime.state(state.run_id)
        if state.is_ended or not now.is_ended:
            raise
        return await _tell(services, message, text, now, heard)
    return _Told(taken, heard.not_read)


async def _steer(
    services: Services, message: Message, heard: Heard, state: RunState, by: Principal
) -> RunState:
    return await services.runtime.steer(
        state.run_id,
        heard.text,
        by,
        ref=message.key,
        place=str(Place(message.team, message.channel, message.thread)),
        quoted=heard.quoted,
        files=heard.files,
        as_of=heard.as_of,
        may_begin=state.is_ended,
    )


def _is_behind(state: RunState, message: Message) -> bool:
    """Has the run been told something that was said later?"""
    told = (address_of(ref) for ref in (state.ref, *(one.ref for one in state.said)) if ref)
    return any(at is not None and float(at.ts) > float(message.ts) for at in told)


def has_heard_of(state: RunState, key: str) -> bool:
    """Was the run told it, or answered with it?"""
    decided = (one.decided for one in state.approvals.values())
    return knows(state, key) or any(one is not None and one.ref == key for one in decided)


def is_of_an_older_run(state: RunState, message: Message) -> bool:
    """Was this said before the message that the run began with? Both times are Slack's."""
    began = address_of(state.ref) if state.ref else None
    return began is not None and float(message.ts) < float(began.ts)


def is_before_the_stop(state: RunState, said_at: datetime) -> bool:
    """Did people stop the run after this was said, by the store's clock? Slack delivers what is said in any order, and
    whoever stopped it did not want it done."""
    stop = state.stop
    return state.is_ended and stop is not None and not stop.is_a_rules and said_at < stop.at
