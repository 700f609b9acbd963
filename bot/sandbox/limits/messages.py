"""Limits of a message as a whole."""

from __future__ import annotations

import json
from typing import Any

from bot.sandbox.escaping import stored
from bot.sandbox.guesses import Guesses
from bot.sandbox.limits.blocks import MARKDOWN_TEXT, check_blocks
from bot.sandbox.limits.problems import Problems
from bot.sandbox.limits.tables import text_length
from bot.sandbox.wire import Json, SlackError

ATTACHMENTS = 100
#: A value of an `event_payload`: one of these, or an object or array of them.
_PLAIN = (str, int, float, bool)


def check_message_blocks(blocks: Any, guesses: Guesses | None = None) -> None:
    """Raises `invalid_blocks`, with a message and a pointer for each fault; or, where each block
    is right by itself, `msg_blocks_too_long` or `invalid_attachments` (a second table).
    """
    problems = find_problems(blocks, "/blocks")
    if problems.all:
        raise SlackError("invalid_blocks", problems.found)
    if len(_tables(blocks)) > 1:
        # In these words, though it may stand in `blocks`.
        raise SlackError("invalid_attachments", ["only_one_table_allowed"])
    if text_length(blocks) > (guesses or Guesses()).text_in_blocks:
        raise SlackError("msg_blocks_too_long")


def find_problems(blocks: Any, pointer: str) -> Problems:
    problems = Problems()
    check_blocks(problems, blocks, pointer, "message")
    if isinstance(blocks, list):
        markdown = [
            one for one in blocks if isinstance(one, dict) and one.get("type") == "markdown"
        ]
        if len(markdown) > 1 and text_length(markdown) > MARKDOWN_TEXT:
            problems.add(pointer, f"no more than {MARKDOWN_TEXT} characters of markdown allowed")
    return problems


def check_attachments(given: Any) -> list[Json]:
    """Numbered, and with entities in their texts, as Slack does.

    Raises `invalid_attachments`, `too_many_attachments`; and `sandbox_has_no_blocks_in_attachments`
    for what can be clicked, since a click there would need a container of its own.
    """
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise SlackError("invalid_attachments")
    if len(given) > ATTACHMENTS:
        raise SlackError("too_many_attachments")
    if any(one.get("blocks") or one.get("actions") for one in given):
        raise SlackError("sandbox_has_no_blocks_in_attachments")
    fallback = "[no preview available]"
    kept = [{name: _kept(name, value) for name, value in one.items()} for one in given]
    return [
        {"id": number, "fallback": one.get("fallback") or one.get("text") or fallback, **one}
        for number, one in enumerate(kept, start=1)
    ]


def _kept(name: str, value: Any) -> Any:
    is_text = name in ("text", "pretext", "fallback") and isinstance(value, str)
    return stored(value) if is_text else value


def check_metadata(given: Any, guesses: Guesses) -> Json | None:
    """None: nothing was said; empty: take it away. Raises `invalid_metadata_format`,
    `invalid_metadata_schema`, `metadata_too_large`.
    """
    if given is None:
        return None
    if given == {}:
        return {}
    if not isinstance(given, dict) or not isinstance(given.get("event_payload"), dict):
        raise SlackError("invalid_metadata_format")
    if not isinstance(given.get("event_type"), str) or not given["event_type"]:
        raise SlackError("invalid_metadata_format")
    kept = {"event_type": given["event_type"], "event_payload": given["event_payload"]}
    if not all(_is_shallow(value) for value in kept["event_payload"].values()):
        raise SlackError("invalid_metadata_schema")
    if len(json.dumps(kept, ensure_ascii=False).encode(errors="replace")) > guesses.metadata_bytes:
        raise SlackError("metadata_too_large")
    return kept


def _is_shallow(value: Any) -> bool:
    """Slack's types allow one level below. Whether its server looks is not known: here it does."""
    match value:
        case dict():
            return all(isinstance(one, _PLAIN) for one in value.values())
        case list():
            return all(_is_shallow(one) and not isinstance(one, list) for one in value)
        case _:
            return isinstance(value, _PLAIN)


def _tables(blocks: list[Json]) -> list[Json]:
    found = [one for one in blocks if one["type"] in ("table", "data_table")]
    for block in blocks:
        found += _tables(block["child_blocks"] if block["type"] == "container" else [])
    return found
