"""What nobody decided in time: since when, what follows from it, and the button that has it asked again."""

from __future__ import annotations

from agent.rules.state import Approval, RunState
from agent.rules.undecided import is_to_be_asked_again
from bot.slack.cards.blocks import Block, actions, button, context, mrkdwn
from bot.slack.cards.mentions import when
from bot.slack.ids import ASK_AGAIN


def silence_words(approval: Approval) -> str:
    """``Nobody decided by Mon 14:05``; of what some had said yes to, that they were too few."""
    until = approval.requested.expires_at or approval.closed_at
    did = "Nobody answered" if approval.kind == "question" else "Nobody decided"
    if approval.votes:
        did = "Too few had said yes"
    return f"{did} by {when(until)}" if until else did


def silence_blocks(approval: Approval, state: RunState, *, about: str) -> list[Block]:
    """What follows; for a card that is expired."""
    if is_to_be_asked_again(state, approval):
        return [actions(button("Ask again", ASK_AGAIN, approval.id, about=about))]
    follows = _what_follows(approval, state)
    return [context(mrkdwn(follows))] if follows else []


def _what_follows(approval: Approval, state: RunState) -> str:
    if approval.superseded_by is not None:
        return "Asked again below."
    call_id = approval.requested.call_id
    result = state.call(call_id).result if call_id else None
    if result is not None and result.outcome == "expired":
        return "The agent was told that nobody did."
    if state.stop is not None:
        return "Its run was stopped."
    if state.is_ended:
        return "Its run has ended."
    if state.held is not None:
        return "It is to be asked again: its run is paused, and goes on with Resume."
    return "It is about to be asked again."
