"""What a person is told whose click decided nothing."""

from __future__ import annotations

import pytest

from agent.errors import (
    AlreadyDecided,
    AlreadyVoted,
    ApprovalCancelled,
    ApprovalExpired,
    DecisionRefused,
    InvalidArgs,
    NotAllowed,
    NotFound,
    Superseded,
)
from agent.rules.consent import Missing
from agent.rules.events import RunFailed
from agent.rules.ids import ApprovalId
from agent.rules.parts import Approvers
from bot.slack.cards.refusals import (
    closed_error,
    refusal_text,
    saving_text,
    store_unavailable_text,
    too_late_to_send,
)
from tests.agent.rules.histories import (
    ALICE,
    BEGAN,
    BOB,
    FINANCE,
    History,
    answered,
    approved,
    asked,
    denied,
    in_review,
    reopened,
    returned,
    settled,
    waiting,
)
from tests.bot.cards.stories import ONE_EACH, questioned


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            NotAllowed("apr_1", FINANCE, "why"),
            "Not decided: only <!subteam^S0FINANCE> can decide this, and not the person who asked.",
        ),
        (
            NotAllowed("apr_1", Approvers(users=("U1", "U2"), requester=True), "why"),
            "Not decided: only <@U1> and <@U2> can decide this.",
        ),
        (
            NotAllowed("apr_1", Approvers(), "why"),
            "Not decided: only the operator can decide this, on the command line.",
        ),
        (
            AlreadyDecided("apr_1", "approved", BOB, BEGAN),
            "Too late: <@U0BOB> approved this at <!date",
        ),
        (
            NotAllowed("apr_1", ONE_EACH, "why"),
            "Not decided: only <!subteam^S0FINANCE> and <!subteam^S0LEGAL> can decide this",
        ),
        (
            AlreadyVoted("apr_1", BOB, BEGAN, Missing(1, ("S0LEGAL",))),
            "Your yes is counted; one more is needed, from <!subteam^S0LEGAL>.",
        ),
        (Superseded("apr_1", "apr_2"), "Not decided: this was replaced by a newer question"),
        (ApprovalExpired("apr_1", BEGAN), "Not decided: this expired <!date"),
        (
            ApprovalCancelled("apr_1"),
            "Not decided: what it was about has ended meanwhile; there is nothing left to decide.",
        ),
        (InvalidArgs("apr_1", {"amount": "<b> too much"}), "Not decided: &lt;b&gt; too much"),
        (NotFound("approval", "apr_1"), "Not decided: we know of no such question."),
    ],
)
def test_a_refusal_says_why(error: DecisionRefused | NotFound, told: str) -> None:
    assert refusal_text(error).startswith(told)


def test_a_cancelled_one_says_how_the_run_ended() -> None:
    state = waiting().then(RunFailed(error="x")).state
    assert "its run has failed" in refusal_text(ApprovalCancelled("apr_1"), state)


def test_what_a_run_that_was_taken_on_again_left_open_is_asked_again() -> None:
    state = waiting().then(RunFailed(error="x")).then(reopened()).state
    told = refusal_text(ApprovalCancelled("apr_1"), state)
    assert told.startswith("Not decided: its run had failed and was taken on again")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            NotAllowed("apr_1", Approvers(groups=("S0FINANCE",), requester=True), "why"),
            "Not answered: only <@U0ALICE> and <!subteam^S0FINANCE> can answer this.",
        ),
        (
            AlreadyDecided("apr_1", "answered", ALICE, BEGAN),
            "Too late: <@U0ALICE> answered this at <!date",
        ),
        (ApprovalExpired("apr_1", BEGAN), "Not answered: this expired <!date"),
        (InvalidArgs("apr_1", {"text": "Choose one of: a, b."}), "Not answered: Choose one of"),
        (
            InvalidArgs("apr_1", {"action": "This is a question: answer it."}),
            "Not answered: this is a question of the agent's, and there is nothing to approve",
        ),
    ],
)
def test_a_refused_answer_is_not_called_a_decision(error: DecisionRefused, told: str) -> None:
    assert refusal_text(error, questioned().state).startswith(told)


def test_what_expired_is_not_said_not_to_have_happened() -> None:
    """What was begun, lost and asked about anew may have, and a budget's question is no call."""
    error = ApprovalExpired("apr_1", BEGAN)
    for told in (str(error), refusal_text(error), refusal_text(error, waiting().state)):
        assert "did not happen" not in told


def test_a_late_steer_is_told_that_nothing_was_sent() -> None:
    told = too_late_to_send(AlreadyDecided("apr_1", "approved", BOB, BEGAN))
    assert told.startswith("<@U0BOB> approved this at <!date")
    assert told.endswith("Nothing of yours was sent.")


def test_what_is_not_known_is_not_said() -> None:
    assert saving_text(ApprovalId("apr_1")).endswith("You'll be told here. (apr_1)")
    assert "Nothing has changed" in store_unavailable_text()


def test_whoever_asked_is_not_named_as_one_who_can_decide() -> None:
    listed = Approvers(users=("U0BOB", "U0ALICE", "U0FRANK"), count=2)
    told = refusal_text(NotAllowed("apr_1", listed, "why"), waiting(listed).state)
    assert told == (
        "Not decided: only <@U0BOB> and <@U0FRANK> can decide this, and not the person who asked."
    )
    others = Approvers(users=("U0BOB",))
    told = refusal_text(NotAllowed("apr_1", others, "why"), waiting(others).state)
    assert told == "Not decided: only <@U0BOB> can decide this."
    alone = Approvers(users=("U0ALICE",))
    told = refusal_text(NotAllowed("apr_1", alone, "why"), waiting(alone).state)
    assert told == "Not decided: only the operator can decide this, on the command line."


def test_a_question_closed_by_a_late_answer_does_not_say_that_its_run_has_ended() -> None:
    state = in_review().then(returned(1)).state
    told = refusal_text(ApprovalCancelled("apr_2"), state)
    assert told == (
        "Not decided: what became of it is known meanwhile; there is nothing left to decide."
    )
    over = in_review().then(RunFailed(error="x")).then(returned(1)).state
    assert refusal_text(ApprovalCancelled("apr_2"), over) == told


@pytest.mark.parametrize(
    ("history", "told"),
    [
        (waiting().then(approved(1)), "Too late: <@U0BOB> approved this at <!date"),
        (waiting().then(denied(1)), "Too late: <@U0BOB> denied this at <!date"),
        (questioned().then(answered(1, "$50")), "Too late: <@U0ALICE> answered this at <!date"),
        (in_review().then(settled(2, "happened")), "Too late: <@U0BOB> settled this at <!date"),
        (
            waiting().then(asked(1, approval=2, supersedes=1)),
            "Not decided: this was replaced by a newer question, further down in its thread.",
        ),
        (
            questioned().then(RunFailed(error="x")),
            "Not answered: its run has failed; there is nothing left to decide.",
        ),
    ],
)
def test_who_comes_too_late_is_told_who_did_what_and_nothing_of_what_was_written(
    history: History, told: str
) -> None:
    state = history.state
    closed = [one for one in state.approvals.values() if one.status != "pending"][-1]
    said = refusal_text(closed_error(closed, state), state)
    assert said.startswith(told)
    assert "$" not in said
