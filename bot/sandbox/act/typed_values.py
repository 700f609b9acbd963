"""Values that a person types: what Slack's own client would take, as the app will see them."""

from __future__ import annotations

import re
from datetime import date, time
from decimal import Decimal, InvalidOperation
from typing import Any

from bot.sandbox.act.refused import NotTaken
from bot.sandbox.act.typing import as_blocks
from bot.sandbox.escaping import escape
from bot.sandbox.wire import Json

#: Long known of Slack, and not verified here.
TEXT_LENGTH = 3000


def text(element: Json, given: Any) -> str:
    typed = str(given)
    least = element.get("min_length", 0)
    most = min(element.get("max_length", TEXT_LENGTH), TEXT_LENGTH)
    if len(typed) < least:
        raise NotTaken(f"This must be at least {least} characters long.")
    if len(typed) > most:
        raise NotTaken(f"This must be at most {most} characters long.")
    return typed


def rich_text(element: Json, given: Any) -> Json:
    """A rich text block as it is, or plain words made into one."""
    if isinstance(given, dict):
        return given
    (block,) = as_blocks(escape(str(given)))
    return block


def number(element: Json, given: Any) -> str:
    typed = str(given).strip()
    try:
        value = Decimal(typed)
    except InvalidOperation:
        raise NotTaken("Please enter a number.") from None
    if not value.is_finite():
        raise NotTaken("Please enter a number.")
    if not element.get("is_decimal_allowed") and value != value.to_integral_value():
        raise NotTaken("Please enter a whole number.")
    if "min_value" in element and value < Decimal(element["min_value"]):
        raise NotTaken(f"This must be at least {element['min_value']}.")
    if "max_value" in element and value > Decimal(element["max_value"]):
        raise NotTaken(f"This must be at most {element['max_value']}.")
    return typed


def email(element: Json, given: Any) -> str:
    if not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", str(given)):
        raise NotTaken("Please enter a valid email address.")
    return str(given)


def url(element: Json, given: Any) -> str:
    if not re.match(r"https?://\S+$", str(given)):
        raise NotTaken("Please enter a valid URL.")
    return str(given)


def day(element: Json, given: Any) -> str:
    try:
        return date.fromisoformat(str(given)).isoformat()
    except ValueError:
        raise NotTaken("Please choose a date.") from None


def time_of_day(element: Json, given: Any) -> str:
    try:
        return time.fromisoformat(str(given)).strftime("%H:%M")
    except ValueError:
        raise NotTaken("Please choose a time.") from None


def moment(element: Json, given: Any) -> int:
    """Seconds since 1970, ten digits as Slack has it."""
    try:
        seconds = int(given)
    except (TypeError, ValueError):
        seconds = 0
    if len(str(seconds)) != 10:
        raise NotTaken("Please choose a date and time.")
    return seconds
