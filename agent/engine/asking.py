"""What a model's answer, or its failure, amounts to."""

from __future__ import annotations

from datetime import datetime, timedelta

from agent.ports import Ids, ModelReply, ModelUnavailable
from agent.rules.events import ModelFailed, ModelReplied, ProposedCall
from agent.rules.ids import CallId, GroupId, OperationId

#: How often in a row a model may be unavailable before the run fails.
ATTEMPTS_LIMIT = 5
BACKOFF = timedelta(seconds=1)
ERROR_LIMIT = 2_000


def replied(reply: ModelReply, *, asked_at: int, model: str, ids: Ids) -> ModelReplied:
    """The answer, each call under a name of our own."""
    return ModelReplied(
        text=reply.text,
        asked_at=asked_at,
        model=model,
        usage=reply.usage,
        group=GroupId(ids.new("grp")) if reply.calls else None,
        calls=tuple(
            ProposedCall(
                call_id=CallId(ids.new("call")),
                operation_id=OperationId(ids.new("op")),
                model_call_id=call.model_call_id,
                tool=call.tool,
                arguments=call.arguments,
            )
            for call in reply.calls
        ),
    )


def failed(error: Exception, *, failures: int, now: datetime) -> ModelFailed:
    """The failure, and when to ask again: after ``failures`` in a row before this one."""
    if isinstance(error, TimeoutError):
        error = ModelUnavailable(str(error) or "The model did not answer in time.")
    if not isinstance(error, ModelUnavailable):
        words = f"The model failed: {type(error).__name__}: {error}"
        return ModelFailed(error=words[:ERROR_LIMIT])
    retry_at = None
    if failures + 1 < ATTEMPTS_LIMIT:
        delay = BACKOFF * (1 << failures)
        retry_at = now + max(delay, timedelta(seconds=error.retry_after or 0))
    return ModelFailed(error=str(error)[:ERROR_LIMIT], retry_at=retry_at)
