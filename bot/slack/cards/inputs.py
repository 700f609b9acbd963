"""The inputs of the Steer modal: what stands in them, and what a person made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

from agent.rules.calls import Call
from agent.rules.json_text import dump_text
from agent.rules.secret_texts import MASK
from agent.rules.secrets import hide_secrets
from agent.rules.typed_values import read_value
from agent.rules.values import Field, describe_fields
from bot.slack.cards.blocks import Block, apart, plain
from bot.slack.cards.hidden import hidden_in
from bot.slack.cards.masking import mask
from bot.slack.cards.pickers import Picker, picker_of
from bot.slack.cards.text import beginning, measure, one_line, shorten, show
from bot.slack.ids import ARGUMENT_BLOCK, INPUT_ACTION

#: A modal has room for a hundred blocks; some are not inputs.
INPUTS_LIMIT = 90
#: Slack takes no more of what is typed.
TEXT_LIMIT = 3000
_NAME_LIMIT = 200
#: Of what is too long to be edited here.
_EXCERPT = 2_000
#: Of all that is filled in before; a whole view may have 250 KB.
_FILLED_LIMIT = 60_000
#: Where there is no more room for it.
_NO_ROOM = 40
_LOOKED_AT = 10_000
#: Typed as JSON where it can't be picked.
_AS_JSON = ("json", "choices")
_NO_TEXT = "This is not a text. Write it again."
_STILL_MASKED = "This still holds a masked part. Write the whole value, or leave it empty."
_MISSING = "Give a value."
_HIDDEN = "⚠️ It holds characters that can't be seen"
_HIDDEN_NAMED = 5


@dataclass(frozen=True, slots=True)
class Input:
    """One argument, as an input of its own kind."""

    field: Field
    #: What stands there before anybody touches it; None: nothing, and empty means unchanged.
    initial: str | None
    #: How it is picked; None: it is typed.
    picker: Picker | None
    may_be_none: bool
    #: What stands above the input, to be read only: it is masked, or too long to be edited.
    shown: str | None = None
    is_masked: bool = False

    @property
    def block_id(self) -> str:
        return ARGUMENT_BLOCK + self.field.name

    def blocks(self) -> list[Block]:
        """The input, below what it replaces where that can't be edited."""
        title = one_line(self.field.title, 180)
        return [*([apart(title, self.shown)] if self.shown else []), self._input(title)]

    def read(self, element: Mapping[str, Any]) -> tuple[JsonValue] | None:
        """The new value, alone in a tuple; None when it is unchanged.

        Raises ``ValueError`` with a sentence for the person."""
        if self.picker is not None:
            return self._picked(self.picker, element)
        sent = element.get("value")
        # A text by Slack's word; a number is taken as its digits, anything else as wrong.
        if sent is not None and (isinstance(sent, bool) or not isinstance(sent, str | int | float)):
            raise ValueError(_NO_TEXT)
        typed = _normal("" if sent is None else str(sent))
        if typed == _normal(self.initial or ""):
            return None
        if not typed:
            return (self._emptied(),)
        is_text = self.field.kind in ("text", "long_text", "choice")
        value = read_value(typed if is_text else typed.strip(), self.field)
        # Looked for in the value: JSON has other ways to write it.
        if self.is_masked and MASK[0] in dump_text(value):
            raise ValueError(_STILL_MASKED)
        return (value,)

    def _picked(self, picker: Picker, element: Mapping[str, Any]) -> tuple[JsonValue] | None:
        sent = picker.sent(element)
        if sent == picker.initial:
            return None
        return (self._emptied() if sent is None else picker.value(sent),)

    def _emptied(self) -> JsonValue:
        if self.may_be_none:
            return None
        if self.field.kind in ("text", "long_text"):
            return ""
        raise ValueError(_MISSING)

    def _input(self, title: str) -> Block:
        has_initial = self.picker.initial is not None if self.picker else bool(self.initial)
        made: Block = {
            "type": "input",
            "block_id": self.block_id,
            "label": plain(f"{title}: another value" if self.shown else title, 200),
            "element": self.picker.element() if self.picker else self._text(),
            "optional": not self.field.is_required or not has_initial,
        }
        hint = self._hint()
        return made | ({"hint": plain(hint, 500)} if hint else {})

    def _text(self) -> Block:
        element: Block = {
            "type": "plain_text_input",
            "action_id": INPUT_ACTION,
            "multiline": self.field.kind in ("long_text", *_AS_JSON),
            "max_length": TEXT_LIMIT,
        }
        return element | ({"initial_value": self.initial} if self.initial else {})

    def _hint(self) -> str:
        if self.shown is None:
            own = one_line(self.field.hint, 400) if self.field.hint.strip() else ""
            return " ".join(filter(None, (own, _what_is_hidden(self.initial or ""))))
        if self.is_masked:
            return "Leave this empty to keep the real value, which is masked above."
        return "Too long to be edited here; leave this empty to keep it as it is."


