"""A picture of the docs: what is on it, and who sees it where."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from bot.slack.cards.blocks import Block
from bot.slack.cards.message import Message
from bot.slack.cards.modals import View

#: Widths, in pixels of the page: of a telephone, and of a thread beside the list of channels.
PHONE: Final = 390
DESK: Final = 900


@dataclass(frozen=True, slots=True)
class Told:
    """A message as it stands in Slack."""

    text: str
    blocks: tuple[Block, ...]
    #: Only this person sees it.
    to: str | None = None
    #: A person says it, not the bot.
    by: str | None = None
    #: In the channel, beside the thread.
    is_aside: bool = False

    @classmethod
    def posted(cls, message: Message) -> Told:
        """As it is posted, or where that is not all of it, as it stands then."""
        first = message.first
        return cls(first.text, first.blocks) if first.is_complete else cls.edited(message)

    @property
    def placed(self) -> list[str | bool]:
        """What is said of it beyond the usual."""
        return [self.by or "", self.is_aside] if self.by or self.is_aside else []

    @classmethod
    def edited(cls, message: Message) -> Told:
        """As it stands later."""
        return cls(message.text, message.blocks)


@dataclass(frozen=True, slots=True)
class Picture:
    name: str
    at: datetime
    #: The first that isn't aside opens the thread; there is at least one, and that is none for one person only. Not
    #: of a Home tab.
    told: tuple[Told, ...] = ()
    modal: View | None = None
    #: The Home tab, instead of messages.
    home: View | None = None
    seen_by: str = "U0BOB"
    channel: str = "C0SUPPORT"
    in_thread: bool = True
    width: int = PHONE
    #: The whole page, so high; without it the messages alone, or the modal.
    height: int | None = None
    #: Pixels of the picture for one of the page.
    scale: int = 1
    #: What is done on the page before the picture is taken: a script.
    then: str = ""

    @property
    def file(self) -> str:
        return f"{self.name}.png"

    @property
    def view(self) -> View | None:
        """What is on it besides messages."""
        return self.modal or self.home

    @property
    def digest(self) -> str:
        """Changes with what is on it."""
        shown: list[Any] = [[one.text, one.blocks, one.to, *one.placed] for one in self.told]
        around = [self.at.isoformat(), self.seen_by, self.channel, self.width, self.height]
        around += [self.scale] if self.scale != 1 else []
        written = json.dumps([shown, self.view, around, self.then], sort_keys=True)
        return hashlib.sha256(written.encode()).hexdigest()[:32]
