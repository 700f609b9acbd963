"""A list of what is wrong with a payload, each with the JSON pointer to the place."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from bot.sandbox.escaping import escape_rest
from bot.sandbox.limits.properties import FLAGS, OBJECTS
from bot.sandbox.wire import Json


@dataclass(frozen=True)
class Problem:
    pointer: str
    what: str

    def __str__(self) -> str:
        """As most methods say it, in `response_metadata.messages`."""
        return f"[ERROR] {self.what} [json-pointer:{self.pointer}]"

    def as_json(self) -> Json:
        """As `blocks.validate` says it. Slack adds a `constraint`, which is left out here."""
        name = self.what.removeprefix("missing required field: ")
        if name != self.what:
            return {"code": "missing_field", "field": name, **self._common()}
        return {"code": "failed_constraint", **self._common()}

    def _common(self) -> Json:
        return {"message": self.what, "pointer": self.pointer}


class Problems:
    def __init__(self) -> None:
        self.all: list[Problem] = []

    @property
    def found(self) -> list[str]:
        return [str(problem) for problem in self.all]

    def add(self, pointer: str, what: str) -> None:
        self.all.append(Problem(pointer, what))

    def missing(self, pointer: str, name: str) -> None:
        self.add(pointer, f"missing required field: {name}")

    def only(self, holder: Json, pointer: str, allowed: Collection[str]) -> None:
        """No other properties than these, and each that is true or false is one of the two."""
        for name, value in holder.items():
            if name not in allowed:
                self.add(pointer, f"invalid additional property: {name}")
            elif name in FLAGS and not isinstance(value, bool | None):
                self.add(f"{pointer}/{name}", "must be a boolean")

    def length(self, value: Any, pointer: str, most: int, *, least: int = 1) -> None:
        """A string of that many characters."""
        if not isinstance(value, str):
            self.add(pointer, "must be a string")
        elif len(value) > most:
            self.add(pointer, f"must be less than {most + 1} characters")
        elif len(value) < least:
            self.add(pointer, f"must be more than {least - 1} characters")

    def required_length(self, holder: Json, name: str, pointer: str, most: int) -> None:
        if holder.get(name) is None:
            self.missing(pointer, name)
        else:
            self.length(holder[name], f"{pointer}/{name}", most)

    def optional_length(self, holder: Json, name: str, pointer: str, most: int) -> None:
        if name in holder:
            self.length(holder[name], f"{pointer}/{name}", most)

    def optional_address(self, holder: Json, name: str, pointer: str, most: int) -> None:
        """A URL of the web."""
        self.optional_length(holder, name, pointer, most)
        value = holder.get(name)
        if isinstance(value, str) and not re.fullmatch(r"https?://\S+", value):
            self.add(f"{pointer}/{name}", "must be a valid URL")

    def text(
        self, holder: Json, name: str, pointer: str, most: int, *, plain: bool = False
    ) -> None:
        """A required text object, `plain_text` only where Slack says so.

        Its length is counted after escaping, since what is stored is what is limited: so people
        report; no page of Slack's says it.
        """
        place = f"{pointer}/{name}"
        value = holder.get(name)
        if value is None:
            self.missing(pointer, name)
            return
        if not isinstance(value, dict):
            self.add(place, "must provide an object")
            return
        allowed = ("plain_text",) if plain else ("plain_text", "mrkdwn")
        self.one_of(value, "type", place, allowed)
        if value.get("type") in allowed:
            self.only(value, place, OBJECTS[value["type"]])
        words = value.get("text")
        self.length(escape_rest(words) if isinstance(words, str) else words, f"{place}/text", most)

    def optional_text(
        self, holder: Json, name: str, pointer: str, most: int, *, plain: bool = True
    ) -> None:
        if holder.get(name) is not None:
            self.text(holder, name, pointer, most, plain=plain)

    def one_of(self, holder: Json, name: str, pointer: str, allowed: Collection[str]) -> None:
        if holder.get(name) not in allowed:
            self.add(f"{pointer}/{name}", f"must be one of {', '.join(allowed)}")

    def optional_one_of(
        self, holder: Json, name: str, pointer: str, allowed: Collection[str]
    ) -> None:
        if holder.get(name) is not None:
            self.one_of(holder, name, pointer, allowed)

    def names(
        self, holder: Json, name: str, pointer: str, most: int, allowed: Collection[str] = ()
    ) -> None:
        """An optional array of strings, at least one; only of those allowed, if that is said."""
        value, place = holder.get(name), f"{pointer}/{name}"
        if value is None:
            return
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            self.add(place, "must be an array of strings")
            return
        self.count(value, place, most)
        if allowed and not set(value) <= set(allowed):
            self.add(place, f"must be some of {', '.join(allowed)}")

    def number(self, holder: Json, name: str, pointer: str, least: int, most: int) -> None:
        """An optional whole number within these bounds."""
        value = holder.get(name)
        if value is None:
            return
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.add(f"{pointer}/{name}", f"must be between {least} and {most}")

    def items(
        self, holder: Json, name: str, pointer: str, most: int, *, least: int = 1
    ) -> list[Json]:
        """The objects of a required array, as many as it may have; what is none is reported."""
        value = holder.get(name)
        if not isinstance(value, list):
            self.missing(pointer, name)
            return []
        self.count(value, f"{pointer}/{name}", most, least=least)
        for index, one in enumerate(value[:most]):
            if not isinstance(one, dict):
                self.add(f"{pointer}/{name}/{index}", "must provide an object")
        return [one for one in value[:most] if isinstance(one, dict)]

    def count(self, value: list[Any], pointer: str, most: int, *, least: int = 1) -> None:
        if len(value) > most:
            self.add(pointer, f"no more than {most} items allowed")
        if len(value) < least:
            self.add(pointer, f"no less than {least} items allowed")
