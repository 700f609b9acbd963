"""What a tool is told of the call that it carries out, and what it can say of its effect."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from agent.rules.ids import CallId, OperationId, Principal, RunId
from agent.tools.cancellation import Cancellation
from agent.tools.logger import ToolLogger

_NEVER = datetime.max.replace(tzinfo=UTC)


def _told_to_nobody(text: object) -> None:
    """Outside of a run nobody listens."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Handed to a tool that has a parameter of this type. In a test of the tool one's own will do: the first six
    are enough."""

    #: The idempotency key: the same over all attempts of this call. Send it to the outside system.
    operation_id: OperationId
    run_id: RunId
    call_id: CallId
    #: 1 for the first.
    attempt: int
    #: The agent whose run this is, and who asked for it.
    agent: str
    requester: Principal
    #: Did people say yes to exactly this, now or beforehand? Not where a rule lets it run.
    is_approved: bool = False
    #: Names run, call and tool; what of the arguments is secret does not get through it.
    logger: ToolLogger = field(default_factory=lambda: ToolLogger("tools", {}))
    #: True once somebody wants the run stopped, this process is to end or has lost the run, or the call's time
    #: is over. Nothing is cut off by it: whoever looks at it ends sooner.
    cancelled: Cancellation = field(default_factory=Cancellation)
    #: When it is waited for no longer; in UTC.
    deadline: datetime = _NEVER
    #: The same, by ``time.monotonic``.
    ends_at: float = math.inf
    say: Callable[[object], None] = field(default=_told_to_nobody, repr=False)

    @property
    def seconds_left(self) -> float:
        """Until the deadline, whatever becomes of the wall clock; 0 behind it."""
        return max(0.0, self.ends_at - time.monotonic())

    def progress(self, text: str) -> None:
        """Show people how far it is, such as ``3 of 7 files``: one short line, beside the call, while it runs. From
        any thread; it neither waits nor fails. Only the newest is shown, about once a second."""
        self.say(text)


@dataclass(frozen=True, slots=True)
class Committed:
    """The effect happened. A tool may return it in place of its plain result to name the outside
    system's id; a ``reconcile`` returns it when it finds that the effect happened."""

    output: Any = None
    external_id: str | None = None
    #: It was carried out, and the outside system answered that it failed: ``output`` is its words. Whether a part
    #: of it happened nobody knows but by them; where nothing did, raise ``Rejected``.
    is_error: bool = False
