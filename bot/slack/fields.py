"""One field out of Slack's JSON, as what it should be.

``path`` leads to it, name by name. What is missing or wrong raises ``BadPayload``, unless said
otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

# Ids become parts of names (``slack:TEAM:USER``): nothing else may get in with them. What kind of
# thing an id names, Slack does not promise to show in it.
_ID: Final = re.compile(r"[A-Z0-9_]{1,80}")
_EVENT_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,80}")
_TS: Final = re.compile(r"[0-9]{1,16}\.[0-9]{1,9}")


class BadPayload(Exception):
    """A payload that Slack would not send: ``where`` names the field. It never holds the content."""

    def __init__(self, where: str) -> None:
        super().__init__(f"The payload has no usable {where}.")
        self.where = where


def value(body: object, *path: str) -> object:
    """Whatever stands there; None for nothing. Raises nothing."""
    for name in path:
        if not isinstance(body, Mapping):
            return None
        body = body.get(name)
    return body


def text(body: object, *path: str) -> str:
    """A text that is not empty."""
    found = value(body, *path)
    if not isinstance(found, str) or not found:
        raise BadPayload(".".join(path))
    return found


def optional_text(body: object, *path: str) -> str:
    """A text; an empty one for none."""
    found = value(body, *path)
    if found is not None and not isinstance(found, str):
        raise BadPayload(".".join(path))
    return found or ""


def slack_id(body: object, *path: str) -> str:
    """The id of a user, a workspace, a channel."""
    if (found := id_or_none(value(body, *path))) is None:
        raise BadPayload(".".join(path))
    return found


def optional_id(body: object, *path: str) -> str | None:
    """An id; None for none."""
    return slack_id(body, *path) if value(body, *path) else None


def event_id(body: object) -> str | None:
    """An event's, the same each time that Slack delivers it; None where it has none of use. Raises nothing."""
    found = value(body, "event_id")
    return found if isinstance(found, str) and _EVENT_ID.fullmatch(found) else None


def timestamp(body: object, *path: str) -> str:
    """A message's ``ts``."""
    if (found := timestamp_or_none(value(body, *path))) is None:
        raise BadPayload(".".join(path))
    return found


def optional_timestamp(body: object, *path: str) -> str | None:
    """A ``ts``; None for none."""
    return timestamp(body, *path) if value(body, *path) else None


def id_or_none(found: object) -> str | None:
    """This as an id; None for what is none. Raises nothing."""
    return found if isinstance(found, str) and _ID.fullmatch(found) else None


def timestamp_or_none(found: object) -> str | None:
    """This as a ``ts``; None for what is none. Raises nothing."""
    return found if isinstance(found, str) and _TS.fullmatch(found) else None
