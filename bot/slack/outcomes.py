"""What became of what somebody tried, and what they are told of it.

There are four ends. Every surface words them, and knows of no other.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from agent.errors import (
    CommitInDoubt,
    ConfigError,
    CorruptJournal,
    DecisionRefused,
    InvalidArgs,
    NotFound,
    RunEnded,
    StoreError,
    StoreUnavailable,
    UnknownEvent,
)
from agent.rules.ids import ApprovalId
from agent.rules.state import RunState
from bot.slack.answering import Answer, Redrawn
from bot.slack.cards.card import card_of
from bot.slack.cards.in_full import THERE
from bot.slack.cards.refusals import (
    NOT_ON_THIS_MESSAGE,
    NOT_SHOWN,
    counted_text,
    refusal_text,
    stands_text,
    store_unavailable_text,
    too_late_to_send,
    unreadable_text,
)
from bot.slack.cards.text import escape
from bot.slack.links import link_to_newer
from bot.slack.people import CouldNotLookUp, NotEligible
from bot.slack.services import Services
from bot.slack.thread.as_drawn import redrawn_card

T = TypeVar("T")
_log = logging.getLogger(__name__)


class NotShown(DecisionRefused):
    """What people can't see in full can't be approved."""

    code = "not_shown"

    def __init__(self, approval_id: str) -> None:
        super().__init__(approval_id, NOT_SHOWN)


class FileNotThere(DecisionRefused):
    """The file that a yes would rest on is gone, or it can't be found out; the message says so in words."""

    code = "file_not_there"

    def __init__(self, approval_id: str, why: str) -> None:
        super().__init__(approval_id, f"Not decided: {why}.")


class NotOnThisMessage(DecisionRefused):
    """What was clicked shows other questions: whoever clicked has not seen this one there."""

    code = "not_on_this_message"

    def __init__(self, approval_id: str) -> None:
        super().__init__(approval_id, NOT_ON_THIS_MESSAGE)


class Mistaken(InvalidArgs):
    """What a modal was sent off with can't be read; ``errors`` are by the block ids of its inputs."""


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """It is done."""

    value: T


@dataclass(frozen=True, slots=True)
class Stands:
    """They had decided just so before: it came twice, and nothing was changed."""

    approval_id: ApprovalId
    state: RunState


