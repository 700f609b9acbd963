"""The Steer modal, sent off: what is to be done instead, and what is said of it."""

from __future__ import annotations

from agent.errors import DecisionRefused, InvalidArgs, NotFound, StoreUnavailable
from agent.rules.decisions import Steer
from agent.rules.ids import ApprovalId
from agent.rules.state import RunState
from bot.slack.answering import Answer
from bot.slack.cards.approval import can_be_steered_to
from bot.slack.cards.modals import read_steer, steer_errors
from bot.slack.cards.refusals import LEFT_NOT_SHOWN, refusal_text, store_unavailable_text
from bot.slack.deciding import (
    UNDECIDED,
    decided_answer,
    decider_of,
    explain,
    explain_too_late,
    has_file,
    may_decide,
)
from bot.slack.ids import GUIDANCE_BLOCK
from bot.slack.ineligible import record_ineligible
from bot.slack.payloads import Submission
from bot.slack.people import NotEligible
from bot.slack.services import Services


async def decide_by_modal(
    services: Services, approval_id: ApprovalId, submission: Submission
) -> Answer:
    """Steer as the modal says. What is wrong stands at its field, and nothing is decided."""
    actor, state, call = submission.actor, None, None
    errors: dict[str, str] = {}
    try:
        await services.people.member(actor.user, actor.team)
        approval, state = await services.runtime.approval(approval_id)
        if approval.requested.call_id is None:
            raise NotFound("approval", approval_id)
        call = state.call(approval.requested.of_call)
        args, guidance, errors = read_steer(submission.values, call, approval)
        # With a wrong field it must still be said that they may not, or are too late; an empty
        # steer is never carried out.
        decision = Steer() if errors else Steer(args, guidance)
        also = _groups_of(services, state)
        decider = await decider_of(services, approval, state, actor, also)
        is_theirs_now = approval.status == "pending" and may_decide(approval, state, decider)
        # What they have changed they have seen, and the file shows what they have left.
        if (
            decision.args
            and is_theirs_now
            and not can_be_steered_to(approval, call, decision.args)
            and not await has_file(services, approval, state, actor)
        ):
            # Sent off, it would be a yes to the rest as well. The modal stays.
            return Answer(errors={GUIDANCE_BLOCK: LEFT_NOT_SHOWN})
        state = await services.runtime.decide(approval_id, decision, decider)
    except InvalidArgs as error:
        found = errors or (steer_errors(error.errors, call) if call else {})
        return Answer(errors=found) if found else Answer(text=refusal_text(error))
    except StoreUnavailable:
        # The modal stays, with everything that was typed.
        run_id = state.run_id if state else None
        return Answer(errors={GUIDANCE_BLOCK: store_unavailable_text(run_id)})
    except (DecisionRefused, NotFound) as error:
        return Answer(text=await explain_too_late(services, error, approval_id))
    except NotEligible as error:
        await record_ineligible(services, approval_id, lambda _: Steer(), actor, error)
        return Answer(text=await explain(services, error, approval_id))
    except UNDECIDED as error:
        return Answer(text=await explain(services, error, approval_id))
    return Answer(if_late=decided_answer(state, approval_id).if_late)


def _groups_of(services: Services, state: RunState) -> set[str]:
    """The groups that a changed call may be asked of."""
    groups: set[str] = set()
    if agent := services.runtime.agents.get(state.agent):
        groups.update(agent.policy.owners.groups)
        for rule in agent.policy.rules:
            groups.update(rule.one_from_each or ())
            for people in (rule.approvers, *(rule.escalate or ())):
                groups.update(people.groups if people else ())
    return groups
