"""A list of what is wrong with a payload, each with the JSON pointer to the place."""

from __future__ import annotations

from typing import Any


class Problems:
    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, pointer: str, what: str) -> None:
        self.found.append(f"[ERROR] {what} [json-pointer:{pointer}]")

    def length(self, value: Any, pointer: str, most: int, *, least: int = 1) -> None:
        """A string of that many characters."""
        if not isinstance(value, str):
            self.add(pointer, "must be a string")
        elif len(value) > most:
            self.add(pointer, f"must be less than {most + 1} characters")
        elif len(value) < least:
            self.add(pointer, f"must be more than {least - 1} characters")

    def optional_length(self, holder: dict[str, Any], name: str, pointer: str, most: int) -> None:
        if name in holder:
            self.length(holder[name], f"{pointer}/{name}", most)

    def text(
        self, holder: dict[str, Any], name: str, pointer: str, most: int, *, plain: bool = False
    ) -> None:
        """A required text object, `plain_text` only where Slack says so."""
        place = f"{pointer}/{name}"
        value = holder.get(name)
        if value is None:
            self.add(pointer, f"missing required field: {name}")
            return
        if not isinstance(value, dict):
            self.add(place, "must provide an object")
            return
        allowed = ("plain_text",) if plain else ("plain_text", "mrkdwn")
        if value.get("type") not in allowed:
            self.add(f"{place}/type", f"must be one of {', '.join(allowed)}")
        self.length(value.get("text"), f"{place}/text", most)

    def optional_text(
        self, holder: dict[str, Any], name: str, pointer: str, most: int, *, plain: bool = True
    ) -> None:
        if holder.get(name) is not None:
            self.text(holder, name, pointer, most, plain=plain)

    def items(
        self, holder: dict[str, Any], name: str, pointer: str, most: int, *, least: int = 1
    ) -> list[dict[str, Any]]:
        """The objects of a required array; what is no object is reported and left out."""
        value = holder.get(name)
        if not isinstance(value, list):
            self.add(pointer, f"missing required field: {name}")
            return []
        if len(value) > most:
            self.add(f"{pointer}/{name}", f"no more than {most} items allowed")
        if len(value) < least:
            self.add(f"{pointer}/{name}", f"no less than {least} items allowed")
        for index, one in enumerate(value):
            if not isinstance(one, dict):
                self.add(f"{pointer}/{name}/{index}", "must provide an object")
        return [one for one in value if isinstance(one, dict)]
