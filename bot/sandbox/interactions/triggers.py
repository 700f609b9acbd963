"""Trigger ids: one use, three seconds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from bot.sandbox.ids import Ids
from bot.sandbox.newest import Newest
from bot.sandbox.wire import SlackError

KEPT = 2000


@dataclass
class _Trigger:
    user: str
    issued_at: float
    used: bool = False


class Triggers:
    def __init__(self, clock: Callable[[], float], ids: Ids, life: float) -> None:
        """`life`: how many seconds a trigger id is good for."""
        self._clock = clock
        self._life = life
        self._ids = ids
        self._issued: Newest[str, _Trigger] = Newest(KEPT)

    def issue(self, user: str) -> str:
        number = int(self._clock() * 1000)
        trigger_id = f"{number}.{self._ids.number(10)}.{self._ids.secret()}"
        self._issued[trigger_id] = _Trigger(user, self._clock())
        return trigger_id

    def expire(self, trigger_id: str) -> None:
        """Its time is over, whatever the clock says."""
        trigger = self._issued.get(trigger_id)
        if trigger is not None:
            trigger.issued_at = -math.inf

    def use(self, trigger_id: str) -> str:
        """The id of who acted. Raises `invalid_trigger_id`, `exchanged_trigger_id` or `expired_trigger_id`."""
        trigger = self._issued.get(trigger_id)
        if trigger is None:
            raise SlackError("invalid_trigger_id")
        if trigger.used:
            raise SlackError("exchanged_trigger_id")
        if self._clock() - trigger.issued_at > self._life:
            raise SlackError("expired_trigger_id")
        trigger.used = True
        return trigger.user
