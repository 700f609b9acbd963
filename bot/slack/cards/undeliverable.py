"""What whoever asked for a run is told, by direct message, where its thread can't ask what it has to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.rules.listing import join_words
from agent.rules.state import Approval, RunState
from bot.slack.cards.blocks import Block, context, mrkdwn, plain, plain_section, section
from bot.slack.cards.mentions import mention_each_decider
from bot.slack.cards.message import Message
from bot.slack.cards.question import question_of
from bot.slack.cards.text import escape, one_line, quoted

#: Slack's word, and what it means for whoever reads it.
_MEANINGS: Final = {
    "thread_not_found": "the message that its thread hung on was deleted",
    "cannot_reply_to_message": "nobody can reply to the message that its thread hangs on",
    "message_not_found": "the message that its thread hung on was deleted",
    "not_in_channel": "I am not in the channel any more",
    "channel_not_found": "I am not in the channel any more, or it is gone",
    "is_archived": "the channel was archived",
    "is_inactive": "the channel was archived",
}
#: Nobody knows whether it ever was in that one.
_MEANINGS_THERE: Final = {
    "not_in_channel": "I am not in that channel",
    "channel_not_found": "I am not in that channel, or it is gone",
}
#: So many questions are shown.
_LISTED: Final = 10
_MENDED_BY: Final = {
    "not_in_channel": "Invite me to the channel again, and it is asked there.",
    "channel_not_found": "Invite me to the channel again, and it is asked there.",
    "is_archived": "Take the channel out of the archive, and it is asked there.",
    "is_inactive": "Take the channel out of the archive, and it is asked there.",
}


def what_is_wrong(code: str) -> str:
    """In words, why Slack does not take the question; ``code`` is Slack's own word for it."""
    return _MEANINGS.get(code, f"Slack refuses it ({one_line(code, 80)})")


def what_is_wrong_there(code: str) -> str:
    """The same of another channel than the thread's, where it belongs."""
    return _MEANINGS_THERE.get(code, what_is_wrong(code))


def how_to_mend(code: str) -> str:
    """What makes it be asked in its thread after all; empty where nothing does."""
    return _MENDED_BY.get(code, "")


def undeliverable_message(state: RunState, asked: Sequence[Approval], code: str) -> Message:
    """These nobody can be asked in the thread."""
    words = f"Your run can't ask what it has to: {what_is_wrong(code)}."
    if all(_has_not_happened(one, state) for one in asked):
        words += " Nothing of it has happened."
    shown, more = asked[:_LISTED], len(asked) - _LISTED
    return Message(
        text=f"{escape(words)} “{quoted(state.prompt, 200)}”",
        blocks=(
            plain_section(f"“{one_line(state.prompt, 300)}”"),
            section(escape(words)),
            *(block for one in shown for block in _question(one)),
            *([section(f"And {more} more: `/agent pending`.")] if more > 0 else []),
            *([section(escape(how_to_mend(code)))] if how_to_mend(code) else []),
            context(plain(state.run_id, 200)),
        ),
    )


def no_longer_message(state: RunState, asked: Sequence[Approval]) -> Message:
    """In place of that, once none of them waits there any more."""
    said = f"Your run could not ask this in its thread; {_what_became_of(asked)}."
    return Message(
        text=f"{escape(said)} “{quoted(state.prompt, 200)}”",
        blocks=(plain_section(f"“{one_line(state.prompt, 300)}”"), section(escape(said))),
    )


def _what_became_of(asked: Sequence[Approval]) -> str:
    """Of several that ended differently what is true of all."""
    statuses = {one.status for one in asked}
    if "pending" in statuses:
        return _WHAT_BECAME_OF_IT["pending"]
    if len(statuses) > 1:
        return _OF_NOBODY
    return _WHAT_BECAME_OF_IT.get(statuses.pop(), _OF_NOBODY)


_OF_NOBODY: Final = "it waits for nobody any more"
_WHAT_BECAME_OF_IT: Final = {
    "pending": "it is asked there now",
    "approved": "it was approved elsewhere",
    "denied": "it was denied elsewhere",
    "steered": "it was steered elsewhere",
    "answered": "it was answered elsewhere",
    "settled": "it was settled elsewhere",
    "expired": "nobody decided it in time",
    "cancelled": "its run, or what it was about, has ended",
    "superseded": "a newer question took its place",
}


def _has_not_happened(asked: Approval, state: RunState) -> bool:
    """Is it certain? What a review asks of may have; of a question and a budget there is nothing to say."""
    call_id = asked.requested.call_id
    return (
        asked.kind == "call" and call_id is not None and not state.call(call_id).may_have_happened
    )


def _question(asked: Approval) -> list[Block]:
    if asked.kind == "question":
        what, who = f"It asks: {one_line(question_of(asked), 300)}", "Answer"
    else:
        title = asked.requested.title or asked.requested.tool or asked.requested.reason
        what = f"It waits for a decision: {one_line(title, 300)}"
        deciders = mention_each_decider(asked.approvers)
        who = f"{join_words(deciders[:5])} may decide" if deciders else "The operator may decide"
    where = f"`/agent pending`, or on the command line `pilothouse approvals` ({asked.id})"
    return [plain_section(what), context(mrkdwn(f"{who}: {where}."))]
