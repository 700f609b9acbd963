"""The Steer modal: opened by a click, decided by what is sent off with it."""

from __future__ import annotations

import asyncio
import logging

from slack_sdk.errors import SlackApiError

from agent.errors import DecisionRefused, InvalidArgs, NotAllowed, NotFound, StoreUnavailable
from agent.rules.decisions import Steer, why_not
from agent.rules.ids import ApprovalId
from agent.rules.state import Approval, RunState
from bot.slack.answering import Answer
from bot.slack.cards.card import card_of
from bot.slack.cards.modals import approval_of, read_steer, steer_errors, steer_modal
from bot.slack.cards.refusals import (
    refusal_text,
    store_unavailable_text,
    too_late_to_steer,
)
from bot.slack.clients import SLACK_ERRORS, error_name
from bot.slack.deciding import UNDECIDED, decided_answer, explain, state_now
from bot.slack.fields import BadPayload
from bot.slack.ids import GUIDANCE_BLOCK
from bot.slack.payloads import Actor, Click, Submission, read_approval_id
from bot.slack.services import Services

_log = logging.getLogger(__name__)
_NOT_OPENED = (
    "Nothing was decided: the form could not be opened in time. The question is still open; "
    "please click Steer again."
)


_MAY_BE_OPEN = (
    "Nothing was decided, and Slack did not say whether the form opened. If you don't see it, please "
    "click Steer again."
)


async def open_steer(services: Services, approval_id: ApprovalId, click: Click) -> Answer:
    """Open the modal for somebody who may decide, while the question is open. Everything that needs
    Slack or the store before it is done at once: the trigger lives three seconds."""
    actor = click.actor
    try:
        _, (approval, state) = await asyncio.gather(
            services.people.member(actor.user, actor.team),
            services.runtime.approval(approval_id),
        )
        if refusal := await _why_not_now(services, approval, state, actor):
            return Answer(text=refusal)
    except StoreUnavailable:
        return Answer(text=store_unavailable_text())
    except UNDECIDED as error:
        return Answer(text=await explain(services, error, approval_id))
    call = state.calls[approval.requested.call_id]
    try:
        view = steer_modal(approval, call, state)
        await services.slack.views_open(trigger_id=click.trigger_id, view=view)
    except SLACK_ERRORS as error:
        _log.warning("Could not open Steer for %s: %s", approval_id, error_name(error))
        is_refused = isinstance(error, SlackApiError)
        return Answer(text=_NOT_OPENED if is_refused else _MAY_BE_OPEN)
    return Answer()


async def decide_by_modal(
    services: Services, approval_id: ApprovalId, submission: Submission
) -> Answer:
    """Steer as the modal says. What is wrong stands at its field, and nothing is decided."""
    actor, state, call = submission.actor, None, None
    errors: dict[str, str] = {}
    try:
        await services.people.member(actor.user, actor.team)
        approval, state = await services.runtime.approval(approval_id)
        call = state.calls[approval.requested.call_id]
        args, guidance, errors = read_steer(submission.values, call, approval)
        # With a wrong field it must still be said that they may not, or are too late; an empty
        # steer is never carried out.
        decision = Steer() if errors else Steer(args, guidance)
        asked, groups = approval.requested.approvers, _groups_of(services, state)
        decider = await services.people.decider(actor.user, actor.team, asked=asked, also=groups)
        state = await services.runtime.decide(approval_id, decision, decider)
    except InvalidArgs as error:
        found = errors or (steer_errors(error.errors, call) if call else {})
        return Answer(errors=found) if found else Answer(text=refusal_text(error))
    except StoreUnavailable:
        # The modal stays, with everything that was typed.
        run_id = state.run_id if state else None
        return Answer(errors={GUIDANCE_BLOCK: store_unavailable_text(run_id)})
    except (DecisionRefused, NotFound) as error:
        return Answer(text=too_late_to_steer(error, await state_now(services, approval_id)))
    except UNDECIDED as error:
        return Answer(text=await explain(services, error, approval_id))
    return Answer(if_late=decided_answer(state, approval_id).if_late)


def approval_steered(submission: Submission) -> ApprovalId:
    """Which approval the modal is about. Raises ``BadPayload``."""
    named = approval_of(submission.private_metadata)
    if named is None:
        raise BadPayload("view.private_metadata")
    return read_approval_id(named)


async def _why_not_now(
    services: Services, approval: Approval, state: RunState, actor: Actor
) -> str | None:
    """Why this person can't steer it now; None when they can."""
    asked = approval.requested.approvers
    decider = await services.people.decider(actor.user, actor.team, asked=asked)
    if why := why_not(asked, state.requester, decider):
        return refusal_text(NotAllowed(approval.id, asked, why))
    if approval.status != "pending":
        return f"Too late: {card_of(approval, state).text}"
    return None


def _groups_of(services: Services, state: RunState) -> set[str]:
    """The groups that a changed call may be asked of."""
    groups: set[str] = set()
    if agent := services.runtime.agents.get(state.agent):
        groups.update(agent.policy.owners.groups)
        for rule in agent.policy.rules:
            if rule.approvers is not None:
                groups.update(rule.approvers.groups)
    return groups
