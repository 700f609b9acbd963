"""Decisions by people who may decide nothing here: refused before the runtime is asked, and taken down all
the same."""

from __future__ import annotations

from collections.abc import Callable

from agent.errors import NotAllowed, NotFound, StoreError
from agent.rules.decisions import Decider, Decision
from agent.rules.ids import ApprovalId
from agent.rules.state import Approval, RunState
from bot.slack.ids import SlackUser
from bot.slack.payloads import Actor
from bot.slack.people import NotEligible
from bot.slack.services import Services


async def record_ineligible(
    services: Services,
    approval_id: ApprovalId,
    read: Callable[[Approval, RunState], Decision],
    actor: Actor,
    error: NotEligible,
) -> None:
    """What ``actor`` wanted goes into the control journal as refused; ``read`` says what it was. An
    approval that is not there, or can't be read, leaves nothing to take down."""
    try:
        approval, state = await services.runtime.approval(approval_id)
        decision = read(approval, state)
    except (NotFound, StoreError):
        return
    by = Decider(SlackUser(actor.team or "?", actor.user).principal, actor.user)
    refused = NotAllowed(approval_id, approval.approvers, f"{error.why}.")
    await services.runtime.record_refusal(state.run_id, decision, by, refused)
