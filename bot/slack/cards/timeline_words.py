"""What a run's time line says of each event. What a reader has no use for is folded: of a call, its verdict and its
start are told with its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import assert_never

from agent.rules.budgets import Reached
from agent.rules.events import (
    ApprovalDecided,
    ApprovalRequested,
    ApprovalVoted,
    CallJudged,
    CallLeftUnknown,
    CallLookedUp,
    CallPreviewed,
    CallProgressed,
    CallRefused,
    CallReturned,
    CallStarted,
    Event,
    ModelFailed,
    ModelReplied,
    RunFailed,
    RunFinished,
    RunReopened,
    RunStarted,
)
from agent.rules.ids import ApprovalId, Principal
from agent.rules.interventions import (
    ApprovalAskedAgain,
    ApprovalEscalated,
    ApprovalExpired,
    ApprovalReminded,
    BudgetReached,
    HaltsChanged,
    HistoryTaken,
    InterventionEvent,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    RunCancelled,
    RunHeld,
    RunResumed,
    SessionContinued,
    StopRequested,
)
from agent.rules.listing import join_words
from agent.rules.long_conversations import ConversationShortened, ConversationSummarised
from agent.rules.parts import Approvers, OnExpiry
from agent.rules.recorded import Recorded
from agent.rules.state import LastingWord, RunState
from bot.slack.cards.deciding import title_in_words
from bot.slack.cards.halted import halt_words
from bot.slack.cards.interrupted import stopped_words
from bot.slack.cards.mentions import mention_each_decider, name_principal, time_of_day
from bot.slack.cards.text import quoted
from bot.slack.cards.timeline_approvals import words_of_approval
from bot.slack.cards.timeline_calls import words_of_call
from bot.slack.cards.timeline_messages import words_of_message

_WORDS_LIMIT = 300
_ANSWER_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Links:
    """Where what happened can be looked at by whoever reads of it."""

    #: The thread's first message.
    root: str | None = None
    cards: Mapping[ApprovalId, str] = field(default_factory=dict)
    #: What was said at the run's ends: it may have failed and been taken on again.
    ends: Mapping[int, str] = field(default_factory=dict)
    #: What people wrote, by the ``ref`` under which it was recorded.
    messages: Mapping[str, str] = field(default_factory=dict)

    def message(self, ref: str | None) -> str | None:
        return self.messages.get(ref) if ref else None


@dataclass(frozen=True, slots=True)
class Told:
    """A line, and where it can be looked at."""

    words: str
    link: str | None = None


def words_of(recorded: Recorded, state: RunState, links: Links) -> Told | None:
    """What happened, ``state`` being how the run stands after all of it; None where there is nothing to say."""
    event: Event = recorded.event
    match event:
        case RunStarted():
            return Told(words_of_message(event, state), links.root)
        case ModelReplied(text=text, calls=calls):
            # Its last word is told as the run's answer.
            is_aside = bool(calls) and bool(text.strip())
            return Told(f"The agent: “{quoted(text, _ANSWER_LIMIT)}”") if is_aside else None
        case ModelFailed(error=error, retry_at=retry_at):
            again = f"; asked again {time_of_day(retry_at)}" if retry_at else ""
            return Told(f"No answer from the model: {quoted(error, _ANSWER_LIMIT)}{again}")
        case CallJudged() | CallPreviewed() | CallRefused() | CallStarted() | CallLookedUp():
            return _told(words_of_call(event, recorded.at, state))
        case CallProgressed() | CallReturned() | CallLeftUnknown():
            return _told(words_of_call(event, recorded.at, state))
        case ApprovalRequested() | ApprovalVoted() | ApprovalDecided():
            where = links.cards.get(event.approval_id)
            if isinstance(event, ApprovalDecided):
                where = links.message(event.ref) or where
            return Told(words_of_approval(event, state), where)
        case RunFinished(answer=answer):
            said = f": “{quoted(answer, _ANSWER_LIMIT)}”" if answer.strip() else ""
            return Told(f"✓ Done{said}", _end(recorded, state, links))
        case RunFailed(error=error):
            why = f": {quoted(error, _WORDS_LIMIT)}" if error.strip() else ""
            return Told(f"✗ Failed{why}", _end(recorded, state, links))
        case RunReopened(by=by):
            return Told(f"↻ {name_principal(by)} had it go on from where it had failed")
        case ConversationShortened(summing=None):
            return Told("Long results and files are told to the model in short from here on")
        case ConversationShortened():
            return Told("The conversation is long: the model sums up what was before")
        case ConversationSummarised(summary=summary):
            return Told(f"Summed up: “{quoted(summary.text, _ANSWER_LIMIT)}”")
        case _:
            return _of_intervention(event, recorded, state, links)


def _of_intervention(
    event: InterventionEvent, recorded: Recorded, state: RunState, links: Links
) -> Told:
    match event:
        case MessageReceived(ref=ref) | MessageEdited(ref=ref):
            return Told(words_of_message(event, state), links.message(ref))
        case MessageDeleted():
            return Told(words_of_message(event, state))
        case RunHeld(by=by, reason=reason):
            return Told(f"⏸ Paused by {name_principal(by)}{_because(reason)}")
        case RunResumed(by=by):
            return Told(f"▶︎ Resumed by {name_principal(by)}")
        case HaltsChanged(halts=halts):
            words = "; ".join(map(halt_words, halts))
            return Told(f"⏸ {words}" if words else "▶︎ Nothing keeps it from going on any more")
        case StopRequested(by=by, reason=reason):
            stop = LastingWord(by, recorded.at, reason)
            return Told(f"⏹ {stopped_words(stop)}{_because(reason)}: nothing new begins")
        case RunCancelled():
            return Told("⏹ Nothing of it runs any more", _end(recorded, state, links))
        case ApprovalExpired(approval_id=approval_id, then=then):
            words = f"⏳ Nobody decided in time: {_question(approval_id, state)}; {_THEN[then]}"
            return Told(words, links.cards.get(approval_id))
        case ApprovalReminded(approval_id=approval_id):
            words = f"People were reminded: {_question(approval_id, state)}"
            return Told(words, links.cards.get(approval_id))
        case ApprovalEscalated(approval_id=approval_id, stage=stage):
            others = state.approvals[approval_id].requested.patience.escalate[stage - 1]
            named = Approvers(users=others.users, groups=others.groups)
            words = f"Asked as well: {join_words(mention_each_decider(named)) or 'others'}"
            return Told(f"{words}: {_question(approval_id, state)}", links.cards.get(approval_id))
        case ApprovalAskedAgain(approval_id=approval_id, by=by):
            return Told(f"{name_principal(by)} had it asked again: {_question(approval_id, state)}")
        case BudgetReached(budget=budget, used=used, limit=limit):
            reached = Reached(budget, Decimal(used), Decimal(limit))
            return Told(f"⏹ Its budget is used up: {reached.in_words}")
        case HistoryTaken(of_run=of_run, forked_by=forked_by):
            return Told(f"It goes on from {quoted(of_run, 90)}{_as_wanted(forked_by)}")
        case SessionContinued(of_run=of_run):
            return Told(f"It goes on with the conversation of {quoted(of_run, 90)}")
        case _:
            assert_never(event)


_THEN: Mapping[OnExpiry, str] = {
    "wait": "it waits until it is asked again",
    "deny": "the agent was told",
    "stop": "the run was stopped",
    "escalate": "others are asked",
}


def _told(words: str | None) -> Told | None:
    return None if words is None else Told(words)


def _end(recorded: Recorded, state: RunState, links: Links) -> str | None:
    """What was said there: at how manieth of its ends."""
    return links.ends.get(sum(until < recorded.at for _, until in state.outages))


def _question(approval_id: ApprovalId, state: RunState) -> str:
    return f"*{title_in_words(state.approvals[approval_id])}*"


def _because(reason: str | None) -> str:
    return f" (“{quoted(reason, _ANSWER_LIMIT)}”)" if reason and reason.strip() else ""


def _as_wanted(by: tuple[Principal, ...]) -> str:
    return f", as {join_words(map(name_principal, by))} wanted" if by else ""
