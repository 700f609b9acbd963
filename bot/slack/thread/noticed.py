"""Which questions one direct message tells of, to those who may decide them."""

from __future__ import annotations

from collections.abc import Sequence

from agent.rules.state import Approval, RunState
from bot.slack.cards.elsewhere import (
    notice_message,
    past_notice_message,
    past_shared_notice_message,
    shared_notice_message,
)
from bot.slack.cards.message import Message
from bot.slack.cards.together import shared_card


def told_together(approval: Approval, state: RunState) -> tuple[Approval, ...]:
    """Those on its card that are asked of the same people, now and when others are asked as well. The message is
    known by the first, whatever becomes of that."""
    if (card := shared_card(approval.id, state)) is None:
        return (approval,)
    return tuple(one for one in card.members if _people(one) == _people(approval))


def said_of(asked: Sequence[Approval], state: RunState, link: str | None) -> Message:
    """To each of these people; ``link``: to where it stands."""
    (first, *others), waiting = asked, any(one.status == "pending" for one in asked)
    if not others:
        return notice_message(first, state, link) if waiting else past_notice_message(first)
    if waiting:
        return shared_notice_message(asked, state, link)
    return past_shared_notice_message(asked)


def _people(approval: Approval) -> object:
    return approval.requested.approvers, approval.requested.patience.escalate
