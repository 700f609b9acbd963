"""The conversation that a message is in, and what is quoted of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from agent.ports import RunRow
from agent.rules.access import Doing
from agent.rules.decisions import Decider
from agent.rules.ids import SessionId
from agent.rules.parts import Quoted
from bot.slack import fields
from bot.slack.allowed import who_may
from bot.slack.cards.ask_about import About
from bot.slack.choosing import AnswersElsewhere, choices, nobody_here
from bot.slack.given.shared import SharedFile, shared_files
from bot.slack.ids import Place
from bot.slack.messages import Message
from bot.slack.payloads import Actor
from bot.slack.people import NotEligible
from bot.slack.quoting.pages import read_one
from bot.slack.quoting.quotable import quote_of
from bot.slack.roots.sessions import BelowItsCard, session_of
from bot.slack.services import Services


@dataclass(frozen=True, slots=True)
class Found:
    """A message as Slack has it now."""

    quote: Quoted
    #: When its words became those: the ts of its last edit, else its own.
    said_at: str
    #: Who opened its thread, where Slack says so.
    opened_by: str | None
    files: tuple[SharedFile, ...] = ()


class NothingToRead(Exception):
    """There is no text in the message."""


class SaysOtherwise(Exception):
    """The message was edited since somebody looked at it; ``text``: what it says now."""

    def __init__(self, text: str) -> None:
        super().__init__("edited meanwhile")
        self.text = text


@dataclass(frozen=True, slots=True)
class Conversation:
    """Of a thread, as somebody finds it who may ask something in it."""

    asker: Decider
    place: Place
    session: SessionId
    #: Its newest run, whatever became of it.
    newest: RunRow | None
    #: Those of whom they may ask it, the one that is meant first: where runs were, theirs.
    agents: Sequence[str]

    @property
    def is_at_work(self) -> bool:
        return self.newest is not None and self.newest.status == "active"


async def conversation_for(
    services: Services, actor: Actor, about: About, found: Found, *, doing: Doing | None
) -> Conversation:
    """Where they may start a run, or where one is at work, do this to it; None: say something to it, or stop it, as the
    form is still empty. Raises ``NotEligible``, ``SendAgain``, ``StoreUnavailable``."""
    place = Place((await services.people.home()).team, about.channel, about.thread_ts)
    below = Message(
        actor,
        place.team,
        about.channel,
        about.ts,
        about.thread_ts,
        raw="",
        is_direct=False,
        parent_user=found.opened_by,
    )
    try:
        session = await session_of(services, below, place)
    except BelowItsCard as error:
        raise NotEligible(actor.user, "the run whose card this is talks elsewhere") from error
    rows = await services.runtime.store.lists.runs_of_session(session, limit=1)
    newest = rows[0] if rows else None
    if newest is not None:
        asker = await _asker(services, actor, newest, doing)
        return Conversation(asker, place, session, newest, [newest.agent])
    asker, agents = await _who_may_ask(services, actor, about.channel)
    return Conversation(asker, place, session, None, agents)


async def _asker(services: Services, actor: Actor, newest: RunRow, doing: Doing | None) -> Decider:
    if newest.status != "active" and doing != "stop":
        return await who_may(services, actor, newest.agent, "start")
    try:
        return await who_may(services, actor, newest.agent, doing or "steer")
    except NotEligible as error:
        if doing is not None:
            raise
        with suppress(NotEligible):
            return await who_may(services, actor, newest.agent, "stop")
        raise error


async def _who_may_ask(
    services: Services, actor: Actor, channel: str
) -> tuple[Decider, Sequence[str]]:
    """With the agents whose runs they may start there. Raises ``NotEligible`` where there are none."""
    there = choices(services.runtime.agents, channel)
    if not there:
        await services.people.member(actor.user, actor.team)
        raise AnswersElsewhere(actor.user, nobody_here(services.runtime.agents))
    askers, refusals = dict[str, Decider](), list[NotEligible]()
    for agent in there:
        try:
            askers[agent.name] = await who_may(services, actor, agent.name, "start")
        except NotEligible as error:
            refusals.append(error)
    if not askers:
        raise refusals[0]
    return next(iter(askers.values())), list(askers)


async def find(services: Services, about: About) -> Found:
    """That we may read it says that we are there, too. Raises ``NotRead``, ``NothingToRead``, ``SaysOtherwise``,
    ``StoreUnavailable``."""
    shown = await read_one(services, about.address, about.thread_ts)
    quote = quote_of(shown, about.channel, await services.people.home())
    if quote is None:
        raise NothingToRead
    said_at = fields.timestamp_or_none(fields.value(shown, "edited", "ts")) or about.ts
    if about.seen and about.seen != said_at:
        raise SaysOtherwise(quote.text)
    is_root = about.ts == about.thread_ts
    opened_by = fields.id_or_none(shown.get("user" if is_root else "parent_user_id"))
    return Found(quote, said_at, opened_by, shared_files(shown))
