"""What a person is told, privately, when a decision was not taken or is not yet known to be.

All of these are mrkdwn.
"""

from __future__ import annotations

from agent.errors import (
    AlreadyDecided,
    ApprovalExpired,
    DecisionRefused,
    InvalidArgs,
    NotAllowed,
    NotFound,
    Superseded,
)
from agent.rules.events import Approvers
from agent.rules.ids import ApprovalId, Principal, RunId
from agent.rules.state import RunState
from bot.slack.cards.mentions import (
    join_words,
    mention_group,
    mention_user,
    name_principal,
    time_of_day,
    when,
)
from bot.slack.cards.message import Message
from bot.slack.cards.text import quoted

_NAMES_LIMIT = 10

#: The click or the submission names nothing that we know.
NOT_FOUND = "Not decided: we know of no such question."
#: For an Approve of what no card shows in full.
NOT_SHOWN = (
    "Not decided: this is too long to be shown in full here, so it can't be approved here. You can"
    " deny or steer it."
)


def unreadable_text(approval_id: ApprovalId) -> str:
    """The run of this approval is left to another version, or blocked."""
    return (
        "Not decided: the run behind this question can't be read by the version that runs now."
        f" ({quoted(approval_id, 80)})"
    )


def refusal_text(error: DecisionRefused | NotFound, state: RunState | None = None) -> str:
    """Why nothing was decided by this person; ``state`` tells more of it where it is at hand."""
    match error:
        case NotAllowed(may_decide=may_decide):
            return f"Not decided: {_who_can(may_decide)}."
        case AlreadyDecided():
            return f"Too late: {_decided_by(error)}."
        case Superseded():
            return "Not decided: this was replaced by a newer question, further down in its thread."
        case ApprovalExpired(expires_at=expires_at):
            return f"Not decided: this expired {when(expires_at)}. It did not happen."
        case InvalidArgs(errors=errors):
            return "Not decided: " + " ".join(quoted(one, 200) for one in list(errors.values())[:5])
        case NotFound():
            return NOT_FOUND
        case _:
            return f"Not decided: {_how_it_ended(state)}; there is nothing left to decide."


def too_late_to_steer(error: DecisionRefused | NotFound, state: RunState | None = None) -> str:
    """For whoever submitted the Steer modal when there was nothing left to steer."""
    if isinstance(error, AlreadyDecided):
        return f"{_decided_by(error)}. Nothing of yours was sent."
    return f"{refusal_text(error, state)} Nothing of yours was sent."


def stands_text(message: Message) -> str:
    """For whoever sends again what they have decided already."""
    return f"Your decision stands: {message.text}"


def saving_text(approval_id: ApprovalId) -> str:
    """While it is not known whether the decision was saved."""
    return f"Still saving your decision. You'll be told here. ({quoted(approval_id, 80)})"


def store_unavailable_text(run_id: RunId | None = None) -> str:
    """Only when it is known that nothing was saved."""
    named = f" ({quoted(run_id, 80)})" if run_id else ""
    return (
        "Not decided: our store can't be reached right now. Nothing has changed; please try again in"
        f" a minute.{named}"
    )


def _who_can(may_decide: object) -> str:
    if not isinstance(may_decide, Approvers) or not (may_decide.users or may_decide.groups):
        return "only the operator can decide this, on the command line"
    named = [
        *(mention_group(group) for group in may_decide.groups),
        *(mention_user(user) for user in may_decide.users),
    ]
    shown = named[:_NAMES_LIMIT] + (["others"] if len(named) > _NAMES_LIMIT else [])
    but = "" if may_decide.requester else ", and not the person who asked"
    return f"only {join_words(shown)} can decide this{but}"


def _decided_by(error: AlreadyDecided) -> str:
    return f"{name_principal(Principal(error.by))} {error.action} this at {time_of_day(error.at)}"


def _how_it_ended(state: RunState | None) -> str:
    match state.ending if state else None:
        case "finished":
            return "its run has finished"
        case "failed":
            return "its run has failed"
        case "cancelled":
            return "its run was stopped"
        case _:
            return "its run has ended"
