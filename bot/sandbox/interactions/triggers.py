"""Trigger ids: one use, three seconds."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from bot.sandbox.wire import SlackError

LIFE_SECONDS = 3.0
KEPT = 2000


@dataclass
class Trigger:
    user: str
    issued_at: float
    #: The view in which the person clicked or submitted; a push goes on top of it.
    view_id: str | None = None
    used: bool = False


class Triggers:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._issued: dict[str, Trigger] = {}

    def issue(self, user: str, view_id: str | None = None) -> str:
        number = int(self._clock() * 1000)
        trigger_id = f"{number}.{secrets.randbelow(10**10)}.{secrets.token_hex(16)}"
        self._issued[trigger_id] = Trigger(user, self._clock(), view_id)
        while len(self._issued) > KEPT:
            del self._issued[next(iter(self._issued))]
        return trigger_id

    def use(self, trigger_id: str) -> Trigger:
        """Raises `invalid_trigger_id`, `exchanged_trigger_id` or `expired_trigger_id`."""
        trigger = self._issued.get(trigger_id)
        if trigger is None:
            raise SlackError("invalid_trigger_id")
        if trigger.used:
            raise SlackError("exchanged_trigger_id")
        if self._clock() - trigger.issued_at > LIFE_SECONDS:
            raise SlackError("expired_trigger_id")
        trigger.used = True
        return trigger