@dataclass(frozen=True, slots=True)
class Held:
    """Nothing was done, as our store or Slack could not be asked. The same may be tried again."""

    approval_id: ApprovalId
    error: StoreUnavailable | CouldNotLookUp


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was done, and it would not be the next time."""

    approval_id: ApprovalId
    #: One of ``REFUSALS``.
    error: Exception
    #: The run as it is by now, where its state is what speaks against it.
    state: RunState | None = None


Undone = Stands | Held | Refused
Outcome = Done[T] | Undone

#: Nothing was done, and that is certain. Any other failure of the store leaves it open.
REFUSALS: Final = (
    NotEligible,
    NotFound,
    DecisionRefused,
    RunEnded,
    ConfigError,
    CorruptJournal,
    UnknownEvent,
)


async def outcome_of(
    services: Services, approval_id: ApprovalId, doing: Awaitable[T]
) -> Outcome[T]:
    """What becomes of what is being tried with an approval. Raises what leaves it open whether it was done."""
    try:
        return Done(await doing)
    except CommitInDoubt:
        raise
    except (StoreUnavailable, CouldNotLookUp) as error:
        return Held(approval_id, error)
    except (DecisionRefused, RunEnded) as error:
        return Refused(approval_id, error, await _state_now(services, approval_id))
    except REFUSALS as error:
        return Refused(approval_id, error)


def decided_answer(
    services: Services,
    state: RunState,
    approval_id: ApprovalId,
    *,
    among_others: bool = False,
    channel: str | None = None,
    words_at: Mapping[str, str] | None = None,
) -> Answer:
    """What a person sees of a decision of theirs that was taken; ``among_others``: on a card of several, in this
    ``channel``, which ``words_at`` has lead to what people wrote."""
    state = services.shown(state)
    approval = state.approvals[approval_id]
    message = redrawn_card(
        approval_id, state, among_others=among_others, channel=channel, words_at=words_at
    )
    if approval.status == "pending":
        told = counted_text(approval, state)
    else:
        own = card_of(approval, state, file=THERE) if among_others else message
        what = "answer" if approval.kind == "question" else "decision"
        told = f"Your {what} was saved: {own.text}"
    return Answer(card=Redrawn(state.run_id, message, state.updated_at), if_late=told)


async def explain(services: Services, undone: Undone, what: str = "decided") -> str:
    """Why nothing was done, in words for the person who tried; ``what`` was not."""
    match undone:
        case Stands(approval_id=approval_id, state=state):
            return _standing(approval_id, services.shown(state))
        case Held():
            return held_text(undone, what)
        case Refused(error=NotEligible(why=why)):
            return f"Not {what}: {why}."
        case Refused(error=NotShown()):
            return NOT_SHOWN
        case Refused(error=NotOnThisMessage()):
            return NOT_ON_THIS_MESSAGE
        case Refused(error=FileNotThere() as error):
            return str(error)
        case Refused(error=DecisionRefused() as error, state=state):
            return refusal_text(error, state) + await _link(services, undone)
        case Refused(error=NotFound() as error):
            return refusal_text(error)
        case Refused(error=ConfigError() as error):
            return f"Not {what}: {escape(str(error))}"
        case Refused(approval_id=approval_id, error=error):
            _log.error("Could not act on %s: %s", approval_id, type(error).__name__)
            return unreadable_text(approval_id)


async def answer_submission(
    services: Services,
    outcome: Outcome[RunState],
    approval_id: ApprovalId,
    *,
    block_id: str,
    errors_of: Callable[[InvalidArgs, RunState | None], Mapping[str, str]],
    what: str = "decided",
) -> Answer:
    """For whoever sent off a modal; its card is redrawn by whoever draws the thread. The modal stays, with
    everything that was typed, where the same may be sent again (that stands at ``block_id``), and where
    something is wrong with it (``errors_of``)."""
    match outcome:
        case Done(value=state):
            return Answer(if_late=decided_answer(services, state, approval_id).if_late)
        case Held() as held:
            return Answer(errors={block_id: held_text(held, what)})
        case Refused(error=Mistaken(errors=errors)):
            return Answer(errors=errors)
        case Refused(error=InvalidArgs() as error, state=now) if found := errors_of(error, now):
            return Answer(errors=found)
        case Refused(error=NotShown()):
            return Answer(text=NOT_SHOWN)
        case Refused(error=FileNotThere() as error):
            return Answer(errors={block_id: str(error)})
        case Refused(error=(DecisionRefused() | NotFound()) as error, state=now) as refused:
            return Answer(text=too_late_to_send(error, now) + await _link(services, refused))
        case Stands() | Refused() as undone:
            return Answer(text=await explain(services, undone, what))


def held_text(held: Held, what: str = "decided") -> str:
    """What was not ``what`` may be tried again."""
    if isinstance(held.error, CouldNotLookUp):
        return f"Not {what}: {held.error.why}."
    return store_unavailable_text(held.approval_id, what=what)


def _standing(approval_id: ApprovalId, state: RunState) -> str:
    approval = state.approvals[approval_id]
    if approval.status == "pending":
        return counted_text(approval, state)
    return stands_text(card_of(approval, state), is_answer=approval.kind == "question")


async def _link(services: Services, refused: Refused) -> str:
    return await link_to_newer(services, refused.approval_id, refused.state)


async def _state_now(services: Services, approval_id: ApprovalId) -> RunState | None:
    """The approval's run: somebody else may have moved it since it was read. None if it is gone."""
    try:
        _, state = await services.runtime.approval(approval_id)
    except (StoreError, NotFound):
        return None
    return state
