"""What an agent asks people: the answers that they choose, and those that they write."""

from __future__ import annotations

from agent.rules.decisions import Answer as AnswerIt
from agent.rules.ids import ApprovalId
from agent.rules.state import Approval
from bot.slack.answering import Answer
from bot.slack.cards.modals import read_answer
from bot.slack.cards.question import options_of
from bot.slack.cards.refusals import refusal_text
from bot.slack.deciding import Meant, attempt
from bot.slack.ids import ANSWER_BLOCK
from bot.slack.outcomes import answer_submission
from bot.slack.payloads import Click, Submission
from bot.slack.services import Services

_NOTHING_WRITTEN = "Write an answer."


def chosen_option(click: Click, approval: Approval) -> AnswerIt:
    """The option that was chosen, or that the button stands for; a forged number stands for none, and is
    refused as an empty answer is."""
    of_button = click.action_id.split(":")[1] if ":" in click.action_id else ""
    number = of_button if click.chosen is None else click.chosen
    options = options_of(approval)
    is_one = number.isascii() and number.isdecimal() and 0 < int(number) <= len(options)
    return AnswerIt(options[int(number) - 1] if is_one else "")


async def answer_by_modal(
    services: Services, approval_id: ApprovalId, submission: Submission
) -> Answer:
    """Answer as the modal says. Where it can't be, that stands at the input, and the modal stays."""
    written = read_answer(submission.values)
    mistakes = {} if written else {ANSWER_BLOCK: _NOTHING_WRITTEN}
    meant = Meant(AnswerIt(written), mistakes)
    outcome = await attempt(services, approval_id, submission.actor, lambda *_: meant)
    return await answer_submission(
        services,
        outcome,
        approval_id,
        block_id=ANSWER_BLOCK,
        errors_of=lambda error, state: {ANSWER_BLOCK: refusal_text(error, state)},
        what="answered",
    )
