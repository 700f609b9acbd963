"""What an app says: read from a call's arguments, checked, and as Slack stores it."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.sandbox.controls import with_ids
from bot.sandbox.escaping import as_stored, stored
from bot.sandbox.guesses import Guesses
from bot.sandbox.ids import Ids
from bot.sandbox.limits.blocks import MARKDOWN_TEXT
from bot.sandbox.limits.messages import check_attachments, check_message_blocks, check_metadata
from bot.sandbox.wire import Json, SlackError

#: Long known of Slack, and not verified here.
TEXT_KEPT = 40_000


@dataclass
class Content:
    """Made by `parse`, it is within Slack's limits."""

    text: str = ""
    blocks: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    #: None: nothing was said of it; empty: take it away.
    metadata: Json | None = None
    #: A name and a picture of its own for this message.
    author: Json = field(default_factory=dict)
    truncated: bool = False
    #: The names of the fields that an update leaves as they are.
    retained: frozenset[str] = frozenset()

    @staticmethod
    def parse(
        arguments: Json, ids: Ids, guesses: Guesses, *, may_be_empty: bool = False
    ) -> Content:
        """Raises `no_text`, `invalid_blocks`, `invalid_metadata_format` …"""
        text, blocks = _text_and_blocks(arguments)
        attachments = arguments.get("attachments") or []
        if not (text.strip() or blocks or attachments or may_be_empty):
            raise SlackError("no_text")
        check_message_blocks(blocks, guesses)
        kept = stored(text)
        return Content(
            kept[:TEXT_KEPT],
            with_ids([as_stored(block) for block in blocks], ids),
            check_attachments(attachments),
            check_metadata(arguments.get("metadata"), guesses),
            truncated=len(kept) > TEXT_KEPT,
        )

    def fields(self) -> Json:
        """Of text alone Slack makes a block of rich text, too; here none comes back."""
        found: Json = {"text": self.text, **self.author}
        if self.blocks:
            found["blocks"] = self.blocks
        if self.attachments:
            found["attachments"] = self.attachments
        if self.metadata:
            found["metadata"] = self.metadata
        return found


def _text_and_blocks(arguments: Json) -> tuple[str, list[Json]]:
    text = arguments.get("text") or ""
    blocks = arguments.get("blocks") or []
    markdown = arguments.get("markdown_text") or ""
    if not isinstance(text, str) or not isinstance(markdown, str):
        raise SlackError("invalid_arguments")
    if not markdown:
        return text, blocks
    if text or blocks:
        raise SlackError("markdown_text_conflict")
    if len(markdown) > MARKDOWN_TEXT:
        raise SlackError("msg_too_long")
    return markdown, [{"type": "markdown", "text": markdown}]
