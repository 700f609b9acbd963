"""Answering the agent's questions."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from agent.errors import AlreadyDecided, ApprovalCancelled, InvalidArgs, NotAllowed
from agent.rules.decisions import Answer, Decider, why_not
from agent.rules.events import ApprovalDecided, RunFailed
from agent.rules.parts import Approvers
from agent.rules.steps import AskModel, Suspend, next_step
from tests.agent.rules.deciding import A1, take
from tests.agent.rules.histories import (
    ALICE,
    AS_ALICE,
    AS_BOB,
    AS_CAROL,
    AS_OPERATOR,
    FINANCE,
    STAGES,
    TWO_OF_FINANCE,
    answered,
    asked,
    questioned,
)

FREE: dict[str, JsonValue] = {"question": "Why?", "options": [], "free_text": True}
EITHER: dict[str, JsonValue] = {**STAGES, "free_text": True}


def test_an_answer_is_the_calls_result() -> None:
    history = questioned()
    assert next_step(history.state, history.now) == Suspend("approvals")
    (event,) = take(history, Answer("staging"), AS_ALICE)
    assert event == ApprovalDecided(
        approval_id=A1, by=ALICE, user="U0ALICE", action="answer", text="staging"
    )
    history = history.then(event)
    assert next_step(history.state, history.now) == AskModel()
    (call,) = history.state.calls.values()
    assert call.result is not None
    assert (call.result.outcome, call.result.output, call.result.by) == (
        "answered",
        "staging",
        ALICE,
    )
    (approval,) = history.state.approvals.values()
    assert approval.status == "answered"


@pytest.mark.parametrize(
    ("args", "text", "kept"),
    [
        (STAGES, "production", "production"),
        (STAGES, " production\n", "production"),
        (FREE, "  because it was late ", "because it was late"),
        (EITHER, "staging", "staging"),
        (EITHER, "the moon", "the moon"),
        # A question with nothing to choose from can only be answered freely.
        ({"question": "Why?"}, "because", "because"),
        ({"question": "Why?", "options": [], "free_text": False}, "because", "because"),
        ({"question": "Why?", "options": None}, "because", "because"),
        ({"question": "How many?", "options": [1, 2]}, "2", "2"),
    ],
)
def test_an_option_or_what_they_say_is_kept(
    args: dict[str, JsonValue], text: str, kept: str
) -> None:
    (event,) = take(questioned(args), Answer(text))
    assert isinstance(event, ApprovalDecided)
    assert event.text == kept


@pytest.mark.parametrize(
    ("args", "text", "message"),
    [
        (STAGES, "the moon", "Choose one of: staging, production."),
        (STAGES, "Staging", "Choose one of: staging, production."),
        (STAGES, "", "Choose one of: staging, production."),
        (FREE, " \n", "Say something."),
        (EITHER, "", "Say something, or choose one of: staging, production."),
    ],
)
def test_what_is_no_answer_is_told_how_to_answer(
    args: dict[str, JsonValue], text: str, message: str
) -> None:
    with pytest.raises(InvalidArgs) as raised:
        take(questioned(args), Answer(text))
    assert raised.value.errors == {"text": message}


@pytest.mark.parametrize(
    ("approvers", "decider", "may"),
    [
        (FINANCE, AS_ALICE, True),
        (FINANCE, AS_BOB, True),
        (FINANCE, AS_CAROL, False),
        (Approvers(), AS_ALICE, True),
        (Approvers(), AS_BOB, False),
        (Approvers(), AS_OPERATOR, True),
        (TWO_OF_FINANCE, AS_BOB, True),
    ],
)
def test_the_requester_and_whoever_is_listed_may_answer(
    approvers: Approvers, decider: Decider, may: bool
) -> None:
    assert (why_not(approvers, [ALICE], decider, "question") is None) == may


def test_the_requester_answers_questions_and_nothing_else() -> None:
    assert why_not(FINANCE, [ALICE], AS_ALICE, "call") is not None
    assert why_not(FINANCE, [ALICE], AS_ALICE, "review") is not None


def test_one_answer_suffices_whatever_a_yes_would_take() -> None:
    history = questioned().then(
        asked(1, approval=2, kind="question", args=STAGES, approvers=TWO_OF_FINANCE, supersedes=1)
    )
    (event,) = take(history, Answer("staging"), approval=history.state.open_approvals[0].id)
    assert history.then(event).state.open_approvals == ()


def test_an_answer_names_the_message_that_says_it() -> None:
    (event,) = take(questioned(), Answer("staging", "slack:T1:C1:1.2"))
    assert isinstance(event, ApprovalDecided)
    assert event.ref == "slack:T1:C1:1.2"


def test_the_second_answer_is_too_late() -> None:
    with pytest.raises(AlreadyDecided) as raised:
        take(questioned().then(answered(1, "staging")), Answer("production"))
    assert (raised.value.action, raised.value.by) == ("answered", ALICE)


def test_authority_comes_before_state_and_state_before_the_answer() -> None:
    with pytest.raises(NotAllowed):
        take(questioned().then(answered(1, "staging")), Answer("?"), AS_CAROL)
    with pytest.raises(NotAllowed):
        take(questioned(), Answer("?"), AS_CAROL)
    with pytest.raises(ApprovalCancelled):
        take(questioned().then(RunFailed(error="x")), Answer("?"))
