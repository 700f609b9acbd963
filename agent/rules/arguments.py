"""The text of a proposed call's arguments, read strictly: what is not plainly JSON is refused."""

from __future__ import annotations

from pydantic import JsonValue

from agent.rules.json_text import NotJson, read_strictly


class MalformedArguments(ValueError):
    """The text is not one JSON object; the message says why."""


def parse_arguments(text: str) -> dict[str, JsonValue]:
    """Raises ``MalformedArguments`` for anything but one JSON object."""
    try:
        value = read_strictly(text)
    except NotJson as error:
        raise MalformedArguments(f"The arguments are not JSON: {error}.") from error
    if not isinstance(value, dict):
        raise MalformedArguments("The arguments must be one JSON object.")
    return value
