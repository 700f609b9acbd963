"""What others had said in a thread before somebody spoke to its agent, as far as the agent has not been told."""

from __future__ import annotations

from decimal import Decimal

from agent.errors import CorruptJournal, UnknownEvent
from agent.rules.ids import SessionId
from agent.rules.parts import Quoted
from agent.rules.state import RunState
from bot.slack.ids import Address
from bot.slack.messages import Message
from bot.slack.people import Home
from bot.slack.quoting.newest import Read
from bot.slack.quoting.pages import read_thread
from bot.slack.quoting.quotable import quote_of_other
from bot.slack.quoting.told import LEFT_OUT, Told, is_between, told_of, unread
from bot.slack.services import Services

#: So many of a session's newest runs say how far it has been told, and by whom.
_LOOK_BACK = 5


async def said_before(
    services: Services, message: Message, session: SessionId
) -> tuple[Quoted, ...]:
    """Oldest first, and only of the message's own thread. What could not be read is noted, and read with the next
    message. Raises ``StoreUnavailable``."""
    if message.thread_ts is None or message.is_direct:
        # Nobody else spoke there.
        return ()
    told = told_of(await newest_runs(services, session), message.channel)
    if message.key in told.refs:
        # It is delivered once more.
        return ()
    if Decimal(told.up_to) >= Decimal(message.ts):
        # It comes late: what was said before it came with a later one.
        return ()
    root = Address(message.channel, message.thread_ts)
    read = await read_thread(services, root, after=told.up_to, before=message.ts)
    return _quotes(read, message, told, await services.people.home())


def _quotes(read: Read, message: Message, told: Told, home: Home) -> tuple[Quoted, ...]:
    quotes, since = list[Quoted](), told.up_to
    for shown in read.messages:
        ts = str(shown.get("ts"))
        quote = quote_of_other(shown, message.channel, home)
        if quote is None or not is_between(ts, told.up_to, message.ts):
            continue
        since = ts
        if told.lacks(quote):
            quotes.append(quote)
    if read.is_cut and quotes:
        quotes.insert(0, LEFT_OUT)
    if not read.is_whole:
        quotes.append(unread(home.team, message.channel, since))
    return tuple(quotes)


async def newest_runs(services: Services, session: SessionId) -> list[RunState]:
    """The session's newest few, the newest first. What can't be read here says nothing. Raises ``StoreUnavailable``."""
    runs = list[RunState]()
    for row in await services.runtime.store.lists.runs_of_session(session, limit=_LOOK_BACK):
        try:
            runs.append(await services.runtime.state(row.run_id))
        except (CorruptJournal, UnknownEvent):
            continue
    return runs
