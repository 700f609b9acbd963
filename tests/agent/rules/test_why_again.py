"""When a yes still covers its call, and why it is asked again when it does not."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agent.rules.calls import Call
from agent.rules.consent import why_again
from agent.rules.decisions import Approve, Steer
from agent.rules.judgement import Judgement
from agent.rules.parts import Approvers, Patience
from tests.agent.rules.deciding import take
from tests.agent.rules.happenings import CAROL, LEGAL, escalated, waits
from tests.agent.rules.histories import (
    ALICE,
    AS_BOB,
    AS_OPERATOR,
    FINANCE,
    FRANK,
    REFUND,
    SECOND,
    TWO_OF_FINANCE,
    History,
    approved,
    asked,
    begun,
    call_started,
    denied,
    in_review,
    judged,
    looked_up,
    previewed,
    replied,
    settled,
    steered,
    voted,
    waiting,
)
from tests.agent.rules.judges import RefundJudge

NOT_ASKED = "the policy did not ask about it before, and now does"
CHANGED_TOOL = "the tool has changed since it was approved"
CHANGED_VALUES = "its values are not those that were approved"
OTHERS = "the policy now asks others than those who approved it"
MORE = "the policy now asks for more than the yeses that it had"
OF_FINANCE: dict[str, Any] = {"user": "U0BOB", "groups": ("S0FINANCE",)}
BOARD = Approvers(groups=("S0BOARD",))


def only_call(history: History) -> Call:
    (call,) = history.state.calls.values()
    return call


def today(
    approvers: Approvers = FINANCE, valid_for: timedelta | None = None, amount: float = 180
) -> Judgement:
    """What is known of the call when it is to start."""
    judge = RefundJudge(asks_above=0, approvers=approvers, valid_for=valid_for)
    return judge("process_refund", {**REFUND, "amount": amount})


def why(history: History, judgement: Judgement, after: timedelta = SECOND) -> str | None:
    return why_again(history.state, only_call(history), judgement, history.now + after)


def said_yes() -> History:
    """Bob of finance has approved it, as of today's journals."""
    return waiting().then(approved(1, **OF_FINANCE))


def said_yes_of_old() -> History:
    """By a journal that does not tell why Bob might."""
    return waiting().then(approved(1))


def said_yes_by_two() -> History:
    history = waiting(TWO_OF_FINANCE).then(voted(1, **OF_FINANCE))
    return history.then(approved(1, FRANK, user="U0FRANK", groups=("S0FINANCE",)))


def test_a_yes_to_exactly_this_call_covers_it() -> None:
    assert why(said_yes(), today()) is None


# The call is another


def test_the_schema_of_the_tool_changed() -> None:
    assert why(said_yes(), replace(today(), schema_digest="changed")) == CHANGED_TOOL


def test_the_values_read_otherwise_today() -> None:
    assert why(said_yes(), today(amount=181)) == CHANGED_VALUES
    assert why(said_yes(), replace(today(amount=181), schema_digest="changed")) == CHANGED_VALUES


def test_a_yes_to_one_spelling_of_a_number_covers_the_other() -> None:
    assert why(said_yes(), today(amount=180.0)) is None


def test_what_was_approved_with_its_preview_is_covered_with_it() -> None:
    history = begun().then(replied(1)).then(judged(1, "ask", can_preview=True))
    history = history.then(previewed(1, "to card 42")).then(asked(1, preview="to card 42"))
    assert why(history.then(approved(1, **OF_FINANCE)), today()) is None


# The rule is another


@pytest.mark.parametrize(
    "looser",
    [
        Approvers(groups=("S0FINANCE", "S0BOARD")),
        Approvers(groups=("S0FINANCE",), requester=True),
        Approvers(users=("U0BOB",)),
        Approvers(one_from_each=("S0FINANCE",)),
    ],
)
def test_a_policy_that_is_looser_asks_nobody_twice(looser: Approvers) -> None:
    assert why(said_yes(), today(looser)) is None


def test_fewer_yeses_than_were_given_are_enough() -> None:
    assert why(said_yes_by_two(), today()) is None


@pytest.mark.parametrize(
    ("stricter", "reason"),
    [
        (TWO_OF_FINANCE, MORE),
        (Approvers(groups=("S0FINANCE",), one_from_each=("S0LEGAL",)), MORE),
        (Approvers(groups=("S0FINANCE",), one_from_each=("S0FINANCE", "S0LEGAL")), MORE),
        (BOARD, OTHERS),
        (Approvers(users=("U0FRANK",)), OTHERS),
        (Approvers(), OTHERS),
    ],
)
def test_a_policy_that_is_stricter_asks_again(stricter: Approvers, reason: str) -> None:
    assert why(said_yes(), today(stricter)) == reason


def test_the_decider_is_no_longer_qualified_by_todays_rule() -> None:
    assert why(said_yes(), today(Approvers(users=("U0FRANK", "U0CAROL")))) == OTHERS
    # Whoever asked for the run might decide it then, and may not now.
    alices: dict[str, Any] = {"user": "U0ALICE", "groups": ("S0FINANCE",)}
    then = Approvers(groups=("S0FINANCE",), requester=True)
    history = waiting(then).then(approved(1, ALICE, **alices))
    assert why(history, today(then)) is None
    assert why(history, today()) == OTHERS


def test_one_of_two_yeses_does_not_count_today() -> None:
    just_frank = Approvers(users=("U0FRANK", "U0CAROL"), count=2)
    assert why(said_yes_by_two(), today(just_frank)) == MORE
    assert why(said_yes_by_two(), today(Approvers(users=("U0FRANK",)))) is None


