"""How an argument reads to a person: one place for cards, reasons and modals.

An argument says what it is by its JSON schema: ``format: money`` with ``x-currency``,
``format: date``, ``date-time``; everything else is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation, localcontext
from typing import Any, Literal

from babel.numbers import format_currency, get_currency_precision
from pydantic import JsonValue

from agent.rules.ambiguity import NULLABLE, may_only_be_list, reads_as_other
from agent.rules.json_text import depth_of, dump_lines, dump_text
from agent.rules.references import target_of
from agent.rules.secrets import hide_secrets

#: An amount with more digits than this is written without separators.
MONEY_DIGITS = 100

FieldKind = Literal[
    "text",
    "long_text",
    "money",
    "number",
    "integer",
    "boolean",
    "date",
    "datetime",
    "choice",
    "choices",
    "json",
]


@dataclass(frozen=True, slots=True)
class Field:
    """One argument of a call, as a card or a modal needs it."""

    name: str
    title: str
    hint: str
    kind: FieldKind
    is_required: bool
    #: The allowed values, for a choice, and for a list of choices.
    choices: tuple[JsonValue, ...] = ()


def describe_fields(schema: Mapping[str, Any]) -> Iterator[Field]:
    """The arguments that a tool's JSON schema declares, in its order."""
    required = schema.get("required", ())
    for name, said in schema.get("properties", {}).items():
        declared = said if isinstance(said, Mapping) else {}
        inner = _resolve(declared, schema)
        items = _resolve(inner.get("items"), schema) if _is_list(inner) else {}
        yield Field(
            name=name,
            title=str(declared.get("title") or name.replace("_", " ").capitalize()),
            hint=str(declared.get("description") or ""),
            kind="choices" if items.get("enum") else _kind(inner),
            is_required=name in required,
            choices=tuple(inner.get("enum") or items.get("enum") or ()),
        )


