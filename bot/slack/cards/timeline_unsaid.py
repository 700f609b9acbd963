"""A run's time line for whoever decides in it without being in its conversation: its calls and its decisions.

What was said stays where it was said: no request, no message, no answer, none of the agent's words, and no question
of its.
"""

from __future__ import annotations

import dataclasses

from agent.rules.events import (
    ApprovalDecided,
    Event,
    ModelFailed,
    ModelReplied,
    RunFailed,
    RunFinished,
    RunStarted,
)
from agent.rules.interventions import (
    HaltsChanged,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    RunHeld,
    StopRequested,
)
from agent.rules.long_conversations import ConversationSummarised
from agent.rules.recorded import Recorded
from agent.rules.state import RunState
from bot.slack.cards.mentions import name_principal
from bot.slack.cards.timeline_words import Links, Told, words_of


def words_unsaid(recorded: Recorded, state: RunState, links: Links) -> Told | None:
    """As ``words_of``, without what anybody said."""
    event = recorded.event
    if isinstance(event, RunStarted):
        return Told(f"{name_principal(event.requester)} asked for it", links.root)
    if _is_about_a_question(event, state):
        return None
    match event:
        case (
            ModelReplied() | ModelFailed() | MessageReceived() | MessageEdited() | MessageDeleted()
        ):
            return None
        case RunFinished():
            event = event.model_copy(update={"answer": ""})
        case ConversationSummarised():
            return Told("Summed up what was before")
        case RunFailed():
            event = event.model_copy(update={"error": ""})
        case RunHeld() | StopRequested():
            event = event.model_copy(update={"reason": None})
        case HaltsChanged(halts=halts):
            unsaid = tuple(halt.model_copy(update={"reason": ""}) for halt in halts)
            event = event.model_copy(update={"halts": unsaid})
        case ApprovalDecided(ref=str()):
            event = event.model_copy(update={"guidance": None})
    return words_of(dataclasses.replace(recorded, event=event), state, links)


def _is_about_a_question(event: Event, state: RunState) -> bool:
    approval_id = getattr(event, "approval_id", None)
    approval = state.approvals.get(approval_id) if approval_id else None
    call_id = getattr(event, "call_id", None)
    is_asking = call_id is not None and state.call(call_id).is_question
    return is_asking or (approval is not None and approval.kind == "question")
