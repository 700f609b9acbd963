"""Who may start, steer and stop an agent's runs, by its lists."""

from __future__ import annotations

import pytest

from agent.rules.access import Access, Doing
from agent.rules.decisions import Decider
from agent.rules.ids import Principal
from agent.rules.rule import People

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
