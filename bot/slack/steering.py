"""The Steer modal, sent off: what is to be done instead, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping

from agent.errors import InvalidArgs, NotFound
from agent.rules.decisions import Steer
from agent.rules.ids import ApprovalId
from agent.rules.state import Approval, RunState
from bot.slack.answering import Answer
from bot.slack.cards.modals import read_steer, steer_errors
from bot.slack.deciding import Meant, attempt
from bot.slack.ids import GUIDANCE_BLOCK
from bot.slack.outcomes import answer_submission
from bot.slack.payloads import Submission
from bot.slack.services import Services


async def decide_by_modal(
    services: Services, approval_id: ApprovalId, submission: Submission
) -> Answer:
    """Steer as the modal says. What is wrong stands at its field, and nothing is decided."""

    def read(approval: Approval, state: RunState) -> Meant:
        if approval.requested.call_id is None:
            raise NotFound("approval", approval_id)
        call = state.call(approval.requested.of_call)
        args, guidance, mistakes = read_steer(submission.values, call, approval)
        return Meant(Steer() if mistakes else Steer(args, guidance), mistakes)

    outcome = await attempt(services, approval_id, submission.actor, read)
    return await answer_submission(
        services, outcome, approval_id, block_id=GUIDANCE_BLOCK, errors_of=_errors_of
    )


def _errors_of(error: InvalidArgs, state: RunState | None) -> Mapping[str, str]:
    asked = state.approvals[ApprovalId(error.approval_id)].requested if state else None
    if state is None or asked is None or asked.call_id is None:
        return {}
    return steer_errors(error.errors, state.call(asked.call_id))
