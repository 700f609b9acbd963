"""A file that can't be shared twice: its row says ``posting`` and by which id Slack knows it, durably, before Slack
is asked to share it. Until then nobody sees anything of it, and all may be done again.

That Slack has said ok tells nothing: it shares a little later, and now and then not at all. So the file counts as
there only once it was seen where it was to stand, by its id. One that never came is taken back before another is
uploaded, so that it can't come after all.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from agent.errors import LeaseLost, StoreUnavailable
from agent.ports import ThreadMessage
from bot.slack.cards.attachment import Attachment
from bot.slack.ids import Address, Place
from bot.slack.limiter import announcing, posting, sharing, withdrawing
from bot.slack.thread.asking import Asking
from bot.slack.thread.desired import Wanted
from bot.slack.thread.edge import AnswerLost, SlackRefused
from bot.slack.thread.file_edge import Announced, SlackFiles
from bot.slack.thread.rows import Rows
from bot.slack.thread.searching import Searching
from bot.slack.thread.setbacks import Later, is_lasting

log = logging.getLogger(__name__)

#: Slack looks through what it is given before it shows it.
BELIEVED_AFTER: Final = timedelta(seconds=60)
_LOOK_AGAIN: Final = 2.0
_JUST_BEFORE: Final = timedelta(seconds=1)


def shows(row: ThreadMessage | None, binding: str) -> bool:
    """Does the file stand there that was made of what this hash covers?"""
    is_there = row is not None and row.status == "posted" and row.address is not None
    return is_there and row is not None and row.digest.split(" ")[0] == binding


def file_of(row: ThreadMessage) -> str:
    """By which Slack knows it."""
    return row.digest.rpartition(" ")[2]


@dataclass(frozen=True, slots=True)
class Uploading:
    """Attaches the files of one run, and finds out what became of them. Raises ``Later``, ``LeaseLost``,
    ``SlackRefused``, ``AnswerLost``, ``StoreUnavailable``."""

    files: SlackFiles
    asking: Asking
    searching: Searching
    rows: Rows

    async def place(self, wanted: Wanted, file: Attachment, at: Place) -> None:
        """Have it stand there."""
        row = self.rows.known.get(wanted.key)
        if row is not None and row.status == "posting":
            row = await self._find(row, at)
        elif row is not None and wanted.is_looked_at and not await self._still_stands(row, at):
            row = None
        if not shows(row, file.binding):
            await self._attach(wanted, file, at)

    async def _attach(self, wanted: Wanted, file: Attachment, at: Place) -> None:
        # All three at first: what was uploaded in vain is uploaded again. It is a message of the channel, too.
        action = sharing(at.team)
        for needed in (announcing(at.team), posting(at.team, at.channel), action):
            await self.asking.allow(needed, wanted.priority)
        announced = await self._upload(file, at.team)
        row = await self.rows.posting(wanted.key, f"{file.binding} {announced.id}")
        share = partial(
            self.files.share, announced.id, file.title, at.channel, at.thread_ts, file.comment
        )
        try:
            await self._share(row, partial(self.asking.call, action, share))
            found = await self._find(row, at)
        except LeaseLost:
            await self._withdraw(row, at.team)
            raise
        if found is None:
            raise Later(_LOOK_AGAIN)

    async def _share(self, row: ThreadMessage, share: Callable[[], Awaitable[None]]) -> None:
        """Whatever is answered but a no is looked for."""
        try:
            await share()
        except SlackRefused:
            await self.rows.forget(row.key)
            raise
        except AnswerLost as lost:
            log.info("whether %s of %s is shared is not known: %s", *self._named(row), lost)

    async def _upload(self, file: Attachment, team: str) -> Announced:
        """Nobody sees it yet: where an answer is lost it is begun anew."""
        action = announcing(team)
        content = await asyncio.to_thread(file.content)
        announce = partial(self.files.announce, file.name, len(content))
        announced = await self.asking.call(action, announce)
        await self.asking.call(action, partial(self.files.upload, announced, content))
        return announced

    async def _find(self, row: ThreadMessage, at: Place) -> ThreadMessage | None:
        """The file as it stands there; None when it certainly does not, nor will."""
        if row.attempted_at > (now := self.rows.now):
            # The clock was set back: that must not make anybody wait until then.
            row = await self.rows.posting(row.key, row.digest, attempted_at=now)
        found, left = await self._look(row, at)
        if found is not None:
            return await self.rows.posted(row.key, row.digest, found)
        if left > 0:
            raise Later(min(left, _LOOK_AGAIN))
        log.warning("%s of %s was never shared; it is uploaded again", *self._named(row))
        channel = Place(at.team, at.channel)
        leaked = None if at.thread_ts is None else (await self._look(row, channel))[0]
        await self._take_back(row, at.team)
        await self.rows.forget(row.key)
        if leaked is not None:
            raise SlackRefused("thread_not_found")
        return None

    async def _look(self, row: ThreadMessage, at: Place) -> tuple[Address | None, float]:
        return await self.searching.read_back(
            row.key,
            at,
            attempted_at=row.attempted_at,
            file=file_of(row),
            believed_after=BELIEVED_AFTER,
        )

    async def _still_stands(self, row: ThreadMessage, at: Place) -> bool:
        """Anybody may delete a message, and nothing tells of it."""
        if row.address is None:
            return False
        since = datetime.fromtimestamp(float(Address.of(row.address).ts), UTC) - _JUST_BEFORE
        if await self.searching.find(row.key, at, since=since, file=file_of(row)) is not None:
            return True
        log.info("%s of %s is gone; it is uploaded again", *self._named(row))
        await self.rows.forget(row.key)
        return False

    async def _take_back(self, row: ThreadMessage, team: str) -> None:
        action = withdrawing(team)
        await self.asking.allow(action, 0)
        try:
            await self.asking.call(action, partial(self.files.take_back, file_of(row)))
        except SlackRefused as error:
            if not is_lasting(error):
                raise
            log.warning("%s of %s can't be taken back: %s", *self._named(row), error.code)

    async def _withdraw(self, row: ThreadMessage, team: str) -> None:
        """We were replaced while it was on its way. Where our successor has another, ours goes."""
        try:
            known = await self.rows.store.threads.known(self.rows.run_id)
            theirs = known.messages.get(row.key)
            if theirs is not None and file_of(theirs) == file_of(row):
                return
            if not await self.asking.limiter.take(withdrawing(team), 0):
                await self.files.take_back(file_of(row))
                return
        except (StoreUnavailable, SlackRefused, AnswerLost) as error:
            log.info("%s of %s is not taken back: %s", *self._named(row), error)
        log.warning("%s of %s may stand there twice", *self._named(row))

    def _named(self, row: ThreadMessage) -> tuple[str, str]:
        return row.key, self.rows.run_id
