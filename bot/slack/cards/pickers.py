"""Inputs in which a value is picked: one of several, some of several, a day, a moment.

What was sent is compared as Slack sends it, so that what nobody touched is never read as another value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final, Protocol

from pydantic import JsonValue

from agent.rules.json_text import dump_text
from agent.rules.values import Field, read_moment, show_value
from bot.slack.cards.blocks import Block, plain
from bot.slack.cards.text import measure, shorten, show
from bot.slack.ids import INPUT_ACTION

#: A value as Slack sends it.
Sent = str | int | frozenset[str]

_OPTIONS_LIMIT = 100
_OPTION_TEXT = 75
_OPTION_VALUE = 150
_NO_CHOICE: Final = "This is not one of the choices."
_NO_DAY: Final = "This is no day."
_NO_MOMENT: Final = "This is no time."
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
#: What Slack's picker can show, in seconds.
_MOMENTS: Final = range(10**9, 10**10)


class Picker(Protocol):
    """One way to pick."""

    @property
    def initial(self) -> Sent | None:
        """What stands there before anybody touches it; None: nothing."""

    def element(self) -> Block: ...

    def sent(self, element: Mapping[str, Any]) -> Sent | None:
        """What stands there now; None: nothing. Raises ``ValueError`` with a sentence."""

    def value(self, sent: Sent) -> JsonValue:
        """What that means. Raises ``ValueError`` with a sentence."""


def picker_of(field: Field, value: JsonValue) -> Picker | None:
    """How this argument is picked; None where it has to be typed, or can't show what it is now."""
    match field.kind:
        case "boolean":
            return _one_of({"true": ("Yes", True), "false": ("No", False)}, value)
        case "choice":
            return _one_of(_options(field.choices), value)
        case "choices":
            return _some_of(_options(field.choices), value)
        case "date":
            return _day(value)
        case "datetime":
            return _moment(value)
        case _:
            return None


@dataclass(frozen=True, slots=True)
class OneOf:
    #: Words and values, by what Slack sends.
    options: Mapping[str, tuple[str, JsonValue]]
    initial: str | None

    def element(self) -> Block:
        made = _select("static_select", self.options)
        if self.initial is None:
            return made
        return made | {"initial_option": option(self.initial, self.options[self.initial][0])}

    def sent(self, element: Mapping[str, Any]) -> Sent | None:
        chosen = element.get("selected_option")
        return None if chosen is None else _value_of(chosen)

    def value(self, sent: Sent) -> JsonValue:
        if not isinstance(sent, str) or sent not in self.options:
            raise ValueError(_NO_CHOICE)
        return self.options[sent][1]


@dataclass(frozen=True, slots=True)
class SomeOf:
    #: Words and values, by what Slack sends.
    options: Mapping[str, tuple[str, JsonValue]]
    initial: frozenset[str]

    def element(self) -> Block:
        made = _select("multi_static_select", self.options)
        chosen = [
            option(sent, self.options[sent][0]) for sent in self.options if sent in self.initial
        ]
        return made | ({"initial_options": chosen} if chosen else {})

    def sent(self, element: Mapping[str, Any]) -> Sent | None:
        chosen = element.get("selected_options") or []
        if not isinstance(chosen, list):
            raise ValueError(_NO_CHOICE)
        return frozenset(map(_value_of, chosen))

    def value(self, sent: Sent) -> JsonValue:
        if not isinstance(sent, frozenset) or not sent <= set(self.options):
            raise ValueError(_NO_CHOICE)
        return [value for one, (_, value) in self.options.items() if one in sent]


@dataclass(frozen=True, slots=True)
class Day:
    initial: str | None

    def element(self) -> Block:
        made: Block = {"type": "datepicker", "action_id": INPUT_ACTION}
        return made | ({"initial_date": self.initial} if self.initial else {})

    def sent(self, element: Mapping[str, Any]) -> Sent | None:
        chosen = element.get("selected_date")
        if chosen is not None and (not isinstance(chosen, str) or not _is_day(chosen)):
            raise ValueError(_NO_DAY)
        return chosen

    def value(self, sent: Sent) -> JsonValue:
        return str(sent)


