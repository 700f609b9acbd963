"""How long a run has waited for people."""

from __future__ import annotations

from datetime import datetime, timedelta

from agent.rules.events import RunFailed
from agent.rules.waiting import paused, waited, waited_for
from tests.agent.rules.happenings import (
    asked_again,
    expired,
    held,
    resumed,
    stop_wanted,
)
from tests.agent.rules.histories import (
    FRANK,
    SECOND,
    TERM,
    TWO_OF_FINANCE,
    History,
    approved,
    asked,
    begun,
    call_started,
    denied,
    guided,
    in_review,
    judged,
    reopened,
    replied,
    returned,
    settled,
    voted,
    waiting,
)


def seconds(history: History, now: datetime | None = None) -> float:
    return waited(history.state, now or history.now).total_seconds()


def two_waiting() -> History:
    """Two calls of one reply are asked, one ten seconds after the other."""
    history = begun().then(replied(1, 2)).then(judged(1, "ask"), judged(2, "ask"))
    return history.then(asked(1)).then(asked(2), after=10 * SECOND)


def test_nothing_asked_is_nothing_waited() -> None:
    assert seconds(begun().then(replied(text="Done."))) == 0


def test_an_open_question_counts_until_now() -> None:
    assert seconds(waiting(), waiting().now + timedelta(minutes=2)) == 120


def test_overlapping_questions_count_once() -> None:
    history = two_waiting().then(approved(1), after=5 * SECOND)
    history = history.then(denied(2), after=20 * SECOND)
    assert seconds(history, history.now + 60 * SECOND) == 10 + 5 + 20


def test_a_question_inside_another_adds_nothing() -> None:
    history = two_waiting().then(denied(2), after=5 * SECOND).then(denied(1), after=20 * SECOND)
    assert seconds(history) == 10 + 5 + 20


def test_time_between_questions_does_not_count() -> None:
    history = waiting().then(guided(1, "later"), after=7 * SECOND)
    history = history.then(replied(2), after=60 * SECOND).then(judged(2, "ask")).then(asked(2))
    assert seconds(history.then(approved(2), after=3 * SECOND)) == 7 + 3


def test_a_replaced_question_counts_until_it_was_replaced() -> None:
    history = waiting().then(asked(1, approval=2, supersedes=1), after=5 * SECOND)
    history = history.then(approved(2), after=5 * SECOND)
    assert seconds(history, history.now + timedelta(hours=1)) == 10


def test_nothing_counts_beyond_the_end_of_the_run() -> None:
    ended = waiting().then(RunFailed(error="x"), after=5 * SECOND)
    assert seconds(ended, ended.now + timedelta(hours=1)) == 5
    reviewed = in_review().then(RunFailed(error="x"), after=5 * SECOND)
    before = seconds(reviewed)
    assert seconds(reviewed.then(settled(2, "happened"), after=timedelta(hours=1))) == before


def test_the_time_in_which_a_run_had_failed_does_not_count() -> None:
    history = waiting().then(RunFailed(error="x"), after=5 * SECOND)
    assert seconds(history, history.now + timedelta(hours=1)) == 5
    history = history.then(reopened(), after=timedelta(hours=1))
    assert seconds(history, history.now + timedelta(hours=1)) == 5
    history = history.then(asked(1, approval=2, supersedes=1), after=60 * SECOND)
    assert seconds(history.then(approved(2), after=7 * SECOND)) == 5 + 7


def test_a_review_that_outlives_a_failure_counts_only_while_the_run_lived() -> None:
    history = in_review().then(RunFailed(error="x"), after=5 * SECOND)
    before = seconds(history)
    history = history.then(reopened(), after=timedelta(hours=1))
    assert seconds(history) == before
    history = history.then(RunFailed(error="y"), after=3 * SECOND)
    history = history.then(reopened(), after=timedelta(hours=1))
    history = history.then(settled(2, "happened"), after=4 * SECOND)
    assert seconds(history, history.now + timedelta(hours=1)) == before + 3 + 4


def test_a_vote_ends_no_waiting() -> None:
    history = waiting(TWO_OF_FINANCE).then(voted(1), after=5 * SECOND)
    assert seconds(history.then(approved(1, FRANK), after=5 * SECOND)) == 10


def test_waiting_is_not_the_time_in_which_a_call_ran() -> None:
    history = waiting().then(approved(1), after=5 * SECOND)
    history = history.then(call_started(1, history.now + SECOND)).then(returned(1), after=TERM)
    assert seconds(history) == 5


def test_what_nobody_decided_is_still_waited_for() -> None:
    history = waiting().then(expired(1), after=60 * SECOND)
    assert seconds(history, history.now + 60 * SECOND) == 120
    history = history.then(asked_again(1), after=60 * SECOND)
    assert seconds(history, history.now + 60 * SECOND) == 120
    history = history.then(asked(1, approval=2, supersedes=1), after=5 * SECOND)
    assert seconds(history, history.now + 60 * SECOND) == 180


def test_where_the_next_of_the_chain_is_asked_the_time_goes_on() -> None:
    history = waiting().then(expired(1, "escalate"), after=60 * SECOND)
    assert seconds(history, history.now + 60 * SECOND) == 60
    history = history.then(asked(1, approval=2, supersedes=1), after=5 * SECOND)
    assert seconds(history, history.now + 60 * SECOND) == 60 + 5 + 60


def test_where_silence_is_an_answer_nothing_is_waited_for_any_more() -> None:
    history = waiting().then(expired(1, "deny"), after=60 * SECOND)
    assert seconds(history, history.now + 60 * SECOND) == 60


def test_what_nobody_decided_is_waited_for_until_the_run_ends() -> None:
    history = waiting().then(expired(1), after=60 * SECOND)
    history = history.then(RunFailed(error="no"), after=60 * SECOND)
    assert seconds(history, history.now + 60 * SECOND) == 120


def test_a_hold_counts_until_it_is_lifted() -> None:
    history = begun().then(held())
    assert seconds(history, history.now + 60 * SECOND) == 60
    history = history.then(resumed(), after=60 * SECOND)
    assert seconds(history, history.now + 60 * SECOND) == 60


def test_a_hold_over_a_question_counts_once() -> None:
    history = waiting().then(held(), after=10 * SECOND).then(approved(1), after=10 * SECOND)
    history = history.then(resumed(), after=10 * SECOND)
    assert seconds(history, history.now + 60 * SECOND) == 30


def test_a_stop_ends_the_waiting() -> None:
    history = waiting().then(stop_wanted(), after=10 * SECOND)
    assert seconds(history, history.now + 60 * SECOND) == 10


def test_what_people_and_what_a_hold_took_can_be_told_apart() -> None:
    history = waiting().then(held(), after=10 * SECOND).then(approved(1), after=10 * SECOND)
    history = history.then(resumed(), after=30 * SECOND)
    state, now = history.state, history.now
    asked_about = waited_for(state, state.approvals.values(), now)
    assert (asked_about, paused(state, now)) == (20 * SECOND, 40 * SECOND)
    assert waited(state, now) == 50 * SECOND
    assert waited_for(state, (), now) == 0 * SECOND


def test_a_hold_counts_only_while_the_run_lived() -> None:
    history = begun().then(held()).then(RunFailed(error="x"), after=5 * SECOND)
    assert paused(history.state, history.now + timedelta(hours=1)) == 5 * SECOND
