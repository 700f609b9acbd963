"""The inputs of the Steer modal: what stands in them, and what a person made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

from agent.rules.json_text import dump_text
from agent.rules.state import Call
from agent.rules.values import Field, describe_fields, read_value, show_value
from bot.slack.cards.blocks import Block, plain
from bot.slack.cards.masking import MASK, is_secret_name, mask
from bot.slack.cards.text import measure, one_line, shorten, show
from bot.slack.ids import ARGUMENT_BLOCK, INPUT_ACTION

#: A modal has room for a hundred blocks; some are not inputs.
INPUTS_LIMIT = 90
#: Slack takes no more of what is typed.
TEXT_LIMIT = 3000
_NAME_LIMIT = 200
_OPTIONS_LIMIT = 100
_OPTION_TEXT = 75
_OPTION_VALUE = 150
#: Of all that is filled in before; a whole view may have 250 KB.
_FILLED_LIMIT = 60_000
_NO_TEXT = "This is not a text. Write it again."
_STILL_MASKED = "This still holds a masked part. Write the whole value, or leave it as it was."
_MISSING = "Give a value."


@dataclass(frozen=True, slots=True)
class Input:
    """One argument, as an input of its own kind."""

    field: Field
    #: What stands there before anybody touches it; None: nothing, and empty means unchanged.
    initial: str | None
    #: What may be chosen: words and values, by what Slack sends. None: it is typed.
    options: Mapping[str, tuple[str, JsonValue]] | None
    may_be_none: bool
    is_masked: bool

    @property
    def block_id(self) -> str:
        return ARGUMENT_BLOCK + self.field.name

    def block(self) -> Block:
        made: Block = {
            "type": "input",
            "block_id": self.block_id,
            "label": plain(one_line(self.field.title, 200), 200),
            "element": self._select() if self.options else self._text(),
            "optional": not self.field.is_required or not self.initial,
        }
        hint = self._hint()
        return made | ({"hint": plain(hint, 500)} if hint else {})

    def read(self, element: Mapping[str, Any]) -> tuple[JsonValue] | None:
        """The new value, alone in a tuple; None when it is unchanged.

        Raises ``ValueError`` with a sentence for the person."""
        if self.options is not None:
            return self._chosen((element.get("selected_option") or {}).get("value"))
        sent = element.get("value")
        # A text by Slack's word; a number is taken as its digits, anything else as wrong.
        if sent is not None and (isinstance(sent, bool) or not isinstance(sent, str | int | float)):
            raise ValueError(_NO_TEXT)
        typed = _normal("" if sent is None else str(sent))
        if typed == _normal(self.initial or ""):
            return None
        if self.is_masked and MASK in typed:
            raise ValueError(_STILL_MASKED)
        if typed:
            is_text = self.field.kind in ("text", "long_text", "choice")
            return (read_value(typed if is_text else typed.strip(), self.field),)
        return (self._emptied(),)

    def _chosen(self, sent: str | None) -> tuple[JsonValue] | None:
        if sent == self.initial or self.options is None:
            return None
        if sent is None:
            return (self._emptied(),)
        if sent not in self.options:
            raise ValueError("This is not one of the choices.")
        return (self.options[sent][1],)

    def _emptied(self) -> JsonValue:
        if self.may_be_none:
            return None
        if self.field.kind in ("text", "long_text"):
            return ""
        raise ValueError(_MISSING)

    def _text(self) -> Block:
        element: Block = {
            "type": "plain_text_input",
            "action_id": INPUT_ACTION,
            "multiline": self.field.kind in ("long_text", "json"),
            "max_length": TEXT_LIMIT,
        }
        return element | ({"initial_value": self.initial} if self.initial else {})

    def _select(self) -> Block:
        options = {sent: option(sent, words) for sent, (words, _) in (self.options or {}).items()}
        element: Block = {
            "type": "static_select",
            "action_id": INPUT_ACTION,
            "options": list(options.values()),
        }
        chosen = options.get(self.initial) if self.initial else None
        return element | ({"initial_option": chosen} if chosen else {})

    def _hint(self) -> str:
        hint = one_line(self.field.hint, 400) if self.field.hint.strip() else ""
        if self.is_masked:
            return "Leave it as it is to keep the real value, which is masked here."
        if self.initial is None and self.options is None:
            return "Too long to be edited here; leave it empty to keep it as it is."
        return hint


def inputs_of(call: Call, args: Mapping[str, JsonValue]) -> tuple[Input, ...]:
    """An input for each argument that can be edited here."""
    room = _FILLED_LIMIT
    inputs: list[Input] = []
    for field in describe_fields(call.parameters):
        if len(field.name) > _NAME_LIMIT or len(inputs) == INPUTS_LIMIT:
            continue
        made = _input(field, args.get(field.name), _may_be_none(call.parameters, field), room)
        room -= len(json.dumps(made.initial or ""))
        inputs.append(made)
    return tuple(inputs)


def _input(field: Field, value: JsonValue, may_be_none: bool, room: int) -> Input:
    options = _options(field)
    if options is not None:
        chosen = next((sent for sent, (_, one) in options.items() if _same(one, value)), None)
        return Input(field, chosen, options, may_be_none, is_masked=False)
    text = _editable(value, field)
    masked = MASK if is_secret_name(field.name) and text else mask(text)
    fits = measure(masked) <= TEXT_LIMIT and len(json.dumps(masked)) <= room
    return Input(field, masked if fits else None, None, may_be_none, is_masked=masked != text)


def _options(field: Field) -> dict[str, tuple[str, JsonValue]] | None:
    if field.kind == "boolean":
        return {"true": ("Yes", True), "false": ("No", False)}
    if field.kind != "choice" or not 0 < len(field.choices) <= _OPTIONS_LIMIT:
        return None
    return {
        _sent(choice, index): (shorten(show(show_value(choice)).text, _OPTION_TEXT), choice)
        for index, choice in enumerate(field.choices)
    }


def _sent(choice: JsonValue, index: int) -> str:
    """What Slack sends for a choice: its own text where that is possible."""
    text = choice if isinstance(choice, str) else dump_text(choice)
    return text if 0 < measure(text) <= _OPTION_VALUE else f"#{index}"


def option(sent: str, words: str) -> Block:
    """One of what may be chosen."""
    return {"text": plain(words, _OPTION_TEXT), "value": sent}


def _same(one: JsonValue, other: JsonValue) -> bool:
    """Equal and of one kind: ``True`` is not ``1``."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _editable(value: JsonValue, field: Field) -> str:
    """The value the way a person edits it: 180, 180.50."""
    if value is None:
        return ""
    if isinstance(value, str) and field.kind != "json":
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and field.kind != "json":
        return _number(Decimal(str(value)), is_money=field.kind == "money")
    return dump_text(value)


def _number(number: Decimal, *, is_money: bool) -> str:
    if number == number.to_integral_value():
        return f"{number.to_integral_value():f}"
    plain_digits = f"{number.normalize():f}"
    return f"{number:.2f}" if is_money and len(plain_digits.split(".")[1]) < 2 else plain_digits


def _may_be_none(parameters: Mapping[str, Any], field: Field) -> bool:
    declared = parameters.get("properties", {}).get(field.name, {})
    return any(branch.get("type") == "null" for branch in declared.get("anyOf", ()))


def _normal(text: str) -> str:
    """Slack's clients may change the ends of lines, and trim."""
    return text.replace("\r\n", "\n").strip()


def written(block_id: str, label: str, *, is_optional: bool) -> Block:
    """An input for whole sentences."""
    return {
        "type": "input",
        "block_id": block_id,
        "label": plain(label),
        "element": {
            "type": "plain_text_input",
            "action_id": INPUT_ACTION,
            "multiline": True,
            "max_length": TEXT_LIMIT,
        },
        "optional": is_optional,
    }