@dataclass(frozen=True, slots=True)
class Moment:
    initial: int | None

    def element(self) -> Block:
        made: Block = {"type": "datetimepicker", "action_id": INPUT_ACTION}
        return made | ({} if self.initial is None else {"initial_date_time": self.initial})

    def sent(self, element: Mapping[str, Any]) -> Sent | None:
        chosen = element.get("selected_date_time")
        if chosen is not None and (type(chosen) is not int or chosen not in _MOMENTS):
            raise ValueError(_NO_MOMENT)
        return chosen

    def value(self, sent: Sent) -> JsonValue:
        if not isinstance(sent, int):
            raise ValueError(_NO_MOMENT)
        return datetime.fromtimestamp(sent, UTC).isoformat().replace("+00:00", "Z")


def option(sent: str, words: str) -> Block:
    """One of what may be chosen."""
    return {"text": plain(words, _OPTION_TEXT), "value": sent}


def _one_of(options: Mapping[str, tuple[str, JsonValue]] | None, value: JsonValue) -> Picker | None:
    if options is None:
        return None
    return OneOf(
        options, next((sent for sent, (_, one) in options.items() if _same(one, value)), None)
    )


def _some_of(
    options: Mapping[str, tuple[str, JsonValue]] | None, value: JsonValue
) -> Picker | None:
    """None also for a list that holds something else, or one thing twice: it could not be shown."""
    if options is None or not isinstance(value, list | None):
        return None
    chosen = [
        next((sent for sent, (_, known) in options.items() if _same(known, one)), None)
        for one in value or ()
    ]
    known = frozenset(sent for sent in chosen if sent is not None)
    return SomeOf(options, known) if len(known) == len(chosen) else None


def _day(value: JsonValue) -> Picker | None:
    if value is None:
        return Day(None)
    return Day(value) if isinstance(value, str) and _is_day(value) else None


def _moment(value: JsonValue) -> Picker | None:
    """None for what names no moment, such as a time of no zone."""
    if value is None:
        return Moment(None)
    if (at := read_moment(value)) is None or (seconds := int(at.timestamp())) not in _MOMENTS:
        return None
    return Moment(seconds)


def _is_day(text: str) -> bool:
    try:
        return _DAY.fullmatch(text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _options(choices: tuple[JsonValue, ...]) -> dict[str, tuple[str, JsonValue]] | None:
    if not 0 < len(choices) <= _OPTIONS_LIMIT:
        return None
    whole = [show(show_value(choice, {"enum": choices})).text for choice in choices]
    alike = Counter(shorten(text, _OPTION_TEXT) for text in whole)
    options: dict[str, tuple[str, JsonValue]] = {}
    for index, (choice, text) in enumerate(zip(choices, whole, strict=True)):
        words = shorten(text, _OPTION_TEXT)
        if alike[words] > 1:
            words = shorten(f"{index + 1}. {text}", _OPTION_TEXT)
        options[_sent(choice, index, options)] = (words, choice)
    return options


def _sent(choice: JsonValue, index: int, taken: Collection[str]) -> str:
    """What Slack sends for a choice: its own text where that is possible, and no other's."""
    text = choice if isinstance(choice, str) else dump_text(choice)
    is_own = 0 < measure(text) <= _OPTION_VALUE and text not in taken and not text.startswith("#")
    return text if is_own else f"#{index}"


def _select(kind: str, options: Mapping[str, tuple[str, JsonValue]]) -> Block:
    return {
        "type": kind,
        "action_id": INPUT_ACTION,
        "options": [option(sent, words) for sent, (words, _) in options.items()],
    }


def _value_of(chosen: object) -> str:
    value = chosen.get("value") if isinstance(chosen, Mapping) else None
    if not isinstance(value, str):
        raise ValueError(_NO_CHOICE)
    return value


def _same(one: JsonValue, other: JsonValue) -> bool:
    """Equal and of one kind: ``True`` is not ``1``."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)
