"""What a person is told, privately, when a decision was not taken or is not yet known to be.

All of these are mrkdwn.
"""

from __future__ import annotations

from agent.errors import (
    AlreadyDecided,
    AlreadyVoted,
    ApprovalCancelled,
    ApprovalExpired,
    DecisionRefused,
    InvalidArgs,
    NotAllowed,
    NotFound,
    Purged,
    Superseded,
)
from agent.rules.ids import ApprovalId, Principal, RunId
from agent.rules.listing import join_words
from agent.rules.parts import Approvers
from agent.rules.state import Approval, RunState
from agent.rules.undecided import is_to_be_asked_again
from bot.slack.cards.deciding import is_known_meanwhile
from bot.slack.cards.interrupted import how_it_was_stopped, is_closed_by_stop
from bot.slack.cards.mentions import (
    ANY_MEMBER,
    mention_each_decider,
    name_principal,
    those_asked,
    time_of_day,
    when,
)
from bot.slack.cards.message import Message
from bot.slack.cards.text import quoted
from bot.slack.cards.votes import more_needed, still_missing

_NAMES_LIMIT = 10

#: The click or the submission names nothing that we know.
NOT_FOUND = "Not decided: we know of no such question."
#: Behind why, for whoever sent off a modal.
NOTHING_SENT = "Nothing of yours was sent."
#: The same where a yes of theirs is counted.
_NOT_KEPT = "What you wrote now was not kept."
#: For an Approve of what no card shows in full.
NOT_SHOWN = (
    "Not decided: not all of this can be read here, so it can't be approved here; its card says why. You can"
    " deny or steer it."
)
#: For a click that names a question of which its message shows nothing.
NOT_ON_THIS_MESSAGE = "Not decided: this is not on what you clicked. Decide it on its own card."
#: For a change that leaves as it was what nothing shows in full.
LEFT_NOT_SHOWN = (
    "Nothing was decided: what you left as it was is too long to be shown in full here. Replace it, or"
    " give guidance instead."
)
NOT_YOURS_TO_SEE = "Nothing was decided. All of it is shown to whoever may decide this, and to whoever asked for it."


def unreadable_text(approval_id: ApprovalId) -> str:
    """The run of this approval is left to another version, or blocked."""
    return (
        "Not decided: the run behind this question can't be read by the version that runs now."
        f" ({quoted(approval_id, 80)})"
    )


def refusal_text(error: DecisionRefused | NotFound, state: RunState | None = None) -> str:
    """Why nothing was decided by this person; ``state`` tells more of it where it is at hand."""
    if isinstance(error, Purged):
        return f"Not decided: what this was about was removed {when(error.at)}, as it had been kept long enough."
    if isinstance(error, NotFound):
        return NOT_FOUND
    question = _question(error, state)
    outset = "Not answered" if question else "Not decided"
    match error:
        case NotAllowed(may_decide=may_decide):
            who = _who_can_answer(may_decide, state) if question else _who_can(may_decide, state)
            return f"{outset}: {who}."
        case AlreadyVoted(missing=lacks):
            return f"Your yes is counted; {more_needed(lacks)}."
        case AlreadyDecided():
            return f"Too late: {_decided_by(error)}."
        case Superseded():
            return f"{outset}: this was replaced by a newer question, further down in its thread."
        case ApprovalExpired(expires_at=expires_at):
            again = _who_can_ask_again(error, state)
            return f"{outset}: this expired {when(expires_at)}.{again}"
        case InvalidArgs(errors=errors) if question and "action" in errors:
            return how_to_answer(question.id)
        case InvalidArgs(errors=errors):
            return f"{outset}: " + " ".join(quoted(one, 200) for one in list(errors.values())[:5])
        case _:
            return f"{outset}: {_how_it_ended(error, state)}"


def closed_error(approval: Approval, state: RunState) -> DecisionRefused:
    """For whoever comes when it is not open any more: who did what and when, or why it was closed."""
    if approval.decided is not None and approval.decided_at is not None:
        by, at = approval.decided.by, approval.decided_at
        return AlreadyDecided(approval.id, approval.status, by, at)
    if approval.status == "expired":
        until = approval.requested.expires_at or approval.closed_at or state.updated_at
        return ApprovalExpired(approval.id, until)
    if approval.superseded_by is not None:
        return Superseded(approval.id, approval.superseded_by)
    return ApprovalCancelled(approval.id)


def how_to_answer(approval_id: ApprovalId) -> str:
    """For whoever wanted to approve, deny or steer what is a question of the agent's."""
    return (
        "Not answered: this is a question of the agent's, and there is nothing to approve or deny."
        " Answer it with the buttons of its message in the thread. Where you can't see them, it is"
        f" answered on the command line: `pilothouse answer {quoted(approval_id, 80)} TEXT`."
    )


