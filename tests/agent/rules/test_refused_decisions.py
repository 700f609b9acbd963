"""What a refused decision is told: of which approval, about which part of it, and in which words."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from agent.errors import (
    AlreadyVoted,
    ApprovalCancelled,
    ApprovalExpired,
    InvalidArgs,
    NotAllowed,
    NotFound,
)
from agent.rules.decisions import Answer, Approve, Decision, Deny, Settle, Steer
from agent.rules.events import ApprovalDecided, RunFailed
from agent.rules.grants import GrantWish
from agent.rules.ids import ApprovalId
from agent.rules.words import WORDS_LIMIT
from tests.agent.rules.deciding import (
    A1,
    A2,
    EXPIRES,
    blind,
    expiring,
    reviewed_after_its_end,
    take,
)
from tests.agent.rules.happenings import expired, out_of_calls, spent
from tests.agent.rules.histories import (
    AS_ALICE,
    AS_CAROL,
    AS_OPERATOR,
    SECOND,
    TWO_OF_FINANCE,
    History,
    in_review,
    questioned,
    voted,
    waiting,
)

MUCH = "x" * WORDS_LIMIT
TOO_MUCH = MUCH + "x"
NOT_IN_WORDS: Any = 7
NO_WISH: Any = "for ever"
NO_MAPPING: Any = ["amount"]
NO_OUTCOME: Any = "perhaps"


IN_WORDS = "Say it in words."
SHORTER = "Say it in at most 10,000 characters."
NO_DECISION = "That is no decision: approve, deny, steer, answer or settle."
NO_ARGUMENTS = "Give each new value by the name of its argument."
NO_WAY = "The tool has no way to look it up; say what happened, or give up."


@pytest.mark.parametrize(
    ("history", "decision", "errors"),
    [
        (waiting(), "yes", {"action": NO_DECISION}),
        (waiting(), None, {"action": NO_DECISION}),
        (waiting(), Approve, {"action": NO_DECISION}),
        (waiting(), Approve(NOT_IN_WORDS), {"note": IN_WORDS}),
        (waiting(), Deny(NOT_IN_WORDS), {"reason": IN_WORDS}),
        (waiting(), Steer(guidance=NOT_IN_WORDS), {"guidance": IN_WORDS}),
        (questioned(), Answer(NOT_IN_WORDS), {"text": IN_WORDS}),
        (waiting(), Approve(TOO_MUCH), {"note": SHORTER}),
        (waiting(), Deny(TOO_MUCH), {"reason": SHORTER}),
        (waiting(), Steer(guidance=TOO_MUCH), {"guidance": SHORTER}),
        (questioned(), Answer(TOO_MUCH), {"text": SHORTER}),
        (
            waiting(),
            Approve(grant=NO_WISH),
            {"grant": "Say where it is to hold: in its run, or thread."},
        ),
        (
            waiting(),
            Approve(grant=GrantWish("run", lasts=timedelta())),
            {"grant": "Say for how long, as more than no time at all."},
        ),
        (waiting(), Steer(NO_MAPPING), {"arguments": NO_ARGUMENTS}),
        (
            in_review(),
            Settle(NO_OUTCOME),
            {"outcome": "Say one of: happened, not_happened, check, give_up."},
        ),
        (
            out_of_calls(),
            Approve(more=0),
            {"more": "Say how much more, as a number above nothing."},
        ),
        # Each part that is wrong is named.
        (waiting(), Approve(NOT_IN_WORDS, grant=NO_WISH), {"note", "grant"}),
        (waiting(), Steer(NO_MAPPING, TOO_MUCH), {"arguments", "guidance"}),
    ],
)
def test_what_can_be_no_decision_is_told_what_is_wrong_with_which_part(
    history: History, decision: Any, errors: dict[str, str] | set[str]
) -> None:
    approval = A2 if isinstance(decision, Settle) else A1
    with pytest.raises(InvalidArgs) as raised:
        take(history, decision, AS_OPERATOR, approval)
    told = raised.value.errors
    assert (told if isinstance(errors, dict) else set(told)) == errors
    assert raised.value.approval_id == approval


@pytest.mark.parametrize(
    ("history", "decision"),
    [
        (waiting(), Approve(MUCH)),
        (waiting(), Deny(MUCH)),
        (waiting(), Steer(guidance=MUCH)),
        (questioned({"question": "Why?"}), Answer(MUCH)),
    ],
)
def test_as_much_as_may_be_said_is_taken(history: History, decision: Decision) -> None:
    (event,) = take(history, decision)
    assert isinstance(event, ApprovalDecided)
    assert MUCH in (event.note, event.reason, event.guidance, event.text)


@pytest.mark.parametrize(
    ("history", "approval", "decision", "errors"),
    [
        (waiting(), A1, Approve(more=1), {"more": "Only a budget is given more."}),
        (
            waiting(),
            A1,
            Steer({"amount": 90}, "ask"),
            {"guidance": "Change the values or give guidance, not both."},
        ),
        (blind(), A2, Settle("check"), {"outcome": NO_WAY}),
        (
            reviewed_after_its_end(),
            A2,
            Settle("not_happened"),
            {"outcome": "Nothing of this run is run any more; say that it happened, or give up."},
        ),
        (questioned(), A1, Answer("?"), {"text": "Choose one of: staging, production."}),
        (
            out_of_calls(),
            A1,
            Steer(guidance="be quick"),
            {
                "action": "This is a budget that is used up: approve it, or deny it and the run is stopped."
            },
        ),
    ],
)
def test_what_does_not_fit_its_approval_is_told_so(
    history: History, approval: ApprovalId, decision: Decision, errors: dict[str, str]
) -> None:
    with pytest.raises(InvalidArgs) as raised:
        take(history, decision, AS_OPERATOR, approval)
    assert raised.value.errors == errors
    assert raised.value.approval_id == approval


def test_who_steers_to_nothing_is_told_so_as_guidance() -> None:
    with pytest.raises(InvalidArgs) as raised:
        take(waiting(), Steer())
    assert list(raised.value.errors) == ["guidance"]
    assert raised.value.approval_id == A1


def test_what_would_be_used_up_at_once_is_refused_as_more() -> None:
    with pytest.raises(InvalidArgs) as raised:
        take(out_of_calls(), Approve(more=Decimal("0.5")), AS_CAROL)
    assert list(raised.value.errors) == ["more"]
    assert raised.value.approval_id == A1


def test_more_money_is_recorded_in_dollars_and_cents() -> None:
    (approval,) = out_of_calls().state.open_approvals
    args = {**approval.requested.args, "budget": "cost_usd", "used": "0.02", "limit": "0.01"}
    question = approval.requested.model_copy(update={"args": args})
    (event,) = take(spent().then(question), Approve(more=5), AS_CAROL)
    assert isinstance(event, ApprovalDecided)
    assert event.args == {"more": "5.00"}


def test_an_approval_that_is_not_there_is_named() -> None:
    with pytest.raises(NotFound) as raised:
        take(waiting(), Approve(), approval=ApprovalId("apr_9"))
    assert (raised.value.what, raised.value.id) == ("approval", "apr_9")


def test_a_refusal_names_the_approval_that_was_not_decided() -> None:
    with pytest.raises(NotAllowed) as not_allowed:
        take(waiting(), Approve(), AS_ALICE)
    assert not_allowed.value.approval_id == A1
    with pytest.raises(ApprovalCancelled) as cancelled:
        take(waiting().then(RunFailed(error="x")), Approve())
    assert cancelled.value.approval_id == A1
    with pytest.raises(AlreadyVoted) as counted:
        take(waiting(TWO_OF_FINANCE).then(voted(1, user="U0BOB", groups=("S0FINANCE",))), Approve())
    assert counted.value.approval_id == A1


def test_nothing_is_decided_from_the_instant_on_at_which_it_expires() -> None:
    with pytest.raises(ApprovalExpired) as raised:
        take(expiring(EXPIRES), Approve(), now=EXPIRES)
    assert (raised.value.approval_id, raised.value.expires_at) == (A1, EXPIRES)


@pytest.mark.parametrize("now", [EXPIRES + SECOND, EXPIRES - timedelta(hours=1)])
def test_what_has_expired_stays_so_by_a_clock_that_is_behind(now: datetime) -> None:
    with pytest.raises(ApprovalExpired) as raised:
        take(expiring(EXPIRES).then(expired(1)), Approve(), now=now)
    assert (raised.value.approval_id, raised.value.expires_at) == (A1, EXPIRES)


def test_what_expired_without_a_time_of_its_own_did_when_that_was_written() -> None:
    history = expiring(None).then(expired(1))
    with pytest.raises(ApprovalExpired) as raised:
        take(history, Approve(), now=history.now)
    assert (raised.value.approval_id, raised.value.expires_at) == (A1, history.now)
