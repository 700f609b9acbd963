"""What a message says: with its blocks, or with its text alone where Slack does not take them."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from bot.slack.cards.blocks import Block
from bot.slack.cards.message import Announcement, Message
from bot.slack.limiter import Action
from bot.slack.thread.asking import Asking
from bot.slack.thread.desired import Priority, Wanted
from bot.slack.thread.edge import SlackRefused

log = logging.getLogger(__name__)

T = TypeVar("T")

_BLOCKS_REFUSED: Final = {
    "invalid_blocks",
    "invalid_blocks_format",
    "invalid_arguments",
    "msg_too_long",
    "msg_blocks_too_long",
}


@dataclass(frozen=True, slots=True)
class Wording:
    """Sends what is wanted by ``send``, which is one ``action`` that has been allowed."""

    asking: Asking
    wanted: Wanted
    action: Action
    #: To be called before the second attempt: it is written down when that was made.
    write_down: Callable[[], Awaitable[object]]

    async def say(
        self, form: Message | Announcement, send: Callable[[str, Sequence[Block]], Awaitable[T]]
    ) -> tuple[T, bool]:
        """What came of it, and whether it was said in text alone. Raises what ``send`` does, ``Later``, and
        ``LeaseLost``."""
        try:
            sent = await self.asking.call(self.action, partial(send, form.text, form.blocks))
            return sent, False
        except SlackRefused as error:
            if error.code not in _BLOCKS_REFUSED:
                raise
            self._log(error.code)
        # What has been begun is ended, or the same two calls would be made again and again.
        await self.asking.allow(self.action, Priority.APPROVAL)
        await self.write_down()
        text = self.wanted.message.without_blocks
        return await self.asking.call(self.action, partial(send, text, ())), True

    def _log(self, code: str) -> None:
        log.error(
            "Slack does not take the blocks of %s of %s (%s); its text is shown alone",
            self.wanted.key,
            self.asking.guard.lease.run_id,
            code,
        )
