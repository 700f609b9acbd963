"""What is posted beside a question that nobody decides: those who may are reminded, or others are asked as
well."""

from __future__ import annotations

from agent.rules.parts import Approvers
from agent.rules.state import Approval, RunState
from bot.slack.cards.blocks import section
from bot.slack.cards.mentions import (
    mention_deciders,
    mention_user,
    name_principal,
    those_asked,
    when,
)
from bot.slack.cards.message import Message
from bot.slack.cards.question import question_of
from bot.slack.cards.text import quoted
from bot.slack.ids import SlackUser

_TITLE_LIMIT = 120


_REMINDER = "Reminder"
_YOU_TOO = "You may decide this too"


def reminder_message(approval: Approval, state: RunState) -> Message | None:
    """Rings whoever may decide and has not said yes yet; None where nobody in Slack may."""
    who = _who_is_reminded(approval, state)
    return _said(who, _REMINDER, approval) if who else None


def escalation_message(approval: Approval, state: RunState, stage: int) -> Message | None:
    """Rings those of this escalation, who may decide from now on; None where it names none who may."""
    reached = approval.requested.patience.escalate[stage - 1]
    others = Approvers(users=reached.users, groups=reached.groups)
    who = mention_deciders(those_asked(others, state.requesters))
    return _said(who, _YOU_TOO, approval) if who else None


def reminder_for(user: str, approval: Approval) -> Message:
    """The same below the card that this one person has: it rings them alone."""
    return _said(mention_user(user), _REMINDER, approval)


def escalation_for(user: str, approval: Approval) -> Message:
    """To one who may decide from now on, below the card that they have."""
    return _said(mention_user(user), _YOU_TOO, approval)


def called_out_message(approval: Approval) -> Message:
    """In place of either, when it is not waited for any more: true whatever becomes of it, and so edited
    once."""
    what = "an answer" if approval.kind == "question" else "a decision"
    words = (
        f"{_what(approval)} waited for {what} here, asked {when(approval.requested_at)}."
        " Its message above says what became of it."
    )
    return Message(text=words, blocks=(section(words),))


def earlier_reminder_message(approval: Approval, number: int) -> Message:
    """In place of a reminder that was followed by another: true whatever becomes of it, and so edited once."""
    words = f"Reminder {number} of {_what(approval)}; others followed. Its message above says how it stands."
    return Message(text=words, blocks=(section(words),))


def _said(who: str, why: str, approval: Approval) -> Message:
    what = "an answer" if approval.kind == "question" else "a decision"
    waits = f"{_what(approval)} has waited for {what} since {when(approval.requested_at)}."
    words = f"{who} {why}: {waits} Its message is above."
    return Message(text=f"{why}: {waits} {who}", blocks=(section(words),))


def _what(approval: Approval) -> str:
    asked = approval.requested
    title = question_of(approval) if approval.kind == "question" else asked.title or asked.tool
    return f"“{quoted(title, _TITLE_LIMIT)}”"


def _who_is_reminded(approval: Approval, state: RunState) -> str:
    voted = {vote.voted.user for vote in approval.votes}
    asked = those_asked(approval.approvers, state.requesters)
    left = asked.model_copy(update={"users": tuple(u for u in asked.users if u not in voted)})
    who = mention_deciders(left)
    is_theirs = approval.kind == "question" and approval.approvers.requester
    if is_theirs and SlackUser.of(state.requester) is not None:
        return f"{name_principal(state.requester)} {who}".strip()
    return who
