"""Errors that break a rule: the app had all that it takes to know before it asked."""

from __future__ import annotations

from bot.sandbox.record import Record
from bot.sandbox.wire import SlackError

AVOIDABLE = {
    "cannot_provide_both_markdown_text_and_chunks",
    "duplicate_external_id",
    "invalid_arguments",
    "invalid_attachments",
    "invalid_blocks",
    "invalid_blocks_format",
    "invalid_chunks",
    "invalid_metadata_format",
    "invalid_metadata_schema",
    "markdown_text_conflict",
    "metadata_too_large",
    "msg_blocks_too_long",
    "msg_blocks_too_many",
    "msg_too_long",
    "no_text",
    "push_limit_reached",
    "streaming_mode_mismatch",
    "too_many_attachments",
    "used_url",
    "view_too_large",
}


def note_if_avoidable(record: Record, error: SlackError, method: str) -> None:
    if error.code in AVOIDABLE:
        record.violation("limit", "; ".join([error.code, *error.messages]), method)
