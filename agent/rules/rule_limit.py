"""The ``limit`` of a rule, as it is written: what is added up, over what, and how far."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, field_validator, model_validator

from agent.errors import ConfigError
from agent.rules.conditions import Condition
from agent.rules.limit_windows import Window
from agent.rules.wrong_key import wrong_key
from agent.rules.zones import zone_named

#: By whom or where it is added up, and the windows.
Per = Literal["user", "agent", "channel", "session", "tool", "run", "hour", "day", "week", "month"]
WINDOWS: tuple[Window, ...] = ("hour", "day", "week", "month")

EACH: dict[Per, str] = {
    "user": "for each person",
    "agent": "for each agent",
    "channel": "in each channel",
    "session": "in each conversation",
    "tool": "for each tool",
    "run": "in each run",
    "hour": "an hour",
    "day": "a day",
    "week": "a week",
    "month": "a month",
}

#: One argument, or a part of one: read as it is, so that no digit of an amount is lost.
_PATH = re.compile(r"args(?:\.[A-Za-z_]\w*)+")

_Most = Annotated[Decimal, Field(gt=0, max_digits=38, decimal_places=18, allow_inf_nan=False)]


class RuleLimit(BaseModel):
    """How much the calls of a rule may come to."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    #: What each call adds: an expression over its arguments. Or each call counts as one.
    sum: str | None = None
    count: StrictBool | None = None
    #: By whom, or where, it is added up, each by themselves; and in which window. Nothing: all together, for good.
    per: tuple[Per, ...] = ()
    max: _Most
    zone: str = "UTC"
    when_over: Literal["ask", "deny"] = "ask"

    @field_validator("sum")
    @classmethod
    def _is_of_arguments(cls, source: str | None) -> str | None:
        if source is None:
            return None
        try:
            condition = Condition(source)
        except ConfigError as error:
            raise ValueError(str(error)) from error
        if condition.names != {"args"}:
            raise ValueError("it adds up something of the call's arguments, such as args.amount")
        return source

    @field_validator("count")
    @classmethod
    def _is_said_or_left_out(cls, count: bool | None) -> bool | None:
        if count is False:
            raise ValueError("write true where calls are counted, or leave it out")
        return count

    @field_validator("zone")
    @classmethod
    def _is_known(cls, zone: str) -> str:
        zone_named(zone)
        return zone

    @model_validator(mode="after")
    def _can_be_kept(self) -> RuleLimit:
        if self.sum is None and self.count is None:
            raise ValueError("say what is added up: sum, such as args.amount, or count: true")
        if self.sum is not None and self.count is not None:
            raise wrong_key("count", "there is a sum already; a limit adds up one or the other")
        if twice := [one for one in self.per if self.per.count(one) > 1]:
            raise wrong_key("per", f"{twice[0]} stands there twice")
        windows = [one for one in self.per if one in WINDOWS]
        if len(windows) > 1:
            raise wrong_key("per", f"{' and '.join(windows)} are two windows; a limit has one")
        if "zone" in self.model_fields_set and not windows:
            raise wrong_key(
                "zone", f"without {', '.join(WINDOWS)} in per no clock matters; take it out"
            )
        if self.count and self.max != self.max.to_integral_value():
            raise wrong_key("max", "calls are counted by whole numbers")
        return self

    @property
    def window(self) -> Window | None:
        return next((one for one in WINDOWS if one in self.per), None)

    @property
    def by(self) -> frozenset[str]:
        """What it is added up by, besides the window."""
        return frozenset(self.per).difference(WINDOWS)

    @cached_property
    def expression(self) -> Condition | None:
        return None if self.sum is None else Condition(self.sum)

    @property
    def arguments(self) -> frozenset[str]:
        """Those that it adds up."""
        return frozenset() if self.expression is None else self.expression.arguments

    @property
    def path(self) -> tuple[str, ...]:
        """Where the amount stands among the arguments; empty where it has to be worked out."""
        source = (self.sum or "").strip()
        return tuple(source.split(".")[1:]) if _PATH.fullmatch(source) else ()

    @property
    def each(self) -> str:
        """For whom, where and how long, in words: "for each person a day"; empty where it is all together."""
        return " ".join(words for one, words in EACH.items() if one in self.per)

    @property
    def in_words(self) -> str:
        what = "calls" if self.sum is None else f"of {self.sum}"
        where = f" {self.each}" if self.per else " in all"
        zone = f" ({self.zone})" if self.window else ""
        over = "asked about" if self.when_over == "ask" else "refused"
        return f"at most {format(self.max, ',f')} {what}{where}{zone}, more is {over}"
