"""Steering by arguments: another call, validated and judged again."""

from __future__ import annotations

import pytest

from agent.errors import InvalidArgs
from agent.rules.binding import binding_hash, digest
from agent.rules.decisions import Approve, Steer
from agent.rules.events import ApprovalDecided, ApprovalRequested, CallJudged, CallLookedUp
from agent.rules.ids import ApprovalId
from agent.rules.parts import Approvers
from agent.rules.steps import PreviewCalls, RequestApprovals, StartCalls, next_step
from tests.agent.rules.deciding import A1, decided, take
from tests.agent.rules.histories import (
    AS_ALICE,
    AS_FRANK,
    BOB,
    PARAMETERS,
    REFUND,
    TWO_OF_FINANCE,
    History,
    asked,
    begun,
    judged,
    looked_up,
    replied,
    started,
    steered,
    waiting,
)
from tests.agent.rules.judges import RefundJudge


def test_steering_to_what_is_allowed_runs_without_asking_again() -> None:
    events = take(waiting(), Steer({"amount": 90}))
    smaller = {**REFUND, "amount": 90}
    assert events == (
        decided(action="steer", args=smaller),
        RefundJudge()("process_refund", smaller).of(waiting().state.open_calls[0].id),
    )
    history = waiting().then(*events)
    (call,) = history.state.open_calls
    assert next_step(history.state, history.now) == StartCalls((call.id,))
    assert (call.args, call.original_args, call.steered_by) == (smaller, REFUND, BOB)


def test_steering_to_what_the_steerer_may_decide_is_their_yes_to_it() -> None:
    history = waiting()
    steer, judgement, question, yes = events = take(history, Steer({"amount": 150}))
    assert isinstance(steer, ApprovalDecided)
    assert isinstance(judgement, CallJudged)
    assert isinstance(question, ApprovalRequested)
    assert question.supersedes == A1
    assert question.args == {**REFUND, "amount": 150}
    assert question.hash == binding_hash(
        "process_refund", digest(PARAMETERS), {**REFUND, "amount": 150}, None
    )
    assert yes == decided(ApprovalId("apr_next"), action="approve")
    history = history.then(*events)
    assert isinstance(next_step(history.state, history.now), StartCalls)
    old, new = history.state.approvals.values()
    assert (old.status, old.superseded_by) == ("steered", "apr_next")
    assert new.status == "approved"


def test_steering_to_what_others_decide_asks_them() -> None:
    others = RefundJudge(approvers=Approvers(groups=("S0BOARD",)))
    events = take(waiting(), Steer({"amount": 150}), judge=others)
    assert [event.kind for event in events] == ["approval_decided", "call_judged"]
    history = waiting().then(*events)
    assert isinstance(next_step(history.state, history.now), RequestApprovals)


@pytest.mark.parametrize(
    "judge",
    [
        # Their yes alone is not enough,
        RefundJudge(approvers=TWO_OF_FINANCE),
        RefundJudge(approvers=Approvers(one_from_each=("S0FINANCE", "S0LEGAL"))),
        # or its tool has yet to say what would happen.
        RefundJudge(can_preview=True),
        RefundJudge(can_preview=True, preview_must_match=True),
    ],
)
def test_what_takes_more_than_the_steerers_yes_is_left_to_be_asked(judge: RefundJudge) -> None:
    events = take(waiting(), Steer({"amount": 150}), judge=judge)
    assert [event.kind for event in events] == ["approval_decided", "call_judged"]
    history = waiting().then(*events)
    (call,) = history.state.open_calls
    wanted = PreviewCalls((call.id,)) if judge.can_preview else RequestApprovals((call.id,))
    assert next_step(history.state, history.now) == wanted


def test_a_steer_ends_the_question_whatever_votes_it_had() -> None:
    """They were for other arguments."""
    history = waiting(TWO_OF_FINANCE)
    history = history.then(*take(history, Approve(), AS_FRANK))
    events = take(history, Steer({"amount": 150}), judge=RefundJudge(approvers=TWO_OF_FINANCE))
    state = history.then(*events).then(asked(1, approval=2, approvers=TWO_OF_FINANCE)).state
    (approval,) = state.open_approvals
    assert approval.votes == ()


