"""From a click or a written decision to the decision itself, and to what is said of it.

Who it is comes first: somebody who may decide nothing here learns nothing about the question.
"""

from __future__ import annotations

import logging

from agent.errors import (
    ConfigError,
    DecisionRefused,
    NotFound,
    StoreError,
    StoreUnavailable,
)
from agent.rules.decisions import Approve, Decision, why_not
from agent.rules.ids import ApprovalId
from agent.rules.state import Approval, RunState
from bot.slack.answering import Answer
from bot.slack.cards.approval import can_be_approved
from bot.slack.cards.card import card_of
from bot.slack.cards.refusals import (
    NOT_FOUND,
    NOT_SHOWN,
    refusal_text,
    store_unavailable_text,
)
from bot.slack.cards.text import escape
from bot.slack.payloads import Actor
from bot.slack.people import NotEligible
from bot.slack.services import Services

_log = logging.getLogger(__name__)
_UNREADABLE = "Not decided: this run's journal can't be read by the version that runs now. ({run})"


async def decide_by_click(
    services: Services, approval_id: ApprovalId, decision: Decision, actor: Actor
) -> Answer:
    """Decide; the card redraws itself, and nothing more is said."""
    return await _decided(services, approval_id, decision, actor)


async def decide_in_words(
    services: Services, approval_id: ApprovalId, decision: Decision, actor: Actor
) -> Answer:
    """Decide; there is no card to redraw here, so it is said. Raises ``StoreUnavailable``: then the
    message is delivered again."""
    answer = await _decided(services, approval_id, decision, actor, is_sent_again=True)
    return Answer(text=answer.text or answer.if_late)


async def _decided(
    services: Services,
    approval_id: ApprovalId,
    decision: Decision,
    actor: Actor,
    *,
    is_sent_again: bool = False,
) -> Answer:
    state: RunState | None = None
    try:
        await services.people.member(actor.user, actor.team)
        approval, state = await services.runtime.approval(approval_id)
        asked = approval.requested.approvers
        decider = await services.people.decider(actor.user, actor.team, groups=asked.groups)
        if (
            isinstance(decision, Approve)
            and why_not(asked, state.requester, decider) is None
            and not _is_shown_in_full(approval, state)
        ):
            return Answer(text=NOT_SHOWN)
        state = await services.runtime.decide(approval_id, decision, decider)
    except StoreUnavailable:
        if is_sent_again:
            raise
        return Answer(text=store_unavailable_text(state.run_id if state else None))
    except (NotEligible, NotFound, DecisionRefused, ConfigError, StoreError) as error:
        return Answer(text=await explain(services, error, approval_id))
    return decided_answer(state, approval_id)


def decided_answer(state: RunState, approval_id: ApprovalId) -> Answer:
    """What a person sees of a decision of theirs that was taken."""
    card = card_of(state.approvals[approval_id], state)
    return Answer(
        card={"text": card.text, "blocks": list(card.blocks)},
        if_late=f"Your decision was saved: {card.text}",
    )


async def explain(services: Services, error: Exception, approval_id: ApprovalId) -> str:
    """Why nothing was decided, in words for the person who tried."""
    match error:
        case NotEligible(why=why):
            return f"Not decided: {why}."
        case NotFound():
            return NOT_FOUND
        case DecisionRefused():
            return refusal_text(error, await state_now(services, approval_id))
        case ConfigError():
            return f"Not decided: {escape(str(error))}"
        case _:
            _log.error("Could not decide %s: %s", approval_id, type(error).__name__)
            return _UNREADABLE.format(run=approval_id)


async def state_now(services: Services, approval_id: ApprovalId) -> RunState | None:
    """The approval's run: somebody else may have moved it since it was read. None if it is gone."""
    try:
        _, state = await services.runtime.approval(approval_id)
    except (StoreError, NotFound):
        return None
    return state


def _is_shown_in_full(approval: Approval, state: RunState) -> bool:
    """What people can't see in full can't be approved; what is over has its own answer."""
    if approval.kind != "call" or approval.status != "pending":
        return True
    return can_be_approved(approval, state.calls[approval.requested.call_id])
