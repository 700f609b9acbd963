"""Who asks for a fault, from Python or by HTTP, asks here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bot.sandbox.delivery.events import EVENTS
from bot.sandbox.delivery.interactive import INTERACTIONS, WITH_TRIGGER
from bot.sandbox.faults.fault import DELIVERY_EFFECTS, SHARING_EFFECTS, Fault
from bot.sandbox.files import UPLOAD
from bot.sandbox.interactions.response_urls import RESPONSE_URL
from bot.sandbox.ordering.at_once import AT_ONCE, strike
from bot.sandbox.state import Sandbox
from bot.sandbox.webapi.files import COMPLETE
from bot.sandbox.webapi.methods import METHODS
from bot.sandbox.wire import Json, Refusal


class FaultOrders:
    """The words are those of `POST /sandbox/faults`; a wrong one is a `Refusal` that names the known."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    @property
    def waiting(self) -> list[Json]:
        """What has not struck yet, or not for the last time."""
        return [fault.as_json() for fault in self._sandbox.faults.waiting]

    def add(self, /, **asked: Any) -> Fault:
        """A fault that waits for its calls or deliveries."""
        if at_once := [name for name in asked if name in AT_ONCE]:
            raise Refusal(f"`{at_once[0]}` happens at once: `await ….now(…)`.", 400)
        fault = Fault.parse(asked, self._sandbox.clock())
        _check_name(fault)
        self._sandbox.faults.add(fault)
        return fault

    async def now(self, /, **asked: Any) -> Json:
        """A fault that happens at once; what came of it, for example `connections`."""
        if not any(name in asked for name in AT_ONCE):
            raise Refusal(f"At once there are: {', '.join(AT_ONCE)}.", 400)
        return await strike(self._sandbox, asked)

    @property
    def standing(self) -> list[Json]:
        """What happened at once, lasts, and can be mended."""
        return [one.as_json() for one in self._sandbox.faults.standing]

    def heal_one(self, number: int) -> None:
        """That fault waits no more, or is mended. Raises `Refusal`."""
        if not self._sandbox.faults.heal_one(number):
            raise Refusal(f"No fault {number} waits or lasts.")

    def heal(self) -> None:
        """Everything that can be mended is: tokens, channels, the clock; nobody waits any more."""
        self._sandbox.faults.heal()
        self._sandbox.rates.forgive()


def _check_name(fault: Fault) -> None:
    """A fault with a mistyped name would wait for ever."""
    if fault.method == "*":
        return
    if fault.effect == "expired_trigger":
        known: Iterable[str] = WITH_TRIGGER
    elif fault.effect in DELIVERY_EFFECTS:
        known = (*EVENTS, *INTERACTIONS)
    elif fault.effect in SHARING_EFFECTS:
        known = (COMPLETE,)
    else:
        known = (*METHODS, RESPONSE_URL, UPLOAD)
    if fault.method not in known:
        there = ", ".join(known)
        raise Refusal(f"`{fault.effect}` strikes no {fault.method}. It strikes: {there}.", 400)
