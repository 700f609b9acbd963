"""Values that a person fills in: what Slack's own client would take, as the app will see them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, time
from decimal import Decimal, InvalidOperation
from typing import Any

from bot.sandbox.controls import initial_state, inputs_of, value_name
from bot.sandbox.wire import Json, Refusal

TEXT_LENGTH = 3000


class NotTaken(Exception):
    """The client shows this at the field and doesn't submit."""


def fill(blocks: list[Json], given: Mapping[str, Any]) -> tuple[Json, dict[str, str]]:
    """`state.values` with what was filled in, and an error for each field that isn't taken."""
    values = initial_state(blocks)
    inputs = inputs_of(blocks)
    errors: dict[str, str] = {}
    if unknown := sorted(set(given) - set(inputs)):
        known = ", ".join(inputs) or "none"
        raise Refusal(f"No input has the block id {', '.join(unknown)}. There are: {known}.", 400)
    for block_id, block in inputs.items():
        element = block["element"]
        name = value_name(element["type"])
        state = values.setdefault(block_id, {}).setdefault(
            element["action_id"], {"type": element["type"], name: None}
        )
        try:
            if block_id in given:
                state[name] = as_value(element, given[block_id])
            if not block.get("optional") and state[name] in (None, "", []):
                raise NotTaken("Please complete this required field.")
        except NotTaken as error:
            errors[block_id] = str(error)
    return values, errors


def as_value(element: Json, given: Any) -> Any:
    """What Slack would send for that. Raises `NotTaken`."""
    read = _READERS.get(element["type"], _anything)
    if given is None or given == "":
        return None
    return read(element, given)


def _text(element: Json, given: Any) -> str:
    text = str(given)
    least = element.get("min_length", 0)
    most = min(element.get("max_length", TEXT_LENGTH), TEXT_LENGTH)
    if len(text) < least:
        raise NotTaken(f"This must be at least {least} characters long.")
    if len(text) > most:
        raise NotTaken(f"This must be at most {most} characters long.")
    return text


def _number(element: Json, given: Any) -> str:
    text = str(given).strip()
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise NotTaken("Please enter a number.") from None
    if not number.is_finite():
        raise NotTaken("Please enter a number.")
    if not element.get("is_decimal_allowed") and number != number.to_integral_value():
        raise NotTaken("Please enter a whole number.")
    if "min_value" in element and number < Decimal(element["min_value"]):
        raise NotTaken(f"This must be at least {element['min_value']}.")
    if "max_value" in element and number > Decimal(element["max_value"]):
        raise NotTaken(f"This must be at most {element['max_value']}.")
    return text


def _email(element: Json, given: Any) -> str:
    if not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", str(given)):
        raise NotTaken("Please enter a valid email address.")
    return str(given)


def _url(element: Json, given: Any) -> str:
    if not re.match(r"https?://\S+$", str(given)):
        raise NotTaken("Please enter a valid URL.")
    return str(given)


def _date(element: Json, given: Any) -> str:
    try:
        return date.fromisoformat(str(given)).isoformat()
    except ValueError:
        raise NotTaken("Please choose a date.") from None


def _time(element: Json, given: Any) -> str:
    try:
        return time.fromisoformat(str(given)).strftime("%H:%M")
    except ValueError:
        raise NotTaken("Please choose a time.") from None


def _moment(element: Json, given: Any) -> int:
    try:
        return int(given)
    except (TypeError, ValueError):
        raise NotTaken("Please choose a date and time.") from None


def _option(element: Json, given: Any) -> Json:
    options = list(element.get("options", []))
    for group in element.get("option_groups", []):
        options += group["options"]
    for option in options:
        if option["value"] == str(given):
            return dict(option)
    values = ", ".join(option["value"] for option in options)
    raise NotTaken(f"Please choose one of: {values}.")


def _options(element: Json, given: Any) -> list[Json]:
    chosen = given if isinstance(given, list) else [given]
    return [_option(element, one) for one in chosen]


def _id(element: Json, given: Any) -> str:
    return str(given)


def _ids(element: Json, given: Any) -> list[str]:
    return [str(one) for one in (given if isinstance(given, list) else [given])]


def _anything(element: Json, given: Any) -> Any:
    return given


_READERS: dict[str, Callable[[Json, Any], Any]] = {
    "plain_text_input": _text,
    "number_input": _number,
    "email_text_input": _email,
    "url_text_input": _url,
    "datepicker": _date,
    "timepicker": _time,
    "datetimepicker": _moment,
    "static_select": _option,
    "overflow": _option,
    "radio_buttons": _option,
    "checkboxes": _options,
    "multi_static_select": _options,
    "users_select": _id,
    "channels_select": _id,
    "conversations_select": _id,
    "multi_users_select": _ids,
    "multi_channels_select": _ids,
    "multi_conversations_select": _ids,
}
