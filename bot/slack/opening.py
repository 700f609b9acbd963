"""Opening a modal about an approval, by a click: at once, for its trigger lives three seconds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from slack_sdk.errors import SlackApiError

from agent.errors import NotAllowed, StoreUnavailable
from agent.rules.decisions import why_not
from agent.rules.parts import ApprovalKind
from agent.rules.state import Approval, Call, RunState
from bot.slack.answering import Answer
from bot.slack.cards.modals import View
from bot.slack.cards.refusals import (
    NOT_FOUND,
    closed_text,
    refusal_text,
    store_unavailable_text,
)
from bot.slack.clients import SLACK_ERRORS, error_name
from bot.slack.deciding import UNDECIDED, decider_of, explain
from bot.slack.payloads import Actor, Click
from bot.slack.services import Services

_log = logging.getLogger(__name__)
_NOT_OPENED = (
    "Nothing was decided: the form could not be opened in time. The question is still open; "
    "please click {button} again."
)
_MAY_BE_OPEN = (
    "Nothing was decided, and Slack did not say whether the form opened. If you don't see it, please "
    "click {button} again."
)

Draw = Callable[[Approval, Call, RunState], View]


async def open_modal(
    services: Services, click: Click, draw: Draw, *, kind: ApprovalKind, button: str
) -> Answer:
    """Open what ``draw`` makes of an approval of this kind, for somebody who may decide it and while
    it is open. ``button`` is what they clicked, in words. Raises ``BadPayload``."""
    actor, approval_id = click.actor, click.approval_id
    try:
        # Everything that needs Slack or the store is asked for at the same time.
        _, (approval, state) = await asyncio.gather(
            services.people.member(actor.user, actor.team),
            services.runtime.approval(approval_id),
        )
        if refusal := await _why_not_now(services, approval, state, actor, kind):
            return Answer(text=refusal)
    except StoreUnavailable:
        return Answer(text=store_unavailable_text())
    except UNDECIDED as error:
        return Answer(text=await explain(services, error, approval_id))
    view = draw(approval, state.call(approval.requested.of_call), state)
    try:
        await services.slack.views_open(trigger_id=click.trigger_id, view=view)
    except SLACK_ERRORS as error:
        _log.warning("Could not open %s for %s: %s", button, approval_id, error_name(error))
        told = _NOT_OPENED if isinstance(error, SlackApiError) else _MAY_BE_OPEN
        return Answer(text=told.format(button=button))
    return Answer()


async def _why_not_now(
    services: Services, approval: Approval, state: RunState, actor: Actor, kind: ApprovalKind
) -> str | None:
    """Why this person can't do it now; None when they can."""
    asked = approval.approvers
    decider = await decider_of(services, approval, state, actor)
    if why := why_not(asked, state.requesters, decider, approval.kind):
        return refusal_text(NotAllowed(approval.id, asked, why), state)
    if approval.status != "pending":
        return closed_text(approval, state)
    return None if approval.kind == kind else NOT_FOUND