def inputs_of(call: Call, args: Mapping[str, JsonValue]) -> tuple[Input, ...]:
    """An input for each argument that can be changed here."""
    room, blocks = _FILLED_LIMIT, INPUTS_LIMIT
    inputs: list[Input] = []
    for field in describe_fields(call.parameters):
        if len(field.name) > _NAME_LIMIT:
            continue
        value = args.get(field.name)
        hidden = _hidden(value, field, call)
        may_be_none = _may_be_none(call.parameters, field)
        # A list to pick from would show what may not be read.
        is_secret = any(_hidden(one, field, call) != one for one in (value, *field.choices))
        picker = None if is_secret else picker_of(field, value)
        made = (
            Input(field, None, picker, may_be_none)
            if picker
            else _typed(field, value, hidden, may_be_none, room)
        )
        blocks -= 2 if made.shown else 1
        if blocks < 0:
            break
        room -= len(json.dumps([made.initial, made.shown]))
        inputs.append(made)
    return tuple(inputs)


def _hidden(value: JsonValue, field: Field, call: Call) -> JsonValue:
    """The value with masks in place of secrets."""
    return hide_secrets({field.name: value}, call.parameters)[field.name]


def _typed(
    field: Field, value: JsonValue, hidden: JsonValue, may_be_none: bool, room: int
) -> Input:
    text, masked = _editable(value, field), mask(_editable(hidden, field))
    if masked == text and measure(text) <= TEXT_LIMIT and len(json.dumps(text)) <= room:
        return Input(field, text, None, may_be_none)
    excerpt = shorten(show(beginning(masked, _LOOKED_AT)).text, _EXCERPT if room > 0 else _NO_ROOM)
    is_masked = hidden != value or masked != text
    return Input(field, None, None, may_be_none, shown=excerpt, is_masked=is_masked)


def _editable(value: JsonValue, field: Field) -> str:
    """The value the way a person edits it: 180, 180.50."""
    if value is None:
        return ""
    if isinstance(value, str) and field.kind not in _AS_JSON:
        return value
    if (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and field.kind not in _AS_JSON
    ):
        return _number(Decimal(str(value)), is_money=field.kind == "money")
    return dump_text(value)


def _number(number: Decimal, *, is_money: bool) -> str:
    if number == number.to_integral_value():
        return f"{number.to_integral_value():f}"
    plain_digits = f"{number.normalize():f}"
    return f"{number:.2f}" if is_money and len(plain_digits.split(".")[1]) < 2 else plain_digits


def _what_is_hidden(text: str) -> str:
    """What stands in an input has to be as it is; that it holds what nobody sees is said below it."""
    found = hidden_in(text)
    more = " …" if len(found) > _HIDDEN_NAMED else ""
    return f"{_HIDDEN}: {' '.join(found[:_HIDDEN_NAMED])}{more}" if found else ""


def _may_be_none(parameters: Mapping[str, Any], field: Field) -> bool:
    declared = parameters.get("properties", {}).get(field.name)
    branches = declared.get("anyOf", ()) if isinstance(declared, Mapping) else ()
    return any(isinstance(one, Mapping) and one.get("type") == "null" for one in branches)


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
