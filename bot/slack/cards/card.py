"""The card of an approval, whatever its kind."""

from __future__ import annotations

from typing import assert_never

from agent.rules.state import Approval, RunState
from bot.slack.cards.approval import approval_message
from bot.slack.cards.budget import budget_message
from bot.slack.cards.dry_run import as_dry_run
from bot.slack.cards.in_full import NOT_THERE, FileStanding
from bot.slack.cards.message import Message
from bot.slack.cards.question import question_message
from bot.slack.cards.review import review_message


def card_of(
    approval: Approval,
    state: RunState,
    *,
    is_blocked: bool = False,
    file: FileStanding = NOT_THERE,
) -> Message:
    """As it is to stand now. ``is_blocked``: nobody takes the run on; ``file``: what is known, where it stands, of
    the one with all of it."""
    card = _of_its_kind(approval, state, is_blocked=is_blocked, file=file)
    return as_dry_run(card, [approval], state)


def _of_its_kind(
    approval: Approval, state: RunState, *, is_blocked: bool, file: FileStanding
) -> Message:
    match approval.kind:
        case "call":
            call = state.call(approval.requested.of_call)
            return approval_message(approval, call, state, is_blocked=is_blocked, file=file)
        case "question":
            return question_message(approval, state)
        case "review":
            return review_message(approval, state.call(approval.requested.of_call), state)
        case "budget":
            return budget_message(approval, state)
        case _:
            assert_never(approval.kind)
