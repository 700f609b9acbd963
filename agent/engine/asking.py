"""Asking a model, and what its answer, or its failure, amounts to."""

from __future__ import annotations

from datetime import datetime, timedelta

from agent.engine.telling import tell, words_of
from agent.ports import (
    ContextOverflow,
    Ids,
    Model,
    ModelRefused,
    ModelReply,
    ModelRequest,
    ModelUnavailable,
)
from agent.rules.events import ModelFailed, ModelReplied
from agent.rules.ids import CallId, GroupId, OperationId
from agent.rules.parts import ProposedCall
from agent.tools.running import TookTooLong

#: How often in a row a model may be unavailable before the run fails.
ATTEMPTS_LIMIT = 5
BACKOFF = timedelta(seconds=1)
#: No provider has a run wait longer than this, whatever it says.
LONGEST_DELAY = timedelta(hours=24)


async def ask(model: Model, request: ModelRequest) -> ModelReply:
    """Foreign code may fail before it has anything to wait for: here that fails as the rest of it would."""
    return await model.reply(request)


def replied(
    reply: ModelReply,
    *,
    asked_at: int,
    began_at: datetime,
    model: str,
    ids: Ids,
    estimated: int | None = None,
) -> ModelReplied:
    """The answer, each call under a name of our own; to a request of ``estimated`` tokens."""
    return ModelReplied(
        text=reply.text,
        asked_at=asked_at,
        began_at=began_at,
        model=model,
        usage=reply.usage,
        provider=reply.provider,
        estimated=estimated,
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


def too_long(
    error: ContextOverflow, *, size: int, times: int, began_at: datetime, now: datetime
) -> ModelFailed:
    """The request, of ``size`` tokens by our estimate, was more than the model can read at once. The next one says
    less, and is made at once; where that was so the ``times`` before this one already, none is."""
    return ModelFailed(
        error=words_of(error) if times == 0 else f"{words_of(error)} {_STILL_TOO_LONG}",
        retry_at=now if times == 0 else None,
        began_at=began_at,
        usage=error.usage,
        too_long=size,
    )


_STILL_TOO_LONG = (
    "It was shortened before that, and is still too long. Nothing of it is lost. Share a smaller file, ask for less"
    " at once, or set context_tokens of the agent to what its model can read; then retry the run."
)


def failed(error: Exception, *, failures: int, began_at: datetime, now: datetime) -> ModelFailed:
    """The failure, and when to ask again: after ``failures`` in a row before this one."""
    if isinstance(error, TimeoutError | TookTooLong):
        error = ModelUnavailable(words_of(error) or "The model did not answer in time.")
    if isinstance(error, ModelRefused):
        return ModelFailed(error=words_of(error), began_at=began_at, usage=error.usage)
    if not isinstance(error, ModelUnavailable):
        return ModelFailed(error=f"The model failed: {tell(error)}", began_at=began_at)
    retry_at = None
    if failures + 1 < ATTEMPTS_LIMIT:
        delay = BACKOFF * (1 << failures)
        retry_at = now + max(delay, _asked_for(error))
    return ModelFailed(
        error=words_of(error), retry_at=retry_at, began_at=began_at, usage=error.usage
    )


def _asked_for(error: ModelUnavailable) -> timedelta:
    """The delay that the provider asks for, as far as that is one."""
    seconds = error.retry_after
    if not isinstance(seconds, int | float) or not 0 < seconds < float("inf"):
        return timedelta()
    return timedelta(seconds=min(seconds, LONGEST_DELAY.total_seconds()))
