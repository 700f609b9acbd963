"""What is known of one call's effect, by its operation id. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agent.rules.calls import Call
from agent.rules.ids import CallId, OperationId, RunId
from agent.rules.state import RunState

#: ``none``: it has not been begun, or has no effect that anybody would ask for.
Known = Literal["committed", "rejected", "unknown", "none"]


@dataclass(frozen=True, slots=True)
class KnownEffect:
    """What the journal says of an operation."""

    operation_id: OperationId
    run_id: RunId
    call_id: CallId
    tool: str
    #: As the run's calls show it: ``waiting``, ``started``, ``ok``, ``denied`` …
    call_status: str
    #: How often it was begun.
    attempts: int
    status: Known
    #: The outside system's own id, where it gave one.
    external_id: str | None
    #: It was not begun, as it was of a dry run.
    dry_run: bool = False


def effect_of(state: RunState, operation_id: OperationId) -> KnownEffect | None:
    """What is known of this operation; None when no call of this run has the id."""
    call = next((c for c in state.calls.values() if c.operation_id == operation_id), None)
    if call is None:
        return None
    return KnownEffect(
        operation_id=operation_id,
        run_id=state.run_id,
        call_id=call.id,
        tool=call.tool,
        call_status=call.result.outcome if call.result else call.status,
        attempts=call.attempts,
        status=_known(call),
        external_id=call.receipt.external_id if call.receipt else None,
        dry_run=call.receipt is not None and call.receipt.dry_run,
    )


def _known(call: Call) -> Known:
    """Never guesses: what was begun, and has no receipt, may have happened."""
    if call.receipt is not None:
        return call.receipt.status
    return "unknown" if call.attempts and call.effect != "read" else "none"
