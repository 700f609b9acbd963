"""Replaying what nobody wrote down: the time, what was in flight, what was committed together, the budget."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from agent.rules.asking import ask_about, ask_what_happened
from agent.rules.budgets import Budget
from agent.rules.decisions import Approve, Steer
from agent.rules.events import CallReturned, ModelFailed, ModelReplied
from agent.rules.ids import CallId, Principal
from agent.rules.interventions import BudgetReached, RunCancelled, StopRequested
from agent.rules.parts import Patience, Usage
from agent.rules.replaying.replay import replay
from tests.agent.rules.deciding import A2, take
from tests.agent.rules.happenings import (
    HOUR,
    LEGAL,
    asked_again,
    escalated,
    expired,
    held,
    more_wanted,
    out_of_calls,
    reminded,
    resumed,
    said,
    spent,
    stop_wanted,
    waits,
)
from tests.agent.rules.histories import (
    AS_CAROL,
    BOBS,
    GROUP,
    REFUND,
    SECOND,
    TERM,
    History,
    approved,
    asked,
    begun,
    call_started,
    denied,
    in_review,
    judged,
    left_unknown,
    looked_up,
    previewed,
    replied,
    returned,
    settled,
    started,
    steered,
    waiting,
)

C1 = CallId("call_1")
PATIENT = Patience(expires=5 * HOUR, remind=2 * HOUR, escalate=(LEGAL,))


def found(history: History, budget: Budget | None = None) -> list[tuple[int, str, str]]:
    differences = replay(history.recorded, budget)
    return [(one.seq, one.expected, one.found) for one in differences]


def test_reminders_escalations_and_silence_are_right_at_their_time_and_only_as_they_were_due() -> (
    None
):
    began = waits(PATIENT)
    history = began.then(escalated(1), after=HOUR).then(reminded(1), after=HOUR)
    history = history.then(expired(1), after=3 * HOUR)
    assert found(history) == []
    assert found(began.then(escalated(1, 2), after=HOUR)) != []
    assert found(began.then(reminded(1), after=HOUR)) != []
    assert found(began.then(escalated(1), reminded(1, 2), after=2 * HOUR)) != []
    assert found(began.then(expired(1, "deny"), after=5 * HOUR)) != []
    assert found(began.then(expired(1), after=4 * HOUR)) != []


def test_a_silence_that_stops_the_run_is_right() -> None:
    history = waits(Patience(expires=HOUR, on_expiry="stop"))
    why = "Nobody decided in time: Refund an order"
    silent = StopRequested(by=Principal("policy:silence"), reason=why)
    assert found(history.then(expired(1, "stop"), silent, RunCancelled(), after=HOUR)) == []
    waited = waits(Patience(expires=HOUR)).then(expired(1), silent, after=HOUR)
    assert found(waited) == [(6, "no stop by a rule", "stop_requested")]


def test_what_people_do_is_never_wrong() -> None:
    history = waiting().then(said(), held(), resumed())
    history = history.then(denied(1, **BOBS), stop_wanted(), RunCancelled())
    assert found(history) == []
    assert found(waiting().then(expired(1), after=HOUR)) != []


def test_a_steer_is_judged_and_asked_again_in_its_own_commit_also_while_it_is_held() -> None:
    less = {**REFUND, "amount": 150}
    again = asked(1, approval=2, args=less, supersedes=1)
    holding = waiting().then(held())
    assert found(holding.then(*take(holding, Steer({"amount": 150})))) == []
    assert found(waiting().then(held()).then(judged(1, "ask", args=less))) != []
    # Later it is for the engine to ask, and nothing begins while it is held.
    apart = waiting().then(steered(1, less), judged(1, "ask", args=less)).then(held()).then(said())
    assert found(apart.then(again)) == [(9, "Suspend", "approval_requested")]


def test_a_yes_to_more_is_no_steer() -> None:
    history = out_of_calls().then(approved(1, args={"more": "1"}))
    wrong = history.then(judged(1))
    assert found(wrong)[-1][0] == wrong.length


def test_one_commit_is_planned_by_the_state_before_it() -> None:
    """One call is asked about once more, and has yet to be previewed, while the other starts."""
    history = begun().then(replied(1, 2)).then(judged(1), judged(2))
    again = judged(1, "ask", can_preview=True, again_because="the policy now asks")
    together = history.then(again, call_started(2, history.now))
    assert found(together) == []
    assert found(history.then(again).then(call_started(2, history.now))) == []
    held_before = history.then(again).then(held()).then(call_started(2, history.now))
    assert found(held_before) == [(7, "Suspend", "call_started")]


def test_what_was_in_flight_need_not_have_been_written_down() -> None:
    history = begun().then(replied(1, 2)).then(judged(1, "ask", can_preview=True), judged(2))
    # The preview is under way while the other starts, and comes when the run is already held.
    history = history.then(call_started(2, history.now)).then(held())
    assert found(history.then(previewed(1, "to card 42"))) == []


def test_a_look_up_may_end_after_the_run_was_held() -> None:
    history = started("once")
    later = history.then(said(), after=2 * TERM).then(held())
    assert found(later.then(looked_up(1))) == []
    assert found(history.then(looked_up(1))) == [(5, "Suspend", "call_looked_up")]


def test_results_of_reads_may_be_recorded_after_the_model_was_told_of_them() -> None:
    history = begun().then(replied(1)).then(judged(1, effect="read"))
    history = history.then(call_started(1, history.now))
    assert found(history.then(returned(1), replied(text="Done.", asked_at=4))) == []
    before = history.then(replied(text="Done.", asked_at=4))
    assert found(before) == [(5, "RecoverCall", "model_replied")]


def test_the_model_may_have_been_told_of_a_read_before_the_run_was_held() -> None:
    """The hold was recorded by another process, before the read that the model had been told of."""
    history = begun().then(replied(1)).then(judged(1, effect="read"))
    history = history.then(call_started(1, history.now)).then(held())
    history = history.then(returned(1))
    assert found(history.then(replied(text="Done.", asked_at=4))) == []
    late = history.then(replied(text="Done.", asked_at=6))
    assert found(late) == [(7, "Suspend", "model_replied")]


def test_a_model_may_fail_after_the_run_was_held_or_something_was_said() -> None:
    history = begun().then(said()).then(held())
    failed = ModelFailed(error="busy", retry_at=history.now + HOUR)
    history = history.then(failed)
    assert found(history) == []
    assert found(history.then(failed)) == [(5, "Suspend", "model_failed")]


def test_what_a_stop_leaves_open_is_asked_in_its_own_commit() -> None:
    history = started("once").then(stop_wanted())
    review = ask_what_happened(history.state.call(C1), "it did not answer", A2, GROUP)
    history = history.then(left_unknown(1), review, RunCancelled(), after=2 * TERM)
    assert found(history) == []


def test_a_review_may_be_checked_after_the_end() -> None:
    history = in_review().then(stop_wanted(), RunCancelled()).then(settled(2, "check", **BOBS))
    output = CallReturned(call_id=C1, output="paid", is_found=True)
    assert found(history.then(output)) == []


def test_a_budget_is_held_against_that_of_today_where_it_is_known() -> None:
    two = Budget(model_calls=2)
    asked_at_two = spent(2).then(*more_wanted(spent(2), two))
    assert found(asked_at_two, two) == []
    assert found(asked_at_two) == []
    assert found(asked_at_two, Budget(model_calls=3)) == [(6, "AskModel", "approval_requested")]
    assert found(asked_at_two, Budget(tokens=1))[-1] == (6, "AskForMore", "approval_requested")
    went_on = spent(2).then(replied(text="Done.", asked_at=5))
    assert found(went_on, two) == [(6, "AskForMore", "model_replied")]
    assert found(went_on, Budget(model_calls=3)) == []


def test_a_model_that_failed_may_have_been_asked_once_more_was_allowed() -> None:
    two = Budget(model_calls=2)
    asked_for_more = spent(2).then(*more_wanted(spent(2), two))
    failed = ModelFailed(error="no such model")
    allowed = asked_for_more.then(*take(asked_for_more, Approve(more=Decimal(1)), AS_CAROL))
    assert found(allowed.then(failed), two) == []
    assert found(spent(2).then(failed), two) == [(6, "AskForMore", "model_failed")]


def test_a_budget_that_stops_is_held_against_that_of_today() -> None:
    stops = Budget(model_calls=2, on_reached="stop")
    history = spent(2).then(*more_wanted(spent(2), stops), RunCancelled())
    assert found(history, stops) == []
    assert found(history) == []
    other = BudgetReached(budget="tokens", used="2", limit="1")
    assert found(spent(2).then(other), stops) == [(6, "AskForMore", "budget_reached")]


def test_minutes_are_those_when_the_model_was_asked() -> None:
    """It may have thought beyond its budget; nobody could know before."""
    history = begun().then(replied(text="Done."), after=5 * HOUR)
    assert found(history, Budget(minutes=Decimal(1))) == []
    usage = Usage(cost_usd=Decimal(3))
    spender = begun().then(ModelReplied(text="", asked_at=1, model="m", usage=usage))
    spender = spender.then(replied(text="Done.", asked_at=2))
    assert found(spender, Budget(cost_usd=Decimal(2))) == [(3, "AskForMore", "model_replied")]


def test_what_is_asked_again_is_right() -> None:
    history = waits(Patience(expires=HOUR)).then(expired(1), after=HOUR).then(asked_again(1))
    again = ask_about(history.state.call(C1), A2, GROUP, history.now + SECOND)
    assert found(history.then(again)) == []


def test_a_journal_of_nothing_has_no_difference() -> None:
    assert replay([]) == []


def test_a_journal_that_does_not_begin_shows() -> None:
    recorded = begun().then(replied(1)).recorded[1:]
    (difference,) = replay(recorded)
    assert (difference.seq, difference.found) == (2, "model_replied")
    assert "a journal begins with run_started" in difference.expected


def test_a_time_that_came_between_two_commits_is_none_of_both() -> None:
    """Two commits of one time are not one: only what stands side by side is looked at."""
    history = waiting().then(approved(1), after=timedelta())
    assert found(history.then(call_started(1, history.now), after=timedelta())) == []


def test_questions_of_one_commit_are_planned_before_the_yes_that_one_of_them_carried() -> None:
    history = begun().then(replied(1, 2)).then(judged(1, "ask"), judged(2, "ask"))
    together = history.then(asked(1), approved(1), asked(2))
    assert found(together) == []
    apart = history.then(asked(1), approved(1)).then(asked(2))
    assert found(apart) == [(7, "StartCalls", "approval_requested")]


def begun_once_more(history: History) -> History:
    """The second call, whose answer was lost, long after."""
    return history.then(call_started(2, history.now + 3 * TERM, 2), after=2 * TERM)


def test_a_call_is_recovered_while_a_read_before_it_is_in_flight() -> None:
    history = begun().then(replied(1, 2)).then(judged(1, effect="read"), judged(2))
    history = history.then(call_started(2, history.now)).then(call_started(1, history.now))
    assert found(begun_once_more(history)) == []


def test_a_call_is_recovered_while_the_decider_thinks_about_another() -> None:
    history = begun().then(replied(1, 2)).then(judged(1, "ask"), judged(2))
    history = history.then(call_started(2, history.now))
    assert found(begun_once_more(history)) == []


def test_a_call_starts_while_another_is_previewed_once_more() -> None:
    history = (
        begun()
        .then(replied(1, 2))
        .then(judged(1, "ask", can_preview=True, preview_must_match=True), judged(2, "ask"))
    )
    history = history.then(previewed(1, "to card 42")).then(
        asked(1, preview="to card 42"), asked(2)
    )
    history = history.then(approved(1, **BOBS), approved(2, **BOBS))
    assert found(history.then(call_started(2, history.now))) == []


def test_a_model_may_fail_at_once() -> None:
    assert found(begun().then(ModelFailed(error="no such model"))) == []
