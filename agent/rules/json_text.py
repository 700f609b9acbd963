"""JSON text as the journal writes it."""

from __future__ import annotations

import json


def dump_text(value: object) -> str:
    """Compact, non-ASCII as it is, always valid UTF-8.

    Half a surrogate pair, which some sources put into strings, becomes a replacement character.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return whole_text(text)


def whole_text(text: str) -> str:
    """The text with a replacement character in place of each half of a surrogate pair."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
