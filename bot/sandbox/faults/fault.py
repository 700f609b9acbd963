"""One fault that waits for its calls or deliveries, read from the words of who asked for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot.sandbox.wire import Json, Refusal

#: Thirty years, in seconds.
LARGEST = 1_000_000_000


@dataclass
class Fault:
    """One effect on those of the next calls (or deliveries) that it is meant for."""

    effect: str
    value: Any
    #: A Web API method, `response_url`, or the kind of a delivery; `*`: any.
    method: str = "*"
    #: Stands somewhere in the arguments, or in the payload.
    contains: str = ""
    retry_after: int = 1
    #: How often it strikes; None: until it is healed.
    times: int | None = 1
    #: Of the calls that it could strike.
    share: float = 1.0
    #: By the sandbox's clock.
    until: float | None = None
    #: By which it can be taken back, once it waits.
    number: int = 0

    @staticmethod
    def parse(body: Json, now: float) -> Fault:
        """Raises `Refusal`, which says what is known."""
        if unknown := sorted(set(body) - set(_READERS)):
            raise Refusal(f"Unknown: {', '.join(unknown)}. Known: {', '.join(_READERS)}.", 400)
        chosen = [effect for effect in EFFECTS if effect in body]
        if len(chosen) != 1:
            raise Refusal(f"Give exactly one of {', '.join(EFFECTS)}.", 400)
        values = {name: _READERS[name](name, given) for name, given in body.items()}
        if "for_seconds" in values:
            values["until"] = now + values.pop("for_seconds")
        if "until" in values or "share" in values:
            values.setdefault("times", None)
        (effect,) = chosen
        return Fault(effect, values.pop(effect), **values)

    def is_for(self, method: str, said: Json, now: float) -> bool:
        if self.is_over(now) or self.method not in ("*", method):
            return False
        return not self.contains or self.contains in json.dumps(said, ensure_ascii=False)

    def is_over(self, now: float) -> bool:
        return self.times == 0 or (self.until is not None and now >= self.until)

    def as_json(self) -> Json:
        shown: Json = {
            "number": self.number,
            "method": self.method,
            self.effect: self.value,
            "times": self.times,
        }
        if self.effect == "ratelimited":
            shown["retry_after"] = self.retry_after
        if self.contains:
            shown["contains"] = self.contains
        if self.share < 1:
            shown["share"] = self.share
        if self.until is not None:
            shown["until"] = self.until
        return shown


def words(name: str, given: Any) -> str:
    if not isinstance(given, str) or not given:
        raise Refusal(f"`{name}` is a text.", 400)
    return given


def yes(name: str, given: Any) -> bool:
    if given is not True:
        raise Refusal(f"`{name}` is true, or left out.", 400)
    return True


def seconds(name: str, given: Any) -> float:
    if not is_number(given) or given < 0:
        raise Refusal(f"`{name}` is a number of seconds.", 400)
    return float(given)


def _status(name: str, given: Any) -> int:
    if not is_number(given) or given not in range(300, 600):
        raise Refusal(f"`{name}` is an HTTP status from 300 to 599.", 400)
    return int(given)


def _count(name: str, given: Any) -> int:
    if not is_number(given) or given != int(given) or given < 1:
        raise Refusal(f"`{name}` is a whole number from 1.", 400)
    return int(given)


def _share(name: str, given: Any) -> float:
    if not is_number(given) or not 0 < given <= 1:
        raise Refusal(f"`{name}` is a number above 0, at most 1.", 400)
    return float(given)


def is_number(given: Any) -> bool:
    """Neither infinite nor so large that a time could not bear it."""
    is_one = isinstance(given, int | float) and not isinstance(given, bool)
    return is_one and -LARGEST <= given <= LARGEST


_Readers = dict[str, Callable[[str, Any], Any]]

#: What a call of the Web API, or of a response URL, may suffer.
CALL_EFFECTS: _Readers = {
    "error": words,
    "status": _status,
    "ratelimited": yes,
    "latency": seconds,
    "drop_after_commit": yes,
}
#: What may happen to an event or an interaction on its way to the app.
DELIVERY_EFFECTS: _Readers = {
    "duplicate": yes,
    "delay": seconds,
    "lost": yes,
    "expired_trigger": yes,
}
#: What may become of files whose upload was completed, and answered so.
SHARING_EFFECTS: _Readers = {
    "share_after": seconds,
    "unshared": yes,
}
EFFECTS = (*CALL_EFFECTS, *DELIVERY_EFFECTS, *SHARING_EFFECTS)
_READERS: _Readers = {
    **CALL_EFFECTS,
    **DELIVERY_EFFECTS,
    **SHARING_EFFECTS,
    "method": words,
    "contains": words,
    "retry_after": _count,
    "times": _count,
    "share": _share,
    "for_seconds": seconds,
}
