"""One message as Slack is to show it."""

from __future__ import annotations

from dataclasses import dataclass

from bot.slack.cards.blocks import Block

#: Of a message's ``text``, escaped: above it Slack refuses an edit.
TEXT_LIMIT = 4000


@dataclass(frozen=True, slots=True)
class Announcement:
    """What stands in a message when it is first posted: the mentions that ring, or not those that would."""

    text: str
    blocks: tuple[Block, ...]
    #: Does it say all that the message does? Else the message follows, as an edit that rings nobody.
    is_complete: bool = True


@dataclass(frozen=True, slots=True)
class Message:
    """A message and, where somebody is to be rung, its first form.

    ``text`` is what notifications and screen readers say: mrkdwn, escaped. ``plain`` is for where
    Slack refuses the blocks: text alone that says what there is to know, and what can be done.
    """

    text: str
    blocks: tuple[Block, ...]
    announce: Announcement | None = None
    plain: str | None = None

    @property
    def first(self) -> Announcement:
        """What is posted; later edits show the message itself."""
        return self.announce or Announcement(self.text, self.blocks)

    @property
    def without_blocks(self) -> str:
        return self.plain or self.text
