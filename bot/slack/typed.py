"""What a person typed, out of what Slack made of it."""

from __future__ import annotations

import re
from typing import Final

#: Slack makes links of what people type; a mention or a command in angle brackets stays.
_LINK: Final = re.compile(r"<((?:https?://|mailto:|tel:)[^|>]*)(?:\|([^>]*))?>")


def unescape(text: str) -> str:
    """The words as they were typed: links as they were written, and ``&amp;`` an ``&``, once."""
    text = _LINK.sub(_typed_link, text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _typed_link(match: re.Match[str]) -> str:
    target, label = match[1], match[2]
    if not label:
        return target
    return label if target.endswith(label) else f"{label} ({target})"
