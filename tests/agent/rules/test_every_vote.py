"""Every rule, whoever speaks, whatever was said before, whatever they do; compared with what trying
everybody says."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import AlreadyVoted, DecisionRefused, NotAllowed
from agent.rules.consent import is_listed
from agent.rules.decisions import Approve, Decider, Decision, Deny, Steer
from agent.rules.events import ApprovalDecided, ApprovalVoted, Event
from agent.rules.parts import Approvers
from tests.agent.rules.deciding import take
from tests.agent.rules.histories import (
    ALICE,
    AS_BOB,
    AS_CAROL,
    AS_FRANK,
    AS_OPERATOR,
    History,
    waiting,
)
from tests.agent.rules.judges import RefundJudge
from tests.agent.rules.test_enough import is_enough_by_trying_everybody
from tests.agent.rules.test_voting import CODE, EACH, FINANCE, GRACE, HEIDI, IVAN, LEGAL, REQUESTER

RULES: Mapping[str, Approvers] = {
    "a user": Approvers(users=("U0IVAN",)),
    "a group": Approvers(groups=(FINANCE,)),
    "the requester too": Approvers(groups=(FINANCE,), requester=True),
    "two": Approvers(users=("U0IVAN",), groups=(FINANCE,), count=2),
    "three, the requester too": Approvers(groups=(FINANCE, LEGAL), count=3, requester=True),
    "one from each": EACH,
    "one from each, or Ivan": Approvers(users=("U0IVAN",), one_from_each=(FINANCE, LEGAL)),
    "one from each and a third": Approvers(
        users=("U0IVAN",), one_from_each=(FINANCE, LEGAL), count=3
    ),
    "one from each, the requester too": EACH.model_copy(update={"requester": True}),
    "nobody": Approvers(),
}
PEOPLE: Mapping[str, Decider] = {
    "of finance": AS_BOB,
    "of legal": GRACE,
    "of both": HEIDI,
    "named": IVAN,
    "requester": REQUESTER,
    "guest": AS_CAROL,
    "operator": AS_OPERATOR,
    "code": CODE,
}
BEFORE: Mapping[str, tuple[Decider, ...]] = {
    "nobody": (),
    "one of finance": (AS_FRANK,),
    "two of finance": (AS_FRANK, AS_BOB),
    "one of both": (HEIDI,),
    "one of legal and Ivan": (GRACE, IVAN),
}
ACTIONS: Mapping[str, Decision] = {
    "approve": Approve(),
    "deny": Deny("no"),
    "guide": Steer(guidance="ask first"),
    "steer to what is allowed": Steer({"amount": 90}),
    "steer to what is asked": Steer({"amount": 150}),
}


def with_votes(approvers: Approvers, voters: tuple[Decider, ...]) -> History | None:
    """None where these votes could not have been cast, or would have decided it."""
    history = waiting(approvers)
    for voter in voters:
        try:
            history = history.then(*take(history, Approve(), voter))
        except DecisionRefused:
            return None
    return history if history.state.open_approvals else None


def expected(
    approvers: Approvers, decider: Decider, before: tuple[Decider, ...], decision: Decision
) -> list[str] | type[DecisionRefused]:
    """What comes of it, in the plainest words."""
    alone = decider.authority != "listed"
    if not alone and not is_listed(approvers, [ALICE], decider.word):
        return NotAllowed
    everybody = {one.principal: one.word for one in (*before, decider)}
    is_done = alone or is_enough_by_trying_everybody(approvers, list(everybody.values()))
    match decision:
        case Deny():
            return ["denied"]
        case Steer(guidance=guidance) if guidance:
            return ["guided"]
        case Steer(args=args) if args == {"amount": 90}:
            return ["steered", "judged"]
        case Steer():
            suffices = alone or is_enough_by_trying_everybody(approvers, [decider.word])
            asked_and_approved = ["asked", "approved"] if suffices else []
            return ["steered", "judged", *asked_and_approved]
    if is_done:
        return ["approved"]
    return AlreadyVoted if len(everybody) == len(before) else ["voted"]


def told(event: Event) -> str:
    match event:
        case ApprovalDecided(action="steer", args=args):
            return "guided" if args is None else "steered"
        case ApprovalDecided(action="approve"):
            return "approved"
        case ApprovalDecided(action="deny"):
            return "denied"
        case ApprovalVoted():
            return "voted"
        case _:
            return {"call_judged": "judged", "approval_requested": "asked"}[event.kind]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("who", PEOPLE)
def test_every_rule_person_earlier_vote_and_action(rule: str, who: str) -> None:
    approvers, decider = RULES[rule], PEOPLE[who]
    judge = RefundJudge(approvers=approvers)
    tried = 0
    for (votes, voters), (action, decision) in product(BEFORE.items(), ACTIONS.items()):
        history = with_votes(approvers, voters)
        if history is None:
            continue
        tried += 1
        wanted = expected(approvers, decider, voters, decision)
        try:
            events = take(history, decision, decider, judge=judge)
            outcome: object = [told(event) for event in events]
        except DecisionRefused as refusal:
            outcome = type(refusal)
        assert outcome == wanted, f"after {votes}: {action}"
    assert tried >= len(ACTIONS)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(list(RULES.values())),
    st.lists(st.sampled_from(list(PEOPLE.values())), unique=True, max_size=5).flatmap(
        lambda people: st.tuples(st.just(people), st.permutations(people))
    ),
)
def test_whether_it_is_approved_does_not_depend_on_who_comes_first(
    approvers: Approvers, orders: tuple[list[Decider], list[Decider]]
) -> None:
    def is_approved(people: list[Decider]) -> bool:
        history = waiting(approvers)
        for one in people:
            try:
                history = history.then(*take(history, Approve(), one))
            except DecisionRefused:
                continue
        return not history.state.open_approvals

    first, second = orders
    assert is_approved(first) == is_approved(second)
