"""Whether the app acknowledges each delivery of an event as Slack wants it, on either transport."""

from __future__ import annotations

from collections.abc import Callable

from bot.sandbox.delivery.transport import Reply
from bot.sandbox.record import Record
from bot.sandbox.wire import Json


class Judge:
    """Each delivery breaks one rule at most. Of nothing is it told where the sandbox is to blame."""

    def __init__(self, record: Record) -> None:
        self._record = record
        #: By delivery: what it is, and whether the app could answer it at all.
        self._open: dict[str, tuple[str, Callable[[], bool]]] = {}

    def sent(self, delivery_id: str, payload: Json, could_answer: Callable[[], bool]) -> None:
        """The app has it from now on. It may turn out later that it `could_answer` or not."""
        what = f"{payload['event']['type']} {payload['event_id']}"
        self._open[delivery_id] = (what, could_answer)

    def late(self, delivery_id: str, seconds: float) -> None:
        """The time is over. What comes of it now is judged no more."""
        self._close(delivery_id, "late_acknowledgement", f"nothing within {seconds:g} s")

    def answered(self, delivery_id: str, reply: Reply) -> None:
        if reply.acknowledged or not reply.blames_app:
            self._open.pop(delivery_id, None)
        else:
            self._close(delivery_id, "unacknowledged_event", reply.why)

    def end(self) -> None:
        """Nothing is waited for any more."""
        for delivery_id in list(self._open):
            self._close(delivery_id, "unacknowledged_event", "still unanswered at the end")

    def _close(self, delivery_id: str, kind: str, why: str) -> None:
        what, could_answer = self._open.pop(delivery_id, ("", lambda: False))
        if could_answer():
            self._record.violation(kind, f"{what}: {why}")
