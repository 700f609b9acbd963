"""What may have been done is not said to be undone."""

from __future__ import annotations

import pytest

from agent.errors import CommitInDoubt, StoreUnavailable
from agent.rules.ids import ApprovalId
from agent.rules.state import RunState
from bot.slack.answering import WENT_WRONG, Answer
from bot.slack.outcomes import Held, explain, outcome_of
from tests.bot.slack.workspace import Bot

APPROVAL = ApprovalId("apr_1")


async def meets(error: Exception) -> RunState:
    raise error


async def test_only_what_is_known_to_be_undone_is_said_to_be(bot: Bot) -> None:
    held = await outcome_of(bot.services, APPROVAL, meets(StoreUnavailable("away")))
    assert isinstance(held, Held)
    assert "Nothing has changed" in await explain(bot.services, held)
    with pytest.raises(CommitInDoubt):
        await outcome_of(bot.services, APPROVAL, meets(CommitInDoubt("an answer was lost")))


async def test_whoever_did_it_is_told_that_it_can_not_be_said(bot: Bot) -> None:
    async def decide() -> Answer:
        await outcome_of(bot.services, APPROVAL, meets(CommitInDoubt("an answer was lost")))
        return Answer()

    told = await bot.services.answering.ended(decide(), APPROVAL, Answer(text=WENT_WRONG))
    assert "we can't say whether this was done" in told.text
