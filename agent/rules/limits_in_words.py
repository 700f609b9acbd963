"""A limit, for people: how much of it is used and left, and why a call is too much. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from agent.rules.exact import plus
from agent.rules.parts import LimitUse
from agent.rules.rule_limit import EACH
from agent.rules.values import show_value
from agent.rules.zones import zone_named

_WINDOWS: Final = {"hour": "this hour", "day": "today", "week": "this week", "month": "this month"}
_BY: Final = {
    "agent": "by this agent",
    "channel": "in this channel",
    "session": "in this conversation",
    "tool": "by this tool",
    "run": "in this run",
}
_NOTHING = Decimal(0)


def limit_in_words(use: LimitUse, who: str) -> str:
    """ "$320.00 of $500.00 used by Alice today · $180.00 left · resets Tue 00:00 Europe/Berlin". ``who`` names
    whoever asked for the run."""
    left = max(plus(use.max, -use.used), _NOTHING)
    used = f"{_bare(use, use.used)} of {_amount(use, use.max)} used{_by(use.per, who)}"
    return " · ".join((used, f"{_bare(use, left)} left", *_resets(use)))


def over_in_words(use: LimitUse) -> str:
    """ "$180.00 more would make $560.00 of $500.00, the limit for each person a day"."""
    more = _amount(use, use.amount)
    total = _bare(use, plus(use.used, use.amount))
    each = " ".join(words for one, words in EACH.items() if one in use.per) or "in all"
    return f"{more} more would make {total} of {_amount(use, use.max)}, the limit {each}"


def _by(per: Sequence[str], who: str) -> str:
    words = [f"by {who}"] if "user" in per else []
    words += [_BY[one] for one in _BY if one in per]
    words += [_WINDOWS[one] for one in _WINDOWS if one in per]
    return "".join(f" {one}" for one in words)


def _resets(use: LimitUse) -> list[str]:
    if use.until is None:
        return []
    local = use.until.astimezone(zone_named(use.zone))
    day = f"{local:%a} {local.day} {local:%b}" if "month" in use.per else f"{local:%a}"
    at = f"{local:%H:%M}" if "hour" in use.per else f"{day} {local:%H:%M}"
    return [f"resets {at} {use.zone}"]


def _amount(use: LimitUse, amount: Decimal) -> str:
    """With what it is an amount of."""
    if use.what is None:
        return f"{_bare(use, amount)} {'call' if amount == 1 else 'calls'}"
    return _bare(use, amount) if use.currency else f"{_bare(use, amount)} ({use.what})"


def _bare(use: LimitUse, amount: Decimal) -> str:
    if use.currency is not None:
        money = {"format": "money", "x-currency": use.currency}
        return show_value(format(amount, "f"), money)
    whole, point, places = format(amount, ",f").partition(".")
    return f"{whole}{point}{places.rstrip('0')}".rstrip(".") if point else whole
