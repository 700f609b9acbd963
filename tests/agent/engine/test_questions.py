"""An agent asks people something, and goes on with the answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent import Answer, Decider, Principal, ask_user
from agent.errors import InvalidArgs, NotAllowed
from agent.rules.transcript import ToolMessage
from tests.agent.engine.bench import ALICE, OPERATOR, bench, calls, says

QUESTION = '{"question": "How much?", "options": ["all", "half"], "free_text": false}'
ASKED = Decider(ALICE, user="U0ALICE")
ROBOT = Decider(Principal("api:robot"))


async def test_a_run_waits_for_the_answer_and_the_model_is_told_it(tmp_path: Path) -> None:
    async with bench(tmp_path, [ask_user], [calls(("ask_user", QUESTION)), says("fine")]) as b:
        run_id = await b.start()
        await b.work()
        [(question, _)] = await b.runtime.approvals()
        assert (question.kind, question.requested.args["question"]) == ("question", "How much?")
        after = await b.runtime.decide(question.id, Answer("half"), ASKED)
        assert after.approvals[question.id].status == "answered"
        await b.work()
        assert (await b.runtime.state(run_id)).answer == "fine"
        told = b.model.requests[-1].messages[-1]
        assert isinstance(told, ToolMessage)
        assert "half" in told.output


async def test_only_what_was_offered_can_be_chosen_where_own_words_are_not_asked_for(
    tmp_path: Path,
) -> None:
    async with bench(tmp_path, [ask_user], [calls(("ask_user", QUESTION)), says("fine")]) as b:
        await b.start()
        await b.work()
        [(question, _)] = await b.runtime.approvals()
        with pytest.raises(InvalidArgs):
            await b.runtime.decide(question.id, Answer("a third"), ASKED)
        with pytest.raises(NotAllowed):
            await b.runtime.decide(question.id, Answer("half"), ROBOT)
        assert (await b.runtime.approval(question.id))[0].status == "pending"


async def test_a_question_without_options_takes_any_words(tmp_path: Path) -> None:
    question = '{"question": "Why?", "free_text": false}'
    async with bench(tmp_path, [ask_user], [calls(("ask_user", question)), says("fine")]) as b:
        await b.start()
        await b.work()
        [(asked, _)] = await b.runtime.approvals()
        after = await b.runtime.decide(asked.id, Answer("because"), OPERATOR)
        [call] = after.calls.values()
        assert call.result is not None
        assert (call.result.outcome, call.result.output) == ("answered", "because")
