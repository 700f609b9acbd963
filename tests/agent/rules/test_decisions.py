"""What a decision amounts to: events, or exactly one refusal."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from agent.errors import (
    AlreadyDecided,
    ApprovalCancelled,
    ApprovalExpired,
    DecisionRefused,
    InvalidArgs,
    NotAllowed,
    NotFound,
    Superseded,
)
from agent.rules.decisions import Answer, Approve, Decider, Decision, Deny, Settle, Steer, why_not
from agent.rules.events import ApprovalDecided, RunFailed
from agent.rules.ids import ApprovalId, Principal
from agent.rules.parts import Approvers, SettleOutcome
from tests.agent.rules.deciding import (
    A1,
    A2,
    EXPIRES,
    blind,
    decided,
    expiring,
    reviewed_after_its_end,
    take,
)
from tests.agent.rules.histories import (
    ALICE,
    AS_ALICE,
    AS_BOB,
    AS_CAROL,
    AS_OPERATOR,
    BOB,
    REFUND,
    SECOND,
    TWO_OF_FINANCE,
    History,
    approved,
    asked,
    call_started,
    denied,
    in_review,
    judged,
    left_unknown,
    questioned,
    returned,
    steered,
    waiting,
)


def replaced() -> History:
    return waiting().then(judged(1, "ask")).then(asked(1, approval=2, supersedes=1))


@pytest.mark.parametrize(
    ("history", "decision", "event"),
    [
        (waiting(), Approve(), decided(action="approve")),
        (waiting(), Approve("fine"), decided(action="approve", note="fine")),
        (waiting(), Approve("  "), decided(action="approve")),
        (waiting(), Deny(), decided(action="deny")),
        (waiting(), Deny(" too much "), decided(action="deny", reason="too much")),
        (waiting(), Deny(" \n"), decided(action="deny")),
        (waiting(), Steer(guidance=" ask "), decided(action="steer", guidance="ask")),
        (waiting(), Steer({}, "ask"), decided(action="steer", guidance="ask")),
        (in_review(), Settle("happened"), decided(A2, action="settle", outcome="happened")),
        (in_review(), Settle("not_happened"), decided(A2, action="settle", outcome="not_happened")),
        (in_review(), Settle("check"), decided(A2, action="settle", outcome="check")),
        (in_review(), Settle("give_up"), decided(A2, action="settle", outcome="give_up")),
    ],
)
def test_a_decision_that_changes_no_arguments_is_one_event(
    history: History, decision: Decision, event: ApprovalDecided
) -> None:
    assert take(history, decision, approval=event.approval_id) == (event,)


@pytest.mark.parametrize(
    ("history", "approval", "decider", "decision", "refusal"),
    [
        # Unknown comes before authority,
        (waiting(), ApprovalId("apr_9"), AS_CAROL, Approve(), NotFound),
        # authority before state,
        (waiting().then(approved(1)), A1, AS_CAROL, Approve(), NotAllowed),
        (waiting().then(approved(1)), A1, AS_ALICE, Approve(), NotAllowed),
        (replaced(), A1, AS_CAROL, Approve(), NotAllowed),
        (waiting().then(RunFailed(error="x")), A1, AS_CAROL, Approve(), NotAllowed),
        # state before arguments,
        (waiting().then(approved(1)), A1, AS_BOB, Steer(), AlreadyDecided),
        (waiting().then(denied(1)), A1, AS_BOB, Settle("check"), AlreadyDecided),
        (waiting().then(steered(1, REFUND)), A1, AS_BOB, Approve(), AlreadyDecided),
        (replaced(), A1, AS_BOB, Steer(), Superseded),
        (waiting().then(RunFailed(error="x")), A1, AS_BOB, Steer(), ApprovalCancelled),
        # and then the arguments.
        (waiting(), A1, AS_CAROL, Steer({"amount": "abc"}), NotAllowed),
        (waiting(), A1, AS_BOB, Steer({"amount": "abc"}), InvalidArgs),
        (waiting(), A1, AS_BOB, Steer(), InvalidArgs),
        (waiting(), A1, AS_BOB, Settle("happened"), InvalidArgs),
        (in_review(), A2, AS_BOB, Approve(), InvalidArgs),
        (in_review(), A2, AS_BOB, Deny(), InvalidArgs),
        (in_review(), A2, AS_BOB, Steer(guidance="x"), InvalidArgs),
        (in_review(), A1, AS_BOB, Approve(), AlreadyDecided),
    ],
)
def test_refusals_come_in_the_order_unknown_authority_state_arguments(
    history: History,
    approval: ApprovalId,
    decider: Decider,
    decision: Decision,
    refusal: type[Exception],
) -> None:
    with pytest.raises((DecisionRefused, NotFound)) as raised:
        take(history, decision, decider, approval)
    assert type(raised.value) is refusal


def test_the_loser_learns_who_decided_what_and_when() -> None:
    history = waiting().then(denied(1))
    with pytest.raises(AlreadyDecided) as raised:
        take(history, Approve())
    assert (raised.value.action, raised.value.by, raised.value.at) == ("denied", BOB, history.now)


def test_a_replaced_question_names_the_newer_one() -> None:
    with pytest.raises(Superseded) as raised:
        take(replaced(), Approve())
    assert raised.value.superseded_by == A2


def test_an_approval_expires_at_its_instant() -> None:
    assert take(expiring(), Approve(), now=EXPIRES - timedelta(microseconds=1))
    with pytest.raises(ApprovalExpired) as raised:
        take(expiring(), Approve(), now=EXPIRES)
    assert raised.value.expires_at == EXPIRES


def test_a_decided_approval_is_never_told_to_have_expired() -> None:
    with pytest.raises(AlreadyDecided):
        take(expiring().then(approved(1)), Approve(), now=EXPIRES + SECOND)


IN_FINANCE = frozenset({"S0FINANCE"})


@pytest.mark.parametrize(
    ("approvers", "decider", "may"),
    [
        (Approvers(groups=("S0FINANCE",)), AS_BOB, True),
        (Approvers(users=("U0BOB",)), AS_BOB, True),
        (Approvers(users=("U0BOB",)), AS_CAROL, False),
        (Approvers(groups=("S0OTHER",)), AS_BOB, False),
        (Approvers(groups=("S0FINANCE",)), Decider(BOB, user="U0BOB"), False),
        # A group's id is not a user's, and the other way round.
        (Approvers(users=("S0FINANCE",)), AS_BOB, False),
        (Approvers(groups=("U0BOB",)), AS_BOB, False),
        # Nobody named: the operator alone.
        (Approvers(), AS_BOB, False),
        (Approvers(), Decider(BOB), False),
        (Approvers(), AS_OPERATOR, True),
        # The one who asked, only where the rule says so, and then only as one of those named.
        (Approvers(users=("U0ALICE",)), AS_ALICE, False),
        (Approvers(users=("U0ALICE",), requester=True), AS_ALICE, True),
        (Approvers(groups=("S0FINANCE",), requester=True), AS_ALICE, False),
        (Approvers(groups=("S0FINANCE",)), replace(AS_ALICE, groups=IN_FINANCE), False),
        # Someone for whom another speaks is checked as themselves.
        (Approvers(users=("U0BOB",)), replace(AS_CAROL, claimed_by=AS_OPERATOR.principal), False),
    ],
)
def test_who_may_decide(approvers: Approvers, decider: Decider, may: bool) -> None:
    assert (why_not(approvers, [ALICE], decider) is None) == may


def test_an_operator_may_decide_what_they_asked_for_themselves() -> None:
    assert why_not(Approvers(), [AS_OPERATOR.principal], AS_OPERATOR) is None


@pytest.mark.parametrize(
    ("approvers", "decider", "why"),
    [
        (
            Approvers(users=("U0BOB",), one_from_each=("S0LEGAL",)),
            AS_CAROL,
            "you are not among those who may decide this. Ask one of: U0BOB, S0LEGAL.",
        ),
        (
            Approvers(users=("U0ALICE", "U0BOB")),
            AS_ALICE,
            "whoever asked for the run may not decide it. Ask one of: U0BOB.",
        ),
        (
            Approvers(),
            AS_BOB,
            "you are not among those who may decide this. Only the operator may, on the command line.",
        ),
    ],
)
def test_a_refusal_says_why_and_whom_to_ask(
    approvers: Approvers, decider: Decider, why: str
) -> None:
    assert why_not(approvers, [ALICE], decider) == why


def test_a_refused_person_learns_who_may_decide() -> None:
    with pytest.raises(NotAllowed) as raised:
        take(waiting(), Approve(), AS_CAROL)
    assert raised.value.may_decide == Approvers(groups=("S0FINANCE",))
    assert raised.value.why == "you are not among those who may decide this. Ask one of: S0FINANCE."
    assert str(raised.value) == f"Not decided: {raised.value.why}"


def test_whoever_speaks_for_somebody_is_recorded() -> None:
    claimed = replace(AS_BOB, claimed_by=Principal("cli:root"))
    assert take(waiting(), Approve(), claimed) == (
        decided(action="approve", claimed_by="cli:root"),
    )


def test_what_can_not_be_looked_up_is_not_checked_again() -> None:
    with pytest.raises(InvalidArgs, match="no way to look it up"):
        take(blind(), Settle("check"), approval=A2)


@pytest.mark.parametrize(
    ("history", "approval", "decision", "message"),
    [
        (waiting(), A1, Answer("yes"), "This is a call: approve, deny or steer it."),
        (waiting(), A1, Settle("happened"), "This is a call: approve, deny or steer it."),
        (questioned(), A1, Approve(), "This is a question: answer it."),
        (questioned(), A1, Deny("no"), "This is a question: answer it."),
        (questioned(), A1, Steer({"question": "?"}), "This is a question: answer it."),
        (questioned(), A1, Settle("check"), "This is a question: answer it."),
        (in_review(), A2, Approve(), "This is an effect that may have happened: settle it."),
        (in_review(), A2, Answer("yes"), "This is an effect that may have happened: settle it."),
    ],
)
def test_a_decision_of_the_wrong_kind_is_told_the_right_ones(
    history: History, approval: ApprovalId, decision: Decision, message: str
) -> None:
    with pytest.raises(InvalidArgs) as raised:
        take(history, decision, approval=approval)
    assert raised.value.errors == {"action": message}
    assert str(raised.value) == f"Not decided: {message}"


# An effect of which nobody knows


@pytest.mark.parametrize("outcome", ["happened", "give_up", "check"])
def test_a_review_can_be_settled_after_the_run_has_ended(outcome: SettleOutcome) -> None:
    (event,) = take(reviewed_after_its_end(), Settle(outcome), approval=A2)
    assert event == decided(A2, action="settle", outcome=outcome)


def test_nothing_is_run_any_more_after_the_run_has_ended() -> None:
    with pytest.raises(InvalidArgs) as raised:
        take(reviewed_after_its_end(), Settle("not_happened"), approval=A2)
    assert raised.value.errors == {
        "outcome": "Nothing of this run is run any more; say that it happened, or give up."
    }


def test_a_review_needs_one_word_whatever_the_rule_asks_for_a_yes() -> None:
    history = waiting(TWO_OF_FINANCE).then(approved(1))
    history = history.then(call_started(1, history.now)).then(left_unknown(1))
    review = asked(1, approval=2, kind="review", approvers=TWO_OF_FINANCE, supersedes=1)
    history = history.then(review)
    (event,) = take(history, Settle("happened"), approval=A2)
    assert history.then(event).state.open_approvals == ()


def test_a_review_whose_call_has_answered_after_all_has_nothing_left_to_settle() -> None:
    history = in_review().then(returned(1))
    with pytest.raises(ApprovalCancelled, match="there is nothing left to decide"):
        take(history, Settle("not_happened"), approval=A2)
