"""What the cards of all kinds of approval share: who is called, and who decided."""

from __future__ import annotations

from agent.rules.parts import Approvers
from agent.rules.state import Approval, RunState
from bot.slack.cards.expired import silence_words
from bot.slack.cards.interrupted import is_closed_by_stop, stopped_words
from bot.slack.cards.mentions import mention_deciders, when
from bot.slack.cards.text import one_line, quoted
from bot.slack.cards.votes import name_deciders

_ENDINGS = {
    "finished": "Its run has finished",
    "failed": "Its run has failed",
    "cancelled": "Its run was stopped",
}


def call_out(approvers: Approvers, question: str) -> str:
    """The question with the mentions of those who may decide before it."""
    mentions = mention_deciders(approvers)
    return f"{mentions}: {question}" if mentions else question


def call_out_last(approvers: Approvers, text: str) -> str:
    """The same for a notification: a locked phone shows only its beginning."""
    mentions = mention_deciders(approvers)
    return f"{text} · {mentions}" if mentions else text


def decided_line(mark: str, words: str, approval: Approval) -> str:
    """``✅ *Approved* by @Bob · today 13:07``"""
    if approval.decided is None or approval.decided_at is None:
        closed_at = approval.closed_at
        # What expired says by when in its words.
        if closed_at is None or approval.status == "expired":
            return f"{mark} *{words}*"
        return f"{mark} *{words}* · {when(closed_at)}"
    return f"{mark} *{words}* by {name_deciders(approval)} · {when(approval.decided_at)}"


def decided_text(mark: str, words: str, approval: Approval) -> str:
    """The same for a notification, which tells the time itself."""
    by = f" by {name_deciders(approval)}" if approval.decided else ""
    return f"{mark} {words}{by}: "


def not_decided_words(approval: Approval, state: RunState) -> tuple[str, str]:
    """A mark and why nobody has to decide it any more: nobody did in time, it was replaced, or its call
    or its run has ended."""
    if approval.status == "expired":
        return "⏳", silence_words(approval)
    if approval.status == "superseded":
        return "↪︎", "Replaced by a newer question below"
    if is_known_meanwhile(approval, state):
        return "⏹", "No longer asked: what became of it is known"
    if state.stop is not None and is_closed_by_stop(approval, state):
        return "⏹", stopped_words(state.stop)
    if state.reopened and (approval.superseded_by is not None or not state.is_ended):
        below = ": asked again below" if approval.superseded_by else ", and was taken on again"
        return "↪︎", f"Its run had failed{below}"
    return "⏹", _ENDINGS.get(state.ending or "", "Its run has ended")


def title_of(approval: Approval) -> str:
    """The tool's human title, or its name."""
    return one_line(approval.requested.title or approval.requested.tool, 120)


def title_in_words(approval: Approval) -> str:
    """The same, for mrkdwn."""
    return quoted(approval.requested.title or approval.requested.tool, 120)


def is_known_meanwhile(approval: Approval, state: RunState) -> bool:
    """Was it closed undecided by the end of its call, as when a lost answer came after all?"""
    if approval.requested.call_id is None:
        return False
    call = state.call(approval.requested.call_id)
    return (
        approval.status == "cancelled"
        and call.ended_at is not None
        and approval.closed_at == call.ended_at
    )