@pytest.mark.parametrize("approvers", [BOARD, TWO_OF_FINANCE, Approvers()])
def test_an_operators_yes_holds_whoever_is_asked_today(approvers: Approvers) -> None:
    history = waiting()
    history = history.then(*take(history, Approve(), AS_OPERATOR))
    assert why(history, today(approvers)) is None


def test_of_old_only_the_same_approvers_prove_that_a_decider_might() -> None:
    assert why(said_yes_of_old(), today()) is None
    assert why(said_yes_of_old(), today(Approvers(groups=("S0FINANCE", "S0BOARD")))) == OTHERS


# The yes is old

HOUR = timedelta(hours=1)
TOO_OLD = "it was approved longer ago than 1 h, and a yes is good for no more"


def good_for(valid_for: timedelta | None) -> History:
    history = begun().then(replied(1)).then(judged(1, "ask", valid_for=valid_for))
    return history.then(asked(1)).then(approved(1, **OF_FINANCE))


@pytest.mark.parametrize(
    ("then", "now"),
    [(HOUR, HOUR), (HOUR, None), (None, HOUR), (HOUR, 2 * HOUR), (2 * HOUR, HOUR)],
)
def test_an_approval_is_good_for_the_shorter_of_todays_validity_and_thens(
    then: timedelta | None, now: timedelta | None
) -> None:
    assert why(good_for(then), today(valid_for=now), after=HOUR) is None
    assert why(good_for(then), today(valid_for=now), after=HOUR + SECOND) == TOO_OLD


def test_without_a_validity_a_yes_is_good_for_ever() -> None:
    assert why(good_for(None), today(), after=timedelta(days=1_000)) is None


def test_validity_counts_from_each_yes_and_not_from_the_question() -> None:
    history = waiting(TWO_OF_FINANCE).then(voted(1, **OF_FINANCE), after=5 * HOUR)
    frank = approved(1, FRANK, user="U0FRANK", groups=("S0FINANCE",))
    soon = history.then(frank, after=HOUR / 2)
    assert why(soon, today(TWO_OF_FINANCE, HOUR), after=HOUR / 2) is None
    assert why(soon, today(TWO_OF_FINANCE, HOUR), after=HOUR / 2 + SECOND) == TOO_OLD
    # Where the younger one suffices today, that is enough.
    assert why(soon, today(Approvers(groups=("S0FINANCE",)), HOUR), after=HOUR / 2 + SECOND) is None


def test_an_attempt_that_comes_to_nothing_makes_no_yes_younger() -> None:
    history = good_for(HOUR)
    history = history.then(call_started(1, history.now)).then(looked_up(1), after=2 * HOUR)
    assert why(history, today(valid_for=HOUR)) == TOO_OLD


# There is no yes to it


@pytest.mark.parametrize(
    "history",
    [
        begun().then(replied(1)).then(judged(1)),
        waiting(),
        waiting().then(denied(1)),
        waiting().then(steered(1, REFUND)),
        waiting(TWO_OF_FINANCE).then(voted(1, **OF_FINANCE)),
    ],
)
def test_nothing_but_a_yes_is_one(history: History) -> None:
    assert why(history, today()) == NOT_ASKED


def test_a_yes_to_what_was_steered_away_from_is_none() -> None:
    history = said_yes().then(judged(1, "ask")).then(asked(1, approval=2, supersedes=1))
    history = history.then(
        steered(2, {**REFUND, "amount": 90}), judged(1, args={**REFUND, "amount": 90})
    )
    assert why(history, today(amount=90)) == NOT_ASKED


def test_the_steerers_yes_covers_what_they_sent() -> None:
    history = waiting()
    history = history.then(*take(history, Steer({"amount": 150}), AS_BOB))
    assert why(history, today(amount=150)) is None


def test_only_the_newest_yes_counts() -> None:
    history = said_yes().then(judged(1, "ask", approvers=BOARD, again_because=OTHERS))
    history = history.then(asked(1, approval=2, approvers=BOARD, supersedes=1))
    history = history.then(approved(2, user="U0BOB", groups=("S0BOARD",)))
    assert why(history, today(BOARD)) is None
    assert why(history, today()) == OTHERS


def test_a_yes_still_covers_what_a_review_found_not_to_have_happened() -> None:
    assert why(in_review().then(settled(2, "not_happened")), today()) is None


CHAIN = Patience(escalate=(LEGAL, CAROL))
OF_LEGAL: dict[str, Any] = {"user": "U0GRACE", "groups": ("S0LEGAL",)}


def under(patience: Patience) -> Judgement:
    return RefundJudge(patience=patience)("process_refund", REFUND)


def test_a_yes_of_whoever_was_asked_as_well_is_enough() -> None:
    history = waits(CHAIN).then(escalated(1)).then(approved(1, FRANK, **OF_LEGAL))
    assert why_again(history.state, only_call(history), under(CHAIN), history.now) is None


def test_a_yes_of_whoever_was_asked_as_well_is_none_under_another_chain() -> None:
    """That legal was asked by the one rule gives it no say in the other before its own time."""
    history = waits(CHAIN).then(escalated(1)).then(approved(1, FRANK, **OF_LEGAL))
    for other in (Patience(escalate=(CAROL, LEGAL)), Patience()):
        assert why_again(history.state, only_call(history), under(other), history.now) == OTHERS


def test_one_chain_begun_anew_gives_the_next_no_say_yet() -> None:
    history = waits(CHAIN).then(approved(1, FRANK, **OF_LEGAL))
    assert why_again(history.state, only_call(history), under(CHAIN), history.now) is None
    other = under(CHAIN.model_copy(update={"on_expiry": "deny"}))
    assert why_again(history.state, only_call(history), other, history.now) is None
