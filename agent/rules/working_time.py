"""How long a run has worked: what its journal shows as work, and nothing that might have been."""

from __future__ import annotations

from datetime import datetime, timedelta

from agent.rules.events import Event, ModelFailed, ModelReplied
from agent.rules.long_conversations import ConversationSummarised
from agent.rules.state import RunState

_NOTHING = timedelta()


def work_added_by(state: RunState, event: Event, at: datetime) -> timedelta:
    """What comes to the work of ``state`` with the next event: the model was asked, or calls ran, at their
    longest to their deadline. While nobody had the run, or it waited for whatever it was, it did not work."""
    if isinstance(event, ModelReplied | ModelFailed | ConversationSummarised):
        return _span(event.began_at or at, at)
    if state.is_ended:
        return _NOTHING
    running = [call.deadline or at for call in state.open_calls if call.status == "started"]
    return _span(state.updated_at, min(at, max(running))) if running else _NOTHING


def _span(begin: datetime, end: datetime) -> timedelta:
    return max(_NOTHING, end - begin)
