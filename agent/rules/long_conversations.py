"""How a conversation that has become too long is told from then on, as events. See ``events`` for the rules of the
vocabulary.

An older build would tell its model all of it once more, so that a journal which has one of these is of form 6.
"""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime

from agent.rules.parts import Cut, EventBase, Summary, Usage


class ConversationShortened(EventBase):
    """The model would have been told more than it is to be told at once. From here on some of it is told in fewer
    characters (``cut``), or its oldest part is to be summed up first (``summing``: so many of the run's replies; none
    of them, where only the conversation's earlier runs are), or both."""

    kind: Literal["conversation_shortened"] = "conversation_shortened"
    cut: Cut | None = None
    summing: int | None = None

    @property
    def form(self) -> int:
        return 6


class ConversationSummarised(EventBase):
    """The model summed up what was said and done before the reply behind the first ``replies`` of the run, all
    earlier runs of the conversation with it: it is told the summary instead, and so are later runs."""

    kind: Literal["conversation_summarised"] = "conversation_summarised"
    replies: int
    summary: Summary
    #: The seq that was seen when it was asked for; by which model, what that used, and when it was asked.
    asked_at: int
    model: str
    usage: Usage = Usage()
    began_at: AwareDatetime | None = None

    @property
    def form(self) -> int:
        return 6


ConversationEvent = ConversationShortened | ConversationSummarised