def test_whoever_asked_for_the_run_gives_no_yes_by_steering() -> None:
    """May decide the first question by its rule, but not the one that follows."""
    both = Approvers(users=("U0ALICE",), requester=True)
    history = begun().then(replied(1)).then(judged(1, "ask")).then(asked(1, approvers=both))
    strict = RefundJudge(approvers=Approvers(users=("U0ALICE",)))
    events = take(history, Steer({"amount": 150}), AS_ALICE, judge=strict)
    assert [event.kind for event in events] == ["approval_decided", "call_judged"]


def test_arguments_that_are_not_given_stay() -> None:
    (steer, *_) = take(waiting(), Steer({"order": "ORD-7"}))
    assert steer == decided(action="steer", args={"order": "ORD-7", "amount": 180})


@pytest.mark.parametrize(
    ("steer", "errors"),
    [
        (Steer({"amount": "abc"}), {"amount": "Enter a number, such as 90 or 90.50."}),
        (Steer({"amount": 5_000}), {"amount": "Not allowed: over the threshold"}),
        (Steer(dict(REFUND)), {"guidance": "Change a value or give guidance."}),
        (Steer({"amount": 180.0}), {"guidance": "Change a value or give guidance."}),
        (Steer({}), {"guidance": "Change a value or give guidance."}),
        (Steer(guidance=" "), {"guidance": "Change a value or give guidance."}),
        (
            Steer({"amount": 90}, "and hurry"),
            {"guidance": "Change the values or give guidance, not both."},
        ),
    ],
)
def test_a_steer_that_can_not_be_carried_out_says_so_at_its_field(
    steer: Steer, errors: dict[str, str]
) -> None:
    with pytest.raises(InvalidArgs) as raised:
        take(waiting(), steer)
    assert raised.value.errors == errors


def asked_anew(receipt: CallLookedUp | None = None) -> History:
    """A refund that had begun and was not heard of, or looked up, is asked about once more."""
    history = started("idempotent" if receipt is None else "once")
    history = history.then(receipt) if receipt else history
    return history.then(judged(1, "ask", again_because="stricter")).then(asked(1))


def test_what_may_have_happened_is_not_changed_under_its_operation_id() -> None:
    with pytest.raises(InvalidArgs, match="may have happened as it was: approve or deny it"):
        take(asked_anew(), Steer({"amount": 90}))


def test_what_may_have_happened_can_be_given_guidance() -> None:
    (said,) = take(asked_anew(), Steer(guidance="ask the customer"))
    assert said == decided(action="steer", guidance="ask the customer")


def test_what_began_and_did_not_happen_can_be_changed() -> None:
    assert take(asked_anew(looked_up(1)), Steer({"amount": 90}))


def test_a_refused_steer_is_told_at_the_changed_fields_only() -> None:
    with pytest.raises(InvalidArgs) as raised:
        take(waiting(), Steer({"order": "ORD-3300", "amount": 5_000}))
    assert list(raised.value.errors) == ["amount"]


def test_true_is_a_change_of_one() -> None:
    """In Python they are equal; to a tool they are not."""
    history = begun().then(replied(1)).then(judged(1, "ask", args={**REFUND, "flag": 1}))
    history = history.then(asked(1))
    assert take(history, Steer({"flag": True}))


def test_a_second_steer_keeps_what_the_model_proposed() -> None:
    history = waiting().then(*take(waiting(), Steer({"amount": 150})))
    history = history.then(judged(1, "ask", args={**REFUND, "amount": 150}))
    history = history.then(asked(1, approval=3, supersedes=1))
    history = history.then(*take(history, Steer({"amount": 90}), approval=ApprovalId("apr_3")))
    (call,) = history.state.open_calls
    assert (call.args["amount"], call.original_args) == (90, REFUND)


def test_what_had_no_arguments_at_first_is_remembered_as_such() -> None:
    history = begun().then(replied(1)).then(judged(1, "ask", args={})).then(asked(1))
    history = history.then(steered(1, {"amount": 1})).then(asked(1, approval=2))
    (call,) = history.then(steered(2, {"amount": 2})).state.open_calls
    assert call.original_args == {}