def declared_of(name: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a tool's JSON schema says of this argument; nothing where it has none of that name."""
    properties = schema.get("properties")
    return _resolve(properties.get(name), schema) if isinstance(properties, Mapping) else {}


def show_value(value: JsonValue, declared: Mapping[str, Any] | None = None) -> str:
    """The value in words: ``$180.00``, ``yes``, text as it is, JSON for what has parts. A text that reads like
    another value which ``declared`` allows as well stands in quotes: ``"yes"``."""
    is_clear = declared is None or not isinstance(value, str) or not reads_as_other(value, declared)
    declared = declared or {}
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if declared.get("format") == "money" and (money := _as_decimal(value)) is not None:
        return _show_money(money, str(declared.get("x-currency", "USD")).upper())
    if isinstance(value, str):
        return value if is_clear else dump_text(value)
    return dump_text(value)


def show_args(args: Mapping[str, JsonValue], schema: Mapping[str, Any]) -> dict[str, str]:
    """Every argument in words, by name; secrets masked, wherever that is read."""
    properties = schema.get("properties", {})
    declared = {name: _resolve(properties.get(name, {}), schema) for name in args}
    return {
        name: show_value(_with_amounts(value, declared[name], schema), declared[name])
        for name, value in hide_secrets(args, schema).items()
    }


def lay_out(args: Mapping[str, JsonValue], schema: Mapping[str, Any]) -> dict[str, str]:
    """The same where there is room for lines: lists as their items, parts indented, a day in words."""
    properties = schema.get("properties", {})
    return {
        name: _laid_out(value, _resolve(properties.get(name, {}), schema), schema)
        for name, value in args.items()
    }


def read_moment(value: JsonValue) -> datetime | None:
    """The moment that a text names as RFC 3339 has it; None for what names none, such as a time of no zone."""
    if not isinstance(value, str) or not _MOMENT.fullmatch(value):
        return None
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return None


_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?"
    r"([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
#: A list that is no longer stands on one line.
_LINE = 120
_EMPTY = "empty list"
#: What is nested deeper would be mostly blanks.
_INDENTED = 8
#: No schema of a tool goes deeper, unless it goes in circles.
_WORDED = 50


def _laid_out(value: JsonValue, declared: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    worded = _with_amounts(value, declared, schema)
    if isinstance(value, list) and isinstance(worded, list):
        items = _resolve(declared.get("items") or {}, schema)
        is_clear = (
            may_only_be_list(declared)
            and value != [_EMPTY]
            and not any(isinstance(item, str) and reads_as_other(item, items) for item in value)
        )
        return _show_list(worded) if is_clear else _show_parts(worded)
    if isinstance(worded, dict):
        return _show_parts(worded)
    if _kind(declared) == "date" and isinstance(value, str):
        return _show_day(value)
    return show_value(value, declared)


def _with_amounts(
    value: JsonValue, declared: Mapping[str, Any], schema: Mapping[str, Any], left: int = _WORDED
) -> JsonValue:
    """The value with each part of it that is money in words; a value that is money itself stays."""
    if not left or not declared:
        return value
    if isinstance(value, dict):
        return {
            name: _amount(part, _part_of(declared, name), schema, left)
            for name, part in value.items()
        }
    if isinstance(value, list):
        return [
            _amount(item, _item_of(declared, place), schema, left)
            for place, item in enumerate(value)
        ]
    return value


def _amount(value: JsonValue, declared: object, schema: Mapping[str, Any], left: int) -> JsonValue:
    """Of a part."""
    resolved = _resolve(declared, schema)
    if isinstance(value, list | dict) or value is None or isinstance(value, bool):
        return _with_amounts(value, resolved, schema, left - 1)
    return show_value(value, resolved) if _kind(resolved) == "money" else value


def _part_of(declared: Mapping[str, Any], name: str) -> object:
    return (declared.get("properties") or {}).get(name, declared.get("additionalProperties"))


def _item_of(declared: Mapping[str, Any], place: int) -> object:
    first = declared.get("prefixItems") or ()
    return first[place] if place < len(first) else declared.get("items")


def _show_list(items: list[JsonValue]) -> str:
    """Its items where nobody can take one for two, or two for one."""
    if not items:
        return _EMPTY
    if any(item is None or isinstance(item, list | dict) for item in items):
        return _show_parts(items)
    shown = [show_value(item) for item in items]
    if any(len(item.splitlines()) != 1 or item != item.strip() for item in shown):
        return _show_parts(items)
    line = ", ".join(shown)
    is_line = len(line) <= _LINE and not any("," in item or item[0] == "•" for item in shown)
    return line if is_line else "\n".join(f"• {item}" for item in shown)


def _show_parts(value: JsonValue) -> str:
    text = dump_text(value)
    return dump_lines(value) if depth_of(text) <= _INDENTED else text


def _show_day(text: str) -> str:
    try:
        day = date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        day = None
    return f"{day:%a} {day.day} {day:%b} {text[:4]}" if day else text


def _resolve(declared: object, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a property itself: behind a reference, or the one real branch of an optional.
    By ``true`` nobody declares anything."""
    if not isinstance(declared, Mapping):
        return {}
    if ref := declared.get("$ref"):
        target = target_of(ref, schema)
        said = target if isinstance(target, Mapping) else {}
        return {**said, **{k: v for k, v in declared.items() if k != "$ref"}}
    branches = [b for b in declared.get("anyOf", ()) if b != {"type": "null"}]
    if len(branches) == 1:
        return {
            **_resolve(branches[0], schema),
            **{k: v for k, v in declared.items() if k != "anyOf"},
            **({NULLABLE: True} if len(declared["anyOf"]) > 1 else {}),
        }
    return declared


#: What names a day or a moment, by its ``format``.
_MOMENTS: Mapping[str, FieldKind] = {"date": "date", "date-time": "datetime"}


def _is_list(declared: Mapping[str, Any]) -> bool:
    """Of things of one kind, and not to be chosen as a whole?"""
    return (
        "enum" not in declared
        and declared.get("type") == "array"
        and isinstance(declared.get("items"), Mapping)
    )


def _kind(declared: Mapping[str, Any]) -> FieldKind:
    if "enum" in declared:
        return "choice"
    if declared.get("format") == "money":
        return "money"
    match declared.get("type"):
        case "string" if (moment := _MOMENTS.get(str(declared.get("format")))) is not None:
            return moment
        case "string":
            longest = declared.get("maxLength")
            is_short = isinstance(longest, int) and 0 < longest <= 200
            return "text" if is_short else "long_text"
        case "integer":
            return "integer"
        case "number":
            return "number"
        case "boolean":
            return "boolean"
        case _:
            return "json"


def _as_decimal(value: JsonValue) -> Decimal | None:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _show_money(money: Decimal, currency: str) -> str:
    """Every digit stands there: a yes to $1.00 must not be a yes to $1.004."""
    _, digits, exponent = money.as_tuple()
    if len(digits) + abs(int(exponent)) > MONEY_DIGITS:
        return f"{currency} {money}"
    with localcontext(prec=2 * MONEY_DIGITS):
        is_exact = money == round(money, get_currency_precision(currency))
        return str(format_currency(money, currency, locale="en_US", decimal_quantization=is_exact))
