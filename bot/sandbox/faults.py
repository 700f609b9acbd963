"""Faults on demand: what a coming Web API call suffers instead of, or beside, its answer."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from bot.sandbox.wire import Json, Refusal

EFFECTS = ("error", "status", "ratelimited", "latency", "drop_after_commit")
#: A call already on its way when another was refused broke no rule.
ON_ITS_WAY = 0.25


@dataclass
class Fault:
    """One effect on the next `times` calls of `method` (`*`: any) whose arguments say `contains`."""

    effect: str
    value: Any
    method: str = "*"
    contains: str = ""
    retry_after: int = 1
    times: int = 1

    @staticmethod
    def parse(body: Json) -> Fault:
        known = {*EFFECTS, "method", "contains", "retry_after", "times"}
        if unknown := sorted(set(body) - known):
            raise Refusal(f"Unknown: {', '.join(unknown)}. Known: {', '.join(sorted(known))}.", 400)
        chosen = [effect for effect in EFFECTS if body.get(effect)]
        if len(chosen) != 1:
            raise Refusal(f"Give exactly one of {', '.join(EFFECTS)}.", 400)
        fault = Fault(chosen[0], body[chosen[0]])
        fault.method = str(body.get("method", "*"))
        fault.contains = str(body.get("contains", ""))
        try:
            fault.retry_after = int(body.get("retry_after", 1))
            fault.times = int(body.get("times", 1))
            fault.value = _typed(fault.effect, fault.value)
        except (TypeError, ValueError):
            raise Refusal("A number was expected for one of the values.", 400) from None
        return fault

    def matches(self, method: str, arguments: Json) -> bool:
        if self.times < 1 or self.method not in ("*", method):
            return False
        return self.contains in json.dumps(arguments, ensure_ascii=False)

    def as_json(self) -> Json:
        shown = {"method": self.method, self.effect: self.value, "times": self.times}
        if self.effect == "ratelimited":
            shown["retry_after"] = self.retry_after
        if self.contains:
            shown["contains"] = self.contains
        return shown


def _typed(effect: str, value: Any) -> Any:
    if effect == "status":
        return int(value)
    if effect == "latency":
        return float(value)
    return value


@dataclass
class Faults:
    waiting: list[Fault] = field(default_factory=list)
    _refused_at: dict[str, tuple[float, float]] = field(default_factory=dict)

    def take(self, method: str, arguments: Json) -> dict[str, Fault]:
        """The faults that this call suffers, at most one of each effect; each is used once."""
        suffered: dict[str, Fault] = {}
        for fault in self.waiting:
            if fault.effect not in suffered and fault.matches(method, arguments):
                fault.times -= 1
                suffered[fault.effect] = fault
        self.waiting = [fault for fault in self.waiting if fault.times > 0]
        return suffered

    def refused(self, method: str, now: float, retry_after: float) -> None:
        """This method answered 429: it answers so again until the time is over."""
        self._refused_at[method] = (now, now + retry_after)

    def still_refused(self, method: str, now: float) -> tuple[float, bool] | None:
        """Seconds left of a 429, and whether the caller could have known of it."""
        since, until = self._refused_at.get(method, (0.0, 0.0))
        if now >= until:
            return None
        return until - now, now - since > ON_ITS_WAY

    def clear(self) -> None:
        self.waiting.clear()
        self._refused_at.clear()
