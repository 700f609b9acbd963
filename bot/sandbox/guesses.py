"""What is not verified about Slack where it matters: each with our guess, and settable in a test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Guesses:
    #: An envelope may be acknowledged on any socket of the app. The SDK's clients do so after a
    #: reconnect; whether Slack takes it is not known.
    acknowledge_on_any_socket: bool = True
    #: A `block_actions` from a message carries that message's metadata.
    metadata_in_clicks: bool = False
    #: A view that is cleared away with its stack tells so, each for itself, if it asked to be told.
    each_cleared_view_is_told: bool = True
    #: A streamed message ends by itself so many seconds after it began (`total`), or after what was
    #: last appended (`idle`): reports differ.
    stream_ends: Literal["total", "idle"] = "total"
    stream_seconds: float = 300.0
    #: What a streamed message holds. People measured 10,600 to 11,300 bytes; Slack names none.
    stream_bytes: int = 10_600
    #: What all texts in a message's blocks may sum up to before `msg_blocks_too_long`. People
    #: measured about 13,200 characters; Slack's page names 12,000, and that for markdown alone.
    text_in_blocks: int = 13_200
    #: Of a message's metadata, before `metadata_too_large`. Slack has that error and names no size.
    metadata_bytes: int = 8_000
    #: An `app_mention` has the files of its message, as the `message` event beside it always has:
    #: people report both.
    files_in_mentions: bool = True
