"""A call's arguments, whichever way they came."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from bot.sandbox.wire import Json, SlackError, parse_json

TRUE = (True, 1, "1", "true", "True")


class Arguments:
    """Looks arguments up by name. What a method doesn't know is ignored, as Slack does."""

    def __init__(self, given: Json, scopes: Collection[str] = ()) -> None:
        self.given = given
        #: Those of the caller's token.
        self.scopes = scopes

    def text(self, name: str, default: str = "") -> str:
        value = self.given.get(name)
        return default if value is None else str(value)

    def required(self, name: str, error: str = "invalid_arguments") -> str:
        value = self.text(name)
        if not value:
            raise SlackError(error, [f"[ERROR] missing required field: {name}"])
        return value

    def flag(self, name: str) -> bool:
        return self.given.get(name) in TRUE

    def number(self, name: str, default: int) -> int:
        try:
            return int(self.given.get(name) or default)
        except (TypeError, ValueError, OverflowError):
            raise SlackError("invalid_arguments", [f"[ERROR] not a number: {name}"]) from None

    def parsed(self, name: str) -> Any:
        """A structure, also where it came as a string of JSON."""
        value = self.given.get(name)
        if not isinstance(value, str):
            return value
        try:
            return parse_json(value)
        except ValueError:
            raise SlackError(_NO_JSON.get(name, "invalid_arguments")) from None

    def listed(self, name: str) -> list[str]:
        """Names, with commas between them or as an array."""
        value = self.given.get(name)
        many = value if isinstance(value, list) else self.text(name).split(",")
        return [str(one).strip() for one in many if str(one).strip()]


_NO_JSON = {
    "blocks": "invalid_blocks_format",
    "metadata": "invalid_metadata_format",
    "attachments": "invalid_attachments",
    "chunks": "invalid_chunks",
}


async def read_arguments(request: web.Request) -> Json:
    """Query, form and JSON body merged.

    Raises `invalid_json`, `json_not_object`, `invalid_form_data`, `invalid_charset`.
    """
    given: Json = dict(request.query)
    is_json = request.content_type == "application/json"
    try:
        if is_json:
            return given | await _json(request)
        return given | (await _form(request) if request.method == "POST" else {})
    except LookupError:
        raise SlackError("invalid_charset") from None
    except ValueError:
        raise SlackError("invalid_json" if is_json else "invalid_form_data") from None


async def _json(request: web.Request) -> Json:
    body = await request.text()
    parsed = parse_json(body) if body else {}
    if not isinstance(parsed, dict):
        raise SlackError("json_not_object")
    return parsed


async def _form(request: web.Request) -> Json:
    """A file is no argument of any method here: of one the name stays, for the record."""
    try:
        fields = await request.post()
    except (AssertionError, HttpProcessingError):
        # So aiohttp says that a multipart body is garbled.
        raise ValueError from None
    return {
        name: value if isinstance(value, str) else {"filename": value.filename}
        for name, value in fields.items()
        if not isinstance(value, bytes | bytearray)
    }


def page_of(items: list[Any], arguments: Arguments, default: int) -> tuple[list[Any], str]:
    """One page and the cursor of the next, "" at the end. Raises `invalid_cursor`."""
    start = int(float(read_cursor(arguments) or 0))
    end = start + limit_of(arguments, default)
    return items[start:end], as_cursor(str(end)) if end < len(items) else ""


def limit_of(arguments: Arguments, default: int) -> int:
    return max(1, min(arguments.number("limit", default), 1000))


def read_cursor(arguments: Arguments) -> str:
    """What `as_cursor` was given; "" without one. A number; raises `invalid_cursor`."""
    cursor = arguments.text("cursor")
    try:
        place = base64.b64decode(cursor, validate=True).decode().removeprefix(_CURSOR)
    except (binascii.Error, ValueError):
        raise SlackError("invalid_cursor") from None
    if not re.fullmatch(r"(\d{1,20}(\.\d+)?)?", place):
        raise SlackError("invalid_cursor")
    return place


def as_cursor(place: str) -> str:
    return base64.b64encode(f"{_CURSOR}{place}".encode()).decode()


_CURSOR = "next:"
