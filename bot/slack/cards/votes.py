"""Who may decide and how many must, who has said yes so far, and what is still needed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from agent.rules import explaining
from agent.rules.consent import Missing, is_good, missing
from agent.rules.durations import show_duration
from agent.rules.events import ApprovalDecided, ApprovalVoted
from agent.rules.listing import join_words
from agent.rules.parts import Approvers, Word
from agent.rules.state import Approval, RunState, Vote
from bot.slack.cards.blocks import Block, mrkdwn, section
from bot.slack.cards.mentions import (
    mention_group,
    name_decider,
    when,
)
from bot.slack.cards.remarks import remark
from bot.slack.cards.voice import MRKDWN

_VOTES_SHOWN = 4
_NOTES_SHOWN = 2
_NAMES_SHOWN = 20
_NOTE_LIMIT = 120
#: They have left, or Slack did not say when they were looked up again.
_NOT_CONFIRMED = "not counted: Slack does not confirm any more that they may decide this"


def who_may_decide(approvers: Approvers, state: RunState) -> str:
    """How many, and of whom, by name: a mention rings when it is posted, not when it is edited."""
    return explaining.who_may_decide(approvers, state.requesters, MRKDWN)


def small_print(approval: Approval, state: RunState, *, good_for: timedelta | None = None) -> Block:
    """Who may decide, until when, and ``good_for`` how long a yes is good then."""
    until = approval.requested.expires_at
    parts = [
        f"may decide: {who_may_decide(approval.approvers, state)}",
        *([f"until {when(until)}"] if until else []),
        *([f"a yes is good for {show_duration(good_for)}"] if good_for else []),
    ]
    return mrkdwn(" · ".join(parts))


def vote_blocks(approval: Approval, state: RunState) -> list[Block]:
    """While yeses are gathered, and where they were too few in the end: a line for each, with how far it
    brought the approval; as long as there is time, what is still needed."""
    if approval.status not in ("pending", "expired") or not approval.votes:
        return []
    lines = _vote_lines(approval, state)
    more = len(lines) - _VOTES_SHOWN
    shown = ([f"… {more} earlier"] if more > 0 else []) + lines[-_VOTES_SHOWN:]
    if approval.status == "pending":
        open_still = more_needed(still_missing(approval, state))
        shown.append(f"{open_still[0].upper()}{open_still[1:]}.")
    return [section("\n".join(shown)), *_notes([vote.voted for vote in approval.votes])]


def noted(approval: Approval) -> list[Block]:
    """What those who approved it wrote: whose note it is stands there where there are several people."""
    deciders = _deciders(approval)
    if len(deciders) == 1:
        return remark("Note", deciders[0].note)
    return _notes(deciders)


def votes_in_words(approval: Approval, state: RunState) -> str:
    """``1 of 2 have said yes``, for a line of data."""
    return explaining.yeses_in_words(*explaining.so_far(approval, state))


def still_missing(approval: Approval, state: RunState) -> Missing:
    """What the yeses so far leave open, as they counted when the newest was given."""
    return _lacking(approval, state, [word for word, _ in approval.yeses])


def more_needed(needed: Missing) -> str:
    """``one more is needed, from @legal``"""
    head = "one more is needed" if needed.count == 1 else f"{needed.count} more are needed"
    if not needed.groups:
        return head
    groups = join_words(map(mention_group, needed.groups))
    if needed.count == 1:
        return f"{head}, from {groups}"
    among = "" if needed.count == len(needed.groups) else "among them "
    return f"{head}, {among}{'one of' if len(needed.groups) == 1 else 'one each of'} {groups}"


def name_deciders(approval: Approval) -> str:
    """Everybody whose yes it was that decided, or who decided otherwise; empty while it is open."""
    return _name_each(_deciders(approval))


def _name_each(words: Sequence[Word]) -> str:
    names = [name_decider(one) for one in words]
    more = len(names) - _NAMES_SHOWN
    shown = [*names[:_NAMES_SHOWN], *([f"{more} more"] if more > 0 else [])]
    return join_words(shown) if shown else ""


def _deciders(approval: Approval) -> Sequence[ApprovalVoted | ApprovalDecided]:
    decided = approval.decided
    if decided is None:
        return ()
    if decided.action == "approve" and decided.authority == "listed":
        return [word for word, _ in approval.yeses]
    return (decided,)


def _notes(words: Sequence[ApprovalVoted | ApprovalDecided]) -> list[Block]:
    return [
        block
        for one in [word for word in words if word.note and word.note.strip()][-_NOTES_SHOWN:]
        for block in (
            section(f"Note by {name_decider(one)}:"),
            *remark("", one.note, limit=_NOTE_LIMIT),
        )
    ]


def _vote_lines(approval: Approval, state: RunState) -> list[str]:
    needed = missing(approval.approvers, state.requesters, ()).count
    counted = {word.by for word, _ in approval.yeses}
    lines: list[str] = []
    words: list[Word] = []
    for vote in approval.votes:
        who = f"by {name_decider(vote.voted)} · {when(vote.at)}"
        if vote.voted.by not in counted:
            lines.append(f"☑️ approved {who} · {_why_not_counted(vote, approval, state)}")
            continue
        words.append(vote.voted)
        done = needed - _lacking(approval, state, words).count
        lines.append(f"✅ {done} of {needed}: approved {who}")
    return lines


def _why_not_counted(vote: Vote, approval: Approval, state: RunState) -> str:
    """When the newest yes was given, by which it is counted who has given one."""
    call_id = approval.requested.call_id
    verdict = state.call(call_id).verdict if call_id is not None else None
    valid_for = verdict.valid_for if verdict else None
    if valid_for is not None and not is_good(vote.at, valid_for, approval.votes[-1].at):
        return f"counted no more: a yes is good for {show_duration(valid_for)}"
    return _NOT_CONFIRMED


def _lacking(approval: Approval, state: RunState, words: Sequence[Word]) -> Missing:
    """What these votes lack by what is recorded of them. As long as they are votes it is something:
    somebody may speak for another group by now."""
    lacks = missing(approval.approvers, state.requesters, words)
    return lacks if lacks.count else Missing(1)
