"""The faults that wait for their calls and deliveries, and how all faults are healed."""

from __future__ import annotations

from collections.abc import Callable, Collection

from bot.sandbox.faults.fault import CALL_EFFECTS, DELIVERY_EFFECTS, SHARING_EFFECTS, Fault
from bot.sandbox.wire import Json


class Faults:
    """`chance` draws a number from 0 to 1 for a fault that strikes a share of the calls."""

    def __init__(self, clock: Callable[[], float], chance: Callable[[str], float]) -> None:
        self._clock = clock
        self._chance = chance
        self._waiting: list[Fault] = []
        self._cures: list[Callable[[], object]] = []

    @property
    def waiting(self) -> list[Fault]:
        now = self._clock()
        self._waiting = [fault for fault in self._waiting if not fault.is_over(now)]
        return list(self._waiting)

    def add(self, fault: Fault) -> None:
        self._waiting.append(fault)

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

    def on_healing(self, cure: Callable[[], object]) -> None:
        """Something was broken at once: this mends it."""
        self._cures.append(cure)

    def heal(self) -> None:
        self._waiting.clear()
        while self._cures:
            self._cures.pop()()

    def _take(self, effects: Collection[str], method: str, said: Json) -> dict[str, Fault]:
        suffered: dict[str, Fault] = {}
        for fault in self.waiting:
            if fault.effect not in effects or fault.effect in suffered:
                continue
            if fault.is_for(method, said, self._clock()) and self._strikes(fault, method):
                fault.times = None if fault.times is None else fault.times - 1
                suffered[fault.effect] = fault
        return suffered

    def _strikes(self, fault: Fault, method: str) -> bool:
        return fault.share >= 1 or self._chance(method) < fault.share
