"""A yes among several that are needed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from agent.errors import AlreadyDecided, AlreadyVoted
from agent.rules.consent import Missing
from agent.rules.decisions import Approve, Decider, Decision, Deny
from agent.rules.events import ApprovalDecided, ApprovalVoted
from agent.rules.ids import Principal
from agent.rules.parts import Approvers
from agent.rules.steps import AskModel, StartCalls, Suspend, next_step
from tests.agent.rules.deciding import A1, take
from tests.agent.rules.histories import (
    AS_BOB,
    AS_FRANK,
    BOB,
    FRANK,
    TWO_OF_FINANCE,
    History,
    asked,
    begun,
    judged,
    replied,
    voted,
    waiting,
)

FINANCE, LEGAL = "S0FINANCE", "S0LEGAL"


def person(name: str, *groups: str) -> Decider:
    principal = Principal(f"slack:T0PILOT:U0{name}")
    return Decider(principal, user=f"U0{name}", groups=frozenset(groups))


GRACE = person("GRACE", LEGAL)
HEIDI = person("HEIDI", FINANCE, LEGAL)
IVAN = person("IVAN")
#: Whoever asked for the run, as a member of everything.
REQUESTER = person("ALICE", FINANCE, LEGAL)
CODE = Decider(Principal("code:small_ones"), authority="code")
EACH = Approvers(one_from_each=(FINANCE, LEGAL))


def say(history: History, *decisions: tuple[Decider, Decision]) -> History:
    for decider, decision in decisions:
        history = history.then(*take(history, decision, decider))
    return history


def yes(*deciders: Decider) -> list[tuple[Decider, Decision]]:
    return [(decider, Approve()) for decider in deciders]


# To be read


def test_a_vote_that_is_not_enough_leaves_the_question_open() -> None:
    history = waiting(TWO_OF_FINANCE)
    (event,) = take(history, Approve("fine by me"))
    assert event == ApprovalVoted(
        approval_id=A1, by=BOB, user="U0BOB", groups=(FINANCE,), note="fine by me"
    )
    history = history.then(event)
    assert next_step(history.state, history.now) == Suspend("approvals")
    assert [a.id for a in history.state.open_approvals] == [A1]


def test_the_vote_that_completes_it_is_the_decision() -> None:
    history = say(waiting(TWO_OF_FINANCE), *yes(AS_BOB))
    (event,) = take(history, Approve(), AS_FRANK)
    assert event == ApprovalDecided(
        approval_id=A1, by=FRANK, user="U0FRANK", groups=(FINANCE,), action="approve"
    )
    history = history.then(event)
    (call,) = history.state.open_calls
    assert next_step(history.state, history.now) == StartCalls((call.id,))
    (approval,) = history.state.approvals.values()
    assert [word.by for word, _ in approval.yeses] == [BOB, FRANK]


def test_one_deny_ends_it() -> None:
    history = say(waiting(TWO_OF_FINANCE), *yes(AS_BOB), (AS_FRANK, Deny("no")))
    assert next_step(history.state, history.now) == AskModel()
    with pytest.raises(AlreadyDecided) as raised:
        take(history, Approve(), HEIDI)
    assert raised.value.action == "denied"


def test_whoever_said_yes_may_still_say_no() -> None:
    history = say(waiting(TWO_OF_FINANCE), *yes(AS_BOB), (AS_BOB, Deny("on second thoughts")))
    assert history.state.open_approvals == ()


def test_nobody_votes_twice_and_learns_what_is_missing() -> None:
    history = say(waiting(TWO_OF_FINANCE), *yes(AS_BOB))
    with pytest.raises(AlreadyVoted) as raised:
        take(history, Approve("again"))
    assert (raised.value.by, raised.value.at) == (BOB, history.now)
    assert raised.value.missing == Missing(1)
    assert str(raised.value) == (
        "Nothing was changed: the yes of slack:T0PILOT:U0BOB at 2026-11-29 12:00 UTC is counted"
        " already. Still needed: 1 more yes."
    )
    assert raised.value.code == "already_decided"


def test_one_person_never_speaks_for_two_groups() -> None:
    history = say(waiting(EACH), *yes(HEIDI))
    with pytest.raises(AlreadyVoted) as raised:
        take(history, Approve(), HEIDI)
    assert raised.value.missing == Missing(1, (LEGAL,))
    # Whichever of the two it is who comes second.
    for second in (GRACE, AS_BOB):
        assert say(history, *yes(second)).state.open_approvals == ()


def test_a_third_yes_after_the_decision_is_too_late() -> None:
    history = say(waiting(TWO_OF_FINANCE), *yes(AS_BOB, AS_FRANK))
    with pytest.raises(AlreadyDecided) as raised:
        take(history, Approve(), HEIDI)
    assert not isinstance(raised.value, AlreadyVoted)
    assert (raised.value.action, raised.value.by) == ("approved", FRANK)


def test_only_groups_that_could_decide_are_recorded() -> None:
    busy = replace(AS_BOB, groups=frozenset({FINANCE, "S0SECRET"}))
    (event,) = take(waiting(), Approve(), busy)
    assert isinstance(event, ApprovalDecided)
    assert event.groups == (FINANCE,)


# Those who voted before, as they are at the end


def test_a_vote_of_somebody_who_may_not_decide_any_more_is_not_counted() -> None:
    history = say(waiting(TWO_OF_FINANCE), *yes(AS_BOB))
    (event,) = take(history, Approve(), AS_FRANK, voters={BOB: None})
    assert isinstance(event, ApprovalVoted)
    (event,) = take(history, Approve(), AS_FRANK, voters={BOB: person("BOB")})
    assert isinstance(event, ApprovalVoted)
    # Whoever was not looked up is not taken on trust.
    (event,) = take(history, Approve(), AS_FRANK, voters={})
    assert isinstance(event, ApprovalVoted)
    (event,) = take(history, Approve(), AS_FRANK, voters={BOB: AS_BOB})
    assert isinstance(event, ApprovalDecided)


def test_whose_yes_counts_no_more_is_recorded_and_their_yes_left_out() -> None:
    history = say(waiting(TWO_OF_FINANCE), *yes(AS_BOB))
    (event,) = take(history, Approve(), AS_FRANK, voters={BOB: None})
    assert isinstance(event, ApprovalVoted)
    assert event.not_counted == (BOB,)
    history = history.then(event)
    (approval,) = history.state.approvals.values()
    assert [said.by for said, _ in approval.yeses] == [FRANK]
    # Back again, and counted again.
    (event,) = take(history, Approve(), HEIDI, voters={BOB: AS_BOB, FRANK: None})
    assert isinstance(event, ApprovalDecided)
    assert event.not_counted == (FRANK,)
    (approval,) = history.then(event).state.approvals.values()
    assert [said.by for said, _ in approval.yeses] == [BOB, HEIDI.principal]


def test_nobody_is_left_out_of_their_own_yes() -> None:
    """Whoever decides has just been looked up; that another look-up failed is no news of them."""
    history = waiting(TWO_OF_FINANCE).then(voted(1))
    history = history.then(*take(history, Approve(), AS_FRANK))
    (event,) = take(history, Approve(), AS_BOB, voters={BOB: None, FRANK: AS_FRANK})
    assert isinstance(event, ApprovalDecided)
    assert event.not_counted == ()


def test_without_a_directory_their_recorded_word_counts() -> None:
    of_old = waiting(TWO_OF_FINANCE).then(voted(1))
    (event,) = take(of_old, Approve(), AS_FRANK)
    assert isinstance(event, ApprovalVoted)


def test_a_voter_who_has_changed_groups_counts_for_the_new_one() -> None:
    history = say(waiting(EACH), *yes(AS_BOB))
    (event,) = take(history, Approve(), AS_FRANK, voters={BOB: person("BOB", LEGAL)})
    assert isinstance(event, ApprovalDecided)


def test_saying_yes_once_more_completes_what_has_become_enough() -> None:
    """Frank's yes came while Bob's did not count; now it does, and nobody else is left to click."""
    history = say(waiting(TWO_OF_FINANCE), *yes(AS_BOB))
    history = history.then(*take(history, Approve(), AS_FRANK, voters={BOB: None}))
    with pytest.raises(AlreadyVoted):
        take(history, Approve(), AS_FRANK, voters={BOB: None, FRANK: AS_FRANK})
    history = history.then(
        *take(history, Approve(), AS_FRANK, voters={BOB: AS_BOB, FRANK: AS_FRANK})
    )
    (approval,) = history.state.approvals.values()
    assert [word.by for word, _ in approval.yeses] == [BOB, FRANK]


def test_a_yes_that_has_grown_too_old_counts_no_more_and_can_be_given_anew() -> None:
    hour = timedelta(hours=1)
    history = begun().then(replied(1)).then(judged(1, "ask", valid_for=hour))
    history = history.then(asked(1, approvers=TWO_OF_FINANCE))
    (first,) = take(history, Approve(), now=history.now)
    history = history.then(first)
    late = history.now + hour + timedelta(seconds=1)
    # Frank's yes alone is not enough by then, and Bob's is named as no longer counted.
    (second,) = take(history, Approve(), AS_FRANK, now=late)
    assert isinstance(second, ApprovalVoted)
    assert second.not_counted == (BOB,)
    # Bob may say it again, and his newer yes takes the place of the older.
    (anew,) = take(history, Approve(), now=late)
    assert isinstance(anew, ApprovalVoted)
    history = history.then(anew, after=late - history.now)
    (vote,) = history.state.approvals[A1].votes
    assert vote.at == late
    (done,) = take(history, Approve(), AS_FRANK, now=late)
    assert isinstance(done, ApprovalDecided)
