"""What an agent asks people: the answers that they choose, and those that they write."""

from __future__ import annotations

from agent.errors import DecisionRefused, InvalidArgs, NotFound, StoreUnavailable
from agent.rules.decisions import Answer as AnswerIt
from agent.rules.ids import ApprovalId
from agent.rules.state import Approval
from bot.slack.answering import Answer
from bot.slack.cards.modals import read_answer
from bot.slack.cards.question import options_of
from bot.slack.cards.refusals import refusal_text, store_unavailable_text
from bot.slack.deciding import UNDECIDED, decided_answer, decider_of, explain, explain_too_late
from bot.slack.ids import ANSWER_BLOCK
from bot.slack.ineligible import record_ineligible
from bot.slack.payloads import Click, Submission
from bot.slack.people import NotEligible
from bot.slack.services import Services

_NOTHING_WRITTEN = "Write an answer."


def chosen_option(click: Click, approval: Approval) -> AnswerIt:
    """The option that was chosen, or that the button stands for; a forged number stands for none, and is
    refused as an empty answer is."""
    _, _, of_button = click.action_id.partition(":")
    number = of_button if click.chosen is None else click.chosen
    options = options_of(approval)
    is_one = number.isascii() and number.isdecimal() and 0 < int(number) <= len(options)
    return AnswerIt(options[int(number) - 1] if is_one else "")


async def answer_by_modal(
    services: Services, approval_id: ApprovalId, submission: Submission
) -> Answer:
    """Answer as the modal says. Where it can't be, that stands at the input, and the modal stays."""
    actor, written, state = submission.actor, read_answer(submission.values), None
    try:
        await services.people.member(actor.user, actor.team)
        approval, state = await services.runtime.approval(approval_id)
        decider = await decider_of(services, approval, state, actor)
        # Also an empty answer is sent: that they may not, or are too late, comes before.
        answer = AnswerIt(written)
        state = await services.runtime.decide(approval_id, answer, decider, seen=state)
    except InvalidArgs as error:
        told = refusal_text(error, state) if written else _NOTHING_WRITTEN
        return Answer(errors={ANSWER_BLOCK: told})
    except StoreUnavailable:
        run_id = state.run_id if state else None
        return Answer(errors={ANSWER_BLOCK: store_unavailable_text(run_id, what="answered")})
    except (DecisionRefused, NotFound) as error:
        return Answer(text=await explain_too_late(services, error, approval_id))
    except NotEligible as error:
        await record_ineligible(services, approval_id, lambda _: AnswerIt(written), actor, error)
        return Answer(text=await explain(services, error, approval_id))
    except UNDECIDED as error:
        return Answer(text=await explain(services, error, approval_id))
    return Answer(if_late=decided_answer(state, approval_id).if_late)
