"""What somebody sends once more is known by who it was, what they did, and every word of it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.rules.decisions import Answer, Approve, Decision, Deny, Settle, Steer
from agent.rules.grants import GrantWish
from agent.rules.ids import Principal
from agent.rules.repeated import is_repeated
from tests.agent.rules.histories import (
    ALICE,
    BOB,
    History,
    answered,
    approved,
    denied,
    guided,
    in_review,
    questioned,
    settled,
    steered,
    voted,
    waiting,
)

GRANT = GrantWish("run", timedelta(hours=1))
DONE: dict[str, tuple[History, Principal, Decision]] = {
    "a yes": (waiting().then(approved(1)), BOB, Approve()),
    "a yes with a note": (waiting().then(approved(1, note="go on")), BOB, Approve(" go on ")),
    "a yes with a grant": (
        waiting().then(approved(1).model_copy(update={"grant": "grt_1"})),
        BOB,
        Approve(grant=GRANT),
    ),
    "one yes of several": (waiting().then(voted(1, note="go on")), BOB, Approve("go on")),
    "a no": (waiting().then(denied(1, reason="no")), BOB, Deny("no")),
    "guidance": (waiting().then(guided(1, "half")), BOB, Steer(guidance="half")),
    "an answer": (questioned().then(answered(1, "$50")), ALICE, Answer(" $50")),
    "what happened": (in_review().then(settled(2, "happened")), BOB, Settle("happened")),
}
OTHERS: tuple[Decision, ...] = (
    Approve(),
    Approve("other words"),
    Approve("go on", grant=GRANT),
    Deny(),
    Deny("other words"),
    Steer(guidance="other words"),
    Steer(args={"amount": "1"}),
    Answer("other words"),
    Settle("not_happened"),
)


@pytest.mark.parametrize("done", DONE.values(), ids=DONE)
def test_the_same_of_the_same_person_is_repeated_and_nothing_else_is(
    done: tuple[History, Principal, Decision],
) -> None:
    history, by, decision = done
    *_, approval = history.state.approvals.values()
    assert is_repeated(approval, decision, by)
    assert not is_repeated(approval, decision, Principal("slack:T0PILOT:U0FRANK"))
    others = [one for one in OTHERS if one != decision]
    assert [one for one in others if is_repeated(approval, one, by)] == []


@pytest.mark.parametrize(
    ("sent", "is_same"), [(90, True), ("90.0", True), ("90", True), ("91", False), ("x", False)]
)
def test_a_number_that_was_sent_is_known_by_what_the_schema_made_of_it(
    sent: str | int, is_same: bool
) -> None:
    (approval,) = (
        waiting().then(steered(1, {"order": "ORD-3300", "amount": 90.0})).state.approvals.values()
    )
    assert is_repeated(approval, Steer(args={"amount": sent}), BOB) is is_same


def test_what_nobody_has_decided_is_not_repeated() -> None:
    (approval,) = waiting().state.approvals.values()
    assert [one for one in OTHERS if is_repeated(approval, one, BOB)] == []


def test_a_change_to_yes_is_not_the_change_to_one_sent_again() -> None:
    history = waiting().then(steered(1, {"order": "ORD-3300", "amount": 1}))
    (approval,) = history.state.approvals.values()
    assert is_repeated(approval, Steer(args={"amount": 1}), BOB)
    assert not is_repeated(approval, Steer(args={"amount": True}), BOB)
