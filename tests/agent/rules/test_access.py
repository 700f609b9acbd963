"""Who may start, steer and stop an agent's runs, by its lists."""

from __future__ import annotations

import pytest

from agent.rules.access import Access, Doing
from agent.rules.decisions import Decider, why_not
from agent.rules.ids import Principal
from agent.rules.parts import Approvers
from agent.rules.recorded import dump_event, load_event
from agent.rules.rule import People
from tests.agent.rules.histories import asked

ALICE = Decider(Principal("slack:T1:U0ALICE"), "U0ALICE")
BOB = Decider(Principal("slack:T1:U0BOB"), "U0BOB", frozenset({"S0FINANCE", "S0OPS"}))
OPERATOR = Decider(Principal("cli:ops"), authority="operator")
CODE = Decider(Principal("code:checks"), authority="code")
NOBODY_OF_SLACK = Decider(Principal("api:robot"))
ALL: tuple[Doing, ...] = ("start", "steer", "stop")


@pytest.mark.parametrize("what", ALL)
@pytest.mark.parametrize(
    ("named", "allowed"),
    [
        (None, {ALICE, BOB, OPERATOR}),
        (People(users=("U0ALICE",)), {ALICE, OPERATOR}),
        (People(groups=("S0OPS",)), {BOB, OPERATOR}),
        (People(users=("U0ALICE",), groups=("S0FINANCE",)), {ALICE, BOB, OPERATOR}),
        (People(groups=("S0LEGAL",)), {OPERATOR}),
        (People(), {OPERATOR}),
    ],
)
def test_a_list_is_for_those_whom_it_names_and_the_operator(
    what: Doing, named: People | None, allowed: set[Decider]
) -> None:
    match what:
        case "start":
            access = Access(start=named)
        case "steer":
            access = Access(steer=named)
        case "stop":
            access = Access(stop=named)
    everybody = (ALICE, BOB, OPERATOR, CODE, NOBODY_OF_SLACK)
    assert {one for one in everybody if access.may(what, one)} == allowed
    for other in set(ALL) - {what}:
        assert access.may(other, ALICE)


def test_nobody_is_found_in_a_list_by_what_their_principal_ends_with() -> None:
    stranger = Decider(Principal("slack:T2:U0ALICE"), None)
    assert not Access(start=People(users=("U0ALICE",))).may("start", stranger)


ANY_MEMBER = Approvers(requester=True, members=True)


@pytest.mark.parametrize(
    ("by", "may_answer"), [(ALICE, True), (BOB, True), (OPERATOR, True), (NOBODY_OF_SLACK, False)]
)
def test_what_any_full_member_may_answer_is_answered_by_whoever_is_one(
    by: Decider, may_answer: bool
) -> None:
    why = why_not(ANY_MEMBER, {Principal("slack:T1:U0EVE")}, by, "question")
    assert (why is None) is may_answer


def test_a_build_that_would_overlook_that_members_may_answer_leaves_the_run_alone() -> None:
    event = asked(1).model_copy(update={"approvers": ANY_MEMBER})
    assert (event.form, dump_event(event)["version"]) == (5, 5)
    assert load_event(dump_event(event)) == event
