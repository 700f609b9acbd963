"""A call's arguments, whichever way they came."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

from bot.sandbox.wire import Json, SlackError

TRUE = (True, 1, "1", "true", "True")


class Arguments:
    """Looks arguments up by name. What a method doesn't know is ignored, as Slack does."""

    def __init__(self, given: Json) -> None:
        self.given = given

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
        except (TypeError, ValueError):
            raise SlackError("invalid_arguments", [f"[ERROR] not a number: {name}"]) from None

    def parsed(self, name: str) -> Any:
        """A structure, also where it came as a string of JSON."""
        value = self.given.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            raise SlackError(f"invalid_{name}_format") from None


async def read_arguments(request: web.Request) -> Json:
    """Query, form and JSON body merged. Raises `invalid_json`, `json_not_object`."""
    given: Json = dict(request.query)
    if request.content_type == "application/json":
        body = await request.text()
        try:
            parsed = json.loads(body) if body else {}
        except ValueError:
            raise SlackError("invalid_json") from None
        if not isinstance(parsed, dict):
            raise SlackError("json_not_object")
        return given | parsed
    if request.method == "POST":
        given |= {name: value for name, value in (await request.post()).items()}
    return given


def page_of(items: list[Any], arguments: Arguments, default: int) -> tuple[list[Any], str]:
    """One page and the cursor of the next, "" at the end."""
    limit = max(1, min(arguments.number("limit", default), 1000))
    cursor = arguments.text("cursor")
    if cursor and not cursor.removeprefix("next:").isdigit():
        raise SlackError("invalid_cursor")
    start = int(cursor.removeprefix("next:") or 0)
    end = start + limit
    return items[start:end], f"next:{end}" if end < len(items) else ""
