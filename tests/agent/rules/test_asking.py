"""The questions to people about a call: each of their fields."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import JsonValue

from agent.errors import Blocked
from agent.rules.asking import ask_about, ask_what_happened
from agent.rules.binding import binding_hash, digest
from agent.rules.calls import Call
from agent.rules.ids import CallId
from agent.rules.parts import Approvers, Patience
from tests.agent.rules.deciding import A1, A2
from tests.agent.rules.happenings import CAROL, HOUR, LEGAL, escalated, waits
from tests.agent.rules.histories import (
    BEGAN,
    FINANCE,
    GROUP,
    PARAMETERS,
    REFUND,
    STAGES,
    History,
    asked,
    begun,
    judged,
    previewed,
    proposed_call,
    replied,
    waiting,
)


def call_of(history: History) -> Call:
    return history.state.call(CallId("call_1"))


def test_a_question_shows_what_its_call_and_its_verdict_say() -> None:
    question = ask_about(call_of(waiting()), A2, GROUP, BEGAN)
    assert question == asked(1, approval=2, supersedes=1)


def test_a_yes_is_a_yes_to_the_preview_too() -> None:
    history = begun().then(replied(1)).then(judged(1, "ask", can_preview=True))
    shown = call_of(history.then(previewed(1, "$180 to Ann")))
    question = ask_about(shown, A1, GROUP, BEGAN)
    assert question.preview == "$180 to Ann"
    assert question.hash == binding_hash(
        "process_refund", digest(PARAMETERS), REFUND, "$180 to Ann"
    )
    assert question.hash != ask_about(call_of(history), A1, GROUP, BEGAN).hash


PATIENCE = Patience(expires=HOUR * 24, on_expiry="deny", escalate=(LEGAL, CAROL))


def test_a_question_waits_as_long_as_is_left_and_for_whoever_has_been_reached() -> None:
    call = call_of(waits(PATIENCE).then(escalated(1)))
    question = ask_about(call, A2, GROUP, BEGAN)
    assert question.expires_at == BEGAN + timedelta(hours=24)
    assert question.patience == Patience(expires=HOUR * 24, on_expiry="deny", escalate=(CAROL,))
    assert question.approvers.groups == ("S0FINANCE", "S0LEGAL")


def test_what_may_have_happened_is_asked_about_for_as_long_as_it_takes() -> None:
    question = ask_what_happened(call_of(waits(PATIENCE)), "no answer", A2, GROUP)
    assert (question.approval_kind, question.reason) == ("review", "no answer")
    assert (question.patience, question.expires_at) == (Patience(), None)
    assert (question.approvers, question.supersedes) == (FINANCE, A1)


def test_no_one_is_asked_about_a_call_that_was_never_judged() -> None:
    call = call_of(begun().then(replied(1)))
    with pytest.raises(Blocked) as raised:
        ask_about(call, A1, GROUP, BEGAN)
    assert (raised.value.code, str(raised.value)) == ("corrupt", "call_1 was never judged.")
    with pytest.raises(Blocked, match=r"call_1 was never judged\."):
        ask_what_happened(call, "no answer", A1, GROUP)


def asking(args: dict[str, JsonValue], approvers: Approvers = FINANCE) -> Call:
    history = begun().then(replied(proposed_call(1, "ask_user", args)))
    question = judged(
        1, "ask", args=args, effect="read", is_question=True, approvers=approvers, patience=PATIENCE
    )
    return call_of(history.then(question))


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        (STAGES, STAGES),
        ({**STAGES, "free_text": True}, {**STAGES, "free_text": True}),
        # With nothing to choose from it can only be answered freely.
        ({"question": "Why?"}, {"question": "Why?", "options": [], "free_text": True}),
        (
            {"question": "Why?", "options": None, "free_text": False},
            {"question": "Why?", "options": [], "free_text": True},
        ),
        # Who says nothing of free text, takes none beside the options.
        (
            {"question": "Which?", "options": ["a"]},
            {"question": "Which?", "options": ["a"], "free_text": False},
        ),
        # What else the model wrote is not shown.
        ({**STAGES, "colour": "red"}, STAGES),
    ],
)
def test_the_agents_own_question_shows_what_it_asks_and_how_to_answer(
    args: dict[str, JsonValue], shown: dict[str, JsonValue]
) -> None:
    question = ask_about(asking(args), A1, GROUP, BEGAN)
    assert question.approval_kind == "question"
    assert (question.args, question.reason) == (shown, shown["question"])
    assert (question.patience, question.expires_at) == (PATIENCE, BEGAN + HOUR * 24)


def test_the_agents_own_question_goes_to_the_requester_and_to_all_whom_the_policy_names() -> None:
    listed = Approvers(users=("U0CAROL",), groups=("S0FINANCE",), count=2, one_from_each=("S0X",))
    question = ask_about(asking(STAGES, listed), A1, GROUP, BEGAN)
    assert question.approvers == Approvers(
        users=("U0CAROL",), groups=("S0FINANCE", "S0X"), requester=True
    )