def too_late_to_send(error: DecisionRefused | NotFound, state: RunState | None = None) -> str:
    """For whoever sent off a modal when there was nothing left to decide."""
    if isinstance(error, AlreadyVoted):
        return f"{refusal_text(error, state)} {_NOT_KEPT}"
    if isinstance(error, AlreadyDecided):
        return f"{_decided_by(error)}. {NOTHING_SENT}"
    return f"{refusal_text(error, state)} {NOTHING_SENT}"


def stands_text(message: Message, *, is_answer: bool = False) -> str:
    """For whoever sends again what they have decided, or answered, already."""
    return f"Your {'answer' if is_answer else 'decision'} stands: {message.text}"


def counted_text(approval: Approval, state: RunState) -> str:
    """For whose yes was taken and is not yet enough."""
    return f"Your yes is counted; {more_needed(still_missing(approval, state))}."


def saving_text(
    approval_id: ApprovalId, what: str = "decision", *, is_directly: bool = False
) -> str:
    """While it is not known whether the decision, or the answer, was saved. ``is_directly``: what became of it
    comes as a direct message."""
    how = "You'll be told in a direct message." if is_directly else "You'll be told here."
    return f"Still saving your {what}. {how} ({quoted(approval_id, 80)})"


def store_unavailable_text(
    about: RunId | ApprovalId | None = None, *, what: str = "decided"
) -> str:
    """Only when it is known that nothing was saved. ``what`` was not done."""
    named = f" ({quoted(about, 80)})" if about else ""
    return (
        f"Not {what}: our store can't be reached right now. Nothing has changed; please try again in"
        f" a minute.{named}"
    )


def _question(error: DecisionRefused, state: RunState | None) -> Approval | None:
    """The question that it is about, where it is known to be one."""
    approval = state.approvals.get(ApprovalId(error.approval_id)) if state else None
    return approval if approval is not None and approval.kind == "question" else None


def _who_can(may_decide: object, state: RunState | None) -> str:
    nobody = "only the operator can decide this, on the command line"
    if not isinstance(may_decide, Approvers):
        return nobody
    asked = those_asked(may_decide, state.requesters) if state else may_decide
    if not (named := mention_each_decider(asked)):
        return nobody
    but = ", and not the person who asked" if _is_left_out(may_decide, asked) else ""
    return f"only {_some_of(named)} can decide this{but}"


def _is_left_out(may_decide: Approvers, asked: Approvers) -> bool:
    """Would whoever asked for the run be thought to be among them?"""
    may_be_among = bool(asked.all_groups) or asked != may_decide
    return may_be_among and not may_decide.requester


def _who_can_answer(may_decide: object, state: RunState | None) -> str:
    named = [name_principal(state.requester)] if state else []
    if isinstance(may_decide, Approvers):
        named += mention_each_decider(may_decide)
        named += [ANY_MEMBER] if may_decide.members else []
    return f"only {_some_of(list(dict.fromkeys(named)))} can answer this"


def _who_can_ask_again(error: DecisionRefused, state: RunState | None) -> str:
    approval = state.approvals.get(ApprovalId(error.approval_id)) if state else None
    if state is None or approval is None or not is_to_be_asked_again(state, approval):
        return ""
    return f" {name_principal(state.requester)}, or whoever may decide it, can ask it again."


def _some_of(named: list[str]) -> str:
    return join_words(named[:_NAMES_LIMIT] + (["others"] if len(named) > _NAMES_LIMIT else []))


def _decided_by(error: AlreadyDecided) -> str:
    return f"{name_principal(Principal(error.by))} {error.action} this at {time_of_day(error.at)}"


def _how_it_ended(error: DecisionRefused, state: RunState | None) -> str:
    approval = state.approvals.get(ApprovalId(error.approval_id)) if state else None
    if state is not None and approval is not None and is_known_meanwhile(approval, state):
        ended = "what became of it is known meanwhile"
    elif approval is not None and state is not None and is_closed_by_stop(approval, state):
        ended = how_it_was_stopped(state)
    elif state is not None and state.reopened and not state.is_ended:
        return "its run had failed and was taken on again; what is still open is asked again below."
    else:
        ended = _ENDINGS.get(state.ending or "" if state else "", _HAS_ENDED)
    return f"{ended}; there is nothing left to decide."


_HAS_ENDED = "what it was about has ended meanwhile"
_ENDINGS = {
    "finished": "its run has finished",
    "failed": "its run has failed",
    "cancelled": "its run was stopped",
}
