"""The faults that wait for their calls and deliveries, and how all faults are healed."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from bot.sandbox.faults.fault import CALL_EFFECTS, DELIVERY_EFFECTS, SHARING_EFFECTS, Fault
from bot.sandbox.wire import Json


@dataclass(frozen=True)
class Standing:
    """It happened at once, and lasts: until it is mended, or until then by the sandbox's clock."""

    number: int
    what: Json
    cure: Callable[[], object]
    until: float | None

    def as_json(self) -> Json:
        shown = {"number": self.number, **self.what}
        return shown if self.until is None else shown | {"until": self.until}


class Faults:
    """`chance` draws a number from 0 to 1 for a fault that strikes a share of the calls."""

    def __init__(
        self,
        clock: Callable[[], float],
        chance: Callable[[str], float],
        tell: Callable[[str, str], object],
    ) -> None:
        """`tell` hears of each fault that strikes: its effect, and what it strikes."""
        self._clock = clock
        self._chance = chance
        self._tell = tell
        self._number = 0
        self._waiting: dict[int, Fault] = {}
        self._standing: dict[str, Standing] = {}

    @property
    def waiting(self) -> list[Fault]:
        now = self._clock()
        self._waiting = {n: one for n, one in self._waiting.items() if not one.is_over(now)}
        return list(self._waiting.values())

    @property
    def standing(self) -> list[Standing]:
        """What was broken at once and can be mended, and is not."""
        now = self._clock()
        return [one for one in self._standing.values() if one.until is None or now < one.until]

    def add(self, fault: Fault) -> None:
        fault.number = self._next_number()
        self._waiting[fault.number] = fault

    def take(self, method: str, arguments: Json) -> dict[str, Fault]:
        """What this call of a method, of `response_url` or an upload suffers: by effect, one of each."""
        return self._take(CALL_EFFECTS, method, arguments)

    def take_sharing(self, method: str, arguments: Json) -> dict[str, Fault]:
        """What becomes of the files that this call completes."""
        return self._take(SHARING_EFFECTS, method, arguments)

    def take_delivery(self, what: str, payload: Json) -> dict[str, Fault]:
        """What this delivery suffers; `what`: an event's type, or the kind of an interaction."""
        effects = set(DELIVERY_EFFECTS)
        if "trigger_id" not in payload:
            effects.remove("expired_trigger")
        return self._take(effects, what, payload)

    def on_healing(
        self, thing: str, what: Json, cure: Callable[[], object], until: float | None = None
    ) -> None:
        """`thing` was broken at once: `cure` mends it, or it ends by itself.

        What was broken before and is broken again is mended to what it was at first.
        """
        if (before := self._standing.pop(thing, None)) is not None:
            cure = before.cure
        self._standing[thing] = Standing(self._next_number(), what, cure, until)

    def heal(self) -> None:
        self._waiting.clear()
        while self._standing:
            _, last = self._standing.popitem()
            last.cure()

    def heal_one(self, number: int) -> bool:
        """Whether there was one of that number."""
        for thing, standing in self._standing.items():
            if standing.number == number:
                del self._standing[thing]
                standing.cure()
                return True
        return self._waiting.pop(number, None) is not None

    def _take(self, effects: Collection[str], method: str, said: Json) -> dict[str, Fault]:
        suffered: dict[str, Fault] = {}
        for fault in self.waiting:
            if fault.effect not in effects or fault.effect in suffered:
                continue
            if fault.is_for(method, said, self._clock()) and self._strikes(fault, method):
                fault.times = None if fault.times is None else fault.times - 1
                suffered[fault.effect] = fault
                self._tell(fault.effect, method)
        return suffered

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    def _strikes(self, fault: Fault, method: str) -> bool:
        return fault.share >= 1 or self._chance(method) < fault.share
