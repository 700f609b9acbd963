"""What the row of a message says of what it shows: a digest, and how much of that Slack takes."""

from __future__ import annotations

import hashlib
import json

from agent.ports import ThreadMessage
from bot.slack.cards.message import Announcement, Message


def digest_of(form: Message | Announcement) -> str:
    """Of what people are to see."""
    return sha256_of(json.dumps([form.text, form.blocks], sort_keys=True))


def sha256_of(text: str) -> str:
    """In hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


#: Begins the digest of what stands in text alone.
IN_TEXT = "text:"


def stands_in_text(row: ThreadMessage) -> bool:
    """Has Slack taken none of its blocks, so that there are no buttons?"""
    return row.digest.startswith(IN_TEXT)


#: Ends the digest of what was wanted of a message that Slack lets nobody edit: it shows something older.
NOT_EDITABLE = " not editable"


def shows_something_older(row: ThreadMessage) -> bool:
    """Does Slack let nobody edit it, so that its buttons stay?"""
    return row.digest.endswith(NOT_EDITABLE)


def unknown(row: ThreadMessage) -> str:
    """Its digest where nobody knows what it shows: but for whether that is text alone."""
    return IN_TEXT if stands_in_text(row) else ""
