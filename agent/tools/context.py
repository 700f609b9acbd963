"""What a tool is told of the call that it carries out, and what it can say of its effect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent.rules.ids import CallId, OperationId, Principal, RunId


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Handed to a tool that has a parameter of this type."""

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


@dataclass(frozen=True, slots=True)
class Committed:
    """The effect happened. A tool may return it in place of its plain result to name the outside
    system's id; a ``reconcile`` returns it when it finds that the effect happened."""

    output: Any = None
    external_id: str | None = None
    #: It was carried out, and the outside system answered that it failed: ``output`` is its words. Whether a part
    #: of it happened nobody knows but by them; where nothing did, raise ``Rejected``.
    is_error: bool = False
