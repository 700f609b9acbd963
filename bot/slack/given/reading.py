"""From what is shared with a message to what the agent is given of it, in the time that an event leaves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from typing import Final, TypeVar

from agent.rules.given import FILES_COUNT
from agent.rules.parts import GivenFile
from bot.slack.given.fetching import NotFetched, fetch
from bot.slack.given.readable import (
    GONE,
    NO_TIME,
    NOT_LET,
    NOT_NOW,
    NOT_UTF8,
    text_of,
    why_not_read,
)
from bot.slack.given.shared import SharedFile, shared_files
from bot.slack.ids import Address
from bot.slack.limiter import looking_up_file
from bot.slack.messages import Message
from bot.slack.quoting.pages import NotRead, read_one
from bot.slack.services import Services
from bot.slack.thread.desired import Priority
from bot.slack.thread.edge import AnswerLost, RateLimited, SlackRefused, data_of
from bot.slack.thread.setbacks import is_lasting

T = TypeVar("T")

#: Seconds for all of it: Slack waits three for an event to be acknowledged.
WITHIN: Final = 2.0
_NO_SUCH_FILE: Final = frozenset({"file_deleted", "file_not_found"})
#: Of a message that nobody can see now.
_WHATEVER: Final = GivenFile(name="whatever is shared with this message", why_not=NOT_NOW)
_log = logging.getLogger(__name__)


async def given_files(services: Services, message: Message) -> tuple[GivenFile, ...]:
    """What is shared with it: each as text, or why not. Raises nothing but ``StoreUnavailable``."""
    deadline = _deadline()
    shared = message.files
    if shared is None:
        shared = await _before(deadline, _found_beside(services, message), None)
    if shared is None:
        return (_WHATEVER,)
    return await _all(services, message.team, shared, deadline)


async def read_files(
    services: Services, team: str, shared: Sequence[SharedFile]
) -> tuple[GivenFile, ...]:
    """The same of what is known to be shared."""
    return await _all(services, team, shared, _deadline())


def _deadline() -> float:
    return asyncio.get_running_loop().time() + WITHIN


async def _all(
    services: Services, team: str, shared: Sequence[SharedFile], deadline: float
) -> tuple[GivenFile, ...]:
    read = [_given(services, team, one, deadline) for one in shared[:FILES_COUNT]]
    # The rest is only counted.
    rest = (GivenFile(name=one.name, size=one.size) for one in shared[FILES_COUNT:])
    return (*await asyncio.gather(*read), *rest)


async def _given(services: Services, team: str, file: SharedFile, deadline: float) -> GivenFile:
    if file.is_to_be_looked_up:
        looked_up = await _before(deadline, _looked_up(services, team, file), NO_TIME)
        if isinstance(looked_up, str):
            return GivenFile(name=file.name, why_not=looked_up)
        file = looked_up
    text, why_not = None, why_not_read(file)
    if why_not is None:
        text, why_not = await _before(deadline, _text(services, file), (None, NO_TIME))
    return GivenFile(name=file.name, text=text, why_not=why_not, size=file.size)


async def _text(services: Services, file: SharedFile) -> tuple[str | None, str | None]:
    """Or why not."""
    try:
        text = text_of(await fetch(services.slack, file))
    except NotFetched as error:
        return None, error.why
    return text, NOT_UTF8 if text is None else None


async def _looked_up(services: Services, team: str, file: SharedFile) -> SharedFile | str:
    """As Slack tells who asks; or why not. It may come from another workspace."""
    action = looking_up_file(team)
    if file.id is None or await services.limiter.take(action, Priority.ANSWER):
        return NOT_NOW
    try:
        answer = await data_of(services.slack.files_info(file=file.id))
    except (SlackRefused, AnswerLost) as error:
        if isinstance(error, RateLimited):
            await services.limiter.withhold(action, error.retry_after)
        _log.warning("The file %s could not be looked up: %s", file.id, error)
        if not is_lasting(error):
            return NOT_NOW
        return GONE if error.code in _NO_SUCH_FILE else NOT_LET
    found = SharedFile.parse(answer.get("file"))
    return found if found.id == file.id else GONE


async def _found_beside(services: Services, message: Message) -> tuple[SharedFile, ...] | None:
    """Those of the message as it stands, where its event does not tell; None where Slack does not, either."""
    try:
        at = Address(message.channel, message.ts)
        return shared_files(await read_one(services, at, message.thread))
    except NotRead as error:
        _log.warning("A message could not be read again: %s", error)
        return None


async def _before(deadline: float, work: Awaitable[T], instead: T) -> T:
    """What comes of it in time."""
    try:
        async with asyncio.timeout_at(deadline):
            return await work
    except TimeoutError:
        return instead
