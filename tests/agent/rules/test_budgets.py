"""What a run may use up, when it has, and how much more may be asked for or given."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from agent.errors import ConfigError, InvalidArgs
from agent.rules.budgets import Budget, Reached
from agent.rules.decisions import Approve
from agent.rules.events import ApprovalDecided, CallRefused, ModelFailed, ModelReplied, RunFailed
from agent.rules.ids import BY_BUDGET, CallId
from agent.rules.interventions import BudgetReached, StopRequested
from agent.rules.parts import Usage
from agent.rules.replaying.replay import replay
from agent.rules.steps import AskModel, next_step
from tests.agent.rules.deciding import take
from tests.agent.rules.happenings import (
    HOUR,
    ONE,
    asked_again,
    expired,
    held,
    more_wanted,
    out_of_calls,
    resumed,
    said,
    spent,
)
from tests.agent.rules.histories import (
    AS_CAROL,
    TERM,
    History,
    asked,
    begun,
    call_started,
    judged,
    reopened,
    replied,
    returned,
    started,
)

TWO = Budget(model_calls=2)
MINUTE = timedelta(minutes=1)


def used(usage: Usage) -> History:
    return begun().then(ModelReplied(text="", asked_at=1, model="scripted", usage=usage))


def test_a_limit_is_used_up_when_it_is_reached_and_not_before() -> None:
    assert TWO.reached(spent(1).state) is None
    assert TWO.reached(spent(2).state) == Reached("model_calls", Decimal(2), Decimal(2))


def test_tokens_are_those_that_went_in_and_came_out() -> None:
    state = used(Usage(input_tokens=70, output_tokens=30)).state
    assert Budget(tokens=101).reached(state) is None
    assert Budget(tokens=100).reached(state) == Reached("tokens", Decimal(100), Decimal(100))


def test_money_is_counted_exactly() -> None:
    state = used(Usage(cost_usd=Decimal("0.30"))).state
    assert Budget(cost_usd=Decimal("0.31")).reached(state) is None
    reached = Budget(cost_usd=Decimal("0.30")).reached(state)
    assert reached == Reached("cost_usd", Decimal("0.30"), Decimal("0.30"))


def minutes_of(history: History) -> Decimal:
    """What the run has worked."""
    reached = Budget(minutes=Decimal("0.000001")).reached(history.state)
    return reached.used if reached else Decimal(0)


def thought(history: History, event: ModelReplied | ModelFailed) -> History:
    """The model is asked, an hour after anything happened, and answers a minute later."""
    began_at = history.now + HOUR
    return history.then(event.model_copy(update={"began_at": began_at}), after=HOUR + MINUTE)


def test_minutes_are_those_in_which_the_model_was_asked() -> None:
    assert minutes_of(begun()) == 0
    assert minutes_of(thought(begun(), replied(1))) == 1
    failed = thought(begun(), ModelFailed(error="busy"))
    assert minutes_of(failed) == 1
    # It waited an hour to be asked once more.
    assert minutes_of(thought(failed, replied(1))) == 2
    assert minutes_of(begun().then(replied(1), after=HOUR)) == 0  # Nobody knows since when.


def test_minutes_are_those_in_which_calls_ran_side_by_side_or_not() -> None:
    history = begun().then(replied(1, 2)).then(judged(1, "allow"), judged(2, "allow"))
    late = {"deadline": history.now + 2 * HOUR}
    calls = [call_started(n, history.now).model_copy(update=late) for n in (1, 2)]
    history = history.then(*calls, after=HOUR)
    history = history.then(returned(1), after=MINUTE)
    assert minutes_of(history) == 1
    history = history.then(said(), after=MINUTE).then(returned(2), after=MINUTE)
    assert minutes_of(history) == 3
    assert minutes_of(history.then(said(), after=HOUR)) == 3


def test_what_nobody_heard_of_ran_no_longer_than_to_its_deadline() -> None:
    history = started()
    began = minutes_of(history)
    history = history.then(said(), after=HOUR).then(returned(1), after=HOUR)
    term = Decimal(TERM // timedelta(milliseconds=1)) / 60_000
    assert minutes_of(history) - began == pytest.approx(term, abs=Decimal("0.000001"))


def test_minutes_in_which_it_waited_do_not_count() -> None:
    history = begun().then(replied(1)).then(judged(1, "ask")).then(asked(1))
    history = history.then(expired(1), after=HOUR).then(asked_again(1), after=HOUR)
    history = history.then(held(), after=HOUR).then(resumed(), after=HOUR)
    history = history.then(RunFailed(error="busy"), after=HOUR).then(reopened(), after=HOUR)
    assert minutes_of(history.then(said(), after=HOUR)) == 0


def test_what_runs_on_after_the_end_does_not_count() -> None:
    history = started().then(RunFailed(error="given up"))
    before = minutes_of(history)
    assert minutes_of(history.then(returned(1), after=MINUTE)) == before


def test_minutes_are_counted_in_no_more_digits_than_a_limit_can_have() -> None:
    history = started().then(returned(1), after=timedelta(milliseconds=3_005))
    reached = Budget(minutes=Decimal("0.05")).reached(history.state)
    assert reached is not None
    assert str(reached.used) == "0.050083"


def test_of_several_limits_the_first_that_is_reached_is_named() -> None:
    budget = Budget(model_calls=9, tokens=30, cost_usd=Decimal(9), minutes=Decimal(9))
    reached = budget.reached(spent(2).state)
    assert reached is not None
    assert reached.budget == "tokens"


@pytest.mark.parametrize(
    ("reached", "words"),
    [
        (Reached("model_calls", Decimal(40), Decimal(40)), "40 of 40 model calls"),
        (Reached("tokens", Decimal(12_345), Decimal(10_000)), "12,345 of 10,000 tokens"),
        (Reached("cost_usd", Decimal("2.005"), Decimal(2)), "$2.00 of $2.00"),
        (Reached("cost_usd", Decimal("0.0050"), Decimal("0.004")), "$0.005 of $0.004"),
        (Reached("minutes", Decimal("30.04"), Decimal(30)), "30.0 of 30.0 minutes of work"),
        (Reached("minutes", Decimal("1.3"), Decimal("0.25")), "1.30 of 0.25 minutes of work"),
        (Reached("minutes", Decimal("0.050083"), Decimal("0.05")), "3 of 3 seconds of work"),
        (Reached("minutes", Decimal("0.0123"), Decimal("0.0125")), "0.74 of 0.75 seconds of work"),
    ],
)
def test_what_was_used_is_said_with_its_unit(reached: Reached, words: str) -> None:
    assert reached.in_words == words


@pytest.mark.parametrize(
    ("budget", "reached", "more"),
    [
        (Budget(model_calls=40), Reached("model_calls", Decimal(40), Decimal(40)), Decimal(20)),
        (Budget(model_calls=1), Reached("model_calls", ONE, ONE), ONE),
        (Budget(tokens=1), Reached("tokens", ONE, ONE), ONE),
        (Budget(tokens=1_000), Reached("tokens", Decimal(1_000), Decimal(1_000)), Decimal(500)),
        (Budget(cost_usd=ONE / 2), Reached("cost_usd", ONE / 2, ONE / 2), Decimal("0.25")),
        (Budget(minutes=ONE), Reached("minutes", ONE, ONE), Decimal("0.5")),
    ],
)
def test_half_as_much_again_is_asked_for(budget: Budget, reached: Reached, more: Decimal) -> None:
    assert budget.more(reached) == more


@pytest.mark.parametrize(
    ("budget", "reached", "more"),
    [
        (Budget(tokens=1_000), Reached("tokens", Decimal(9_000), Decimal(1_000)), Decimal(8_500)),
        # A third over a sixth, told in digits that people read.
        (Budget(minutes=ONE), Reached("minutes", ONE + ONE / 3, ONE), Decimal("0.84")),
        # Half of the budget, whatever was allowed before.
        (Budget(tokens=1_000), Reached("tokens", Decimal(9_500), Decimal(9_500)), Decimal(500)),
    ],
)
def test_what_went_beyond_the_limit_is_asked_for_as_well(
    budget: Budget, reached: Reached, more: Decimal
) -> None:
    assert budget.more(reached) == more


def far_over() -> History:
    """One reply took 9,000 tokens of 1,000, and Carol is asked."""
    reply = replied(1).model_copy(update={"usage": Usage(input_tokens=9_000)})
    history = begun().then(
        reply,
        CallRefused(call_id=CallId("call_1"), code="malformed", message="not JSON"),
    )
    return history.then(*more_wanted(history, Budget(tokens=1_000)))


def test_whoever_lets_it_go_on_lets_it_go_on() -> None:
    history = far_over()
    history = history.then(*take(history, Approve(), AS_CAROL))
    assert next_step(history.state, history.now, budget=Budget(tokens=1_000)) == AskModel()


def test_what_would_be_used_up_at_once_is_no_more() -> None:
    with pytest.raises(InvalidArgs) as refused:
        take(far_over(), Approve(more=Decimal(8_000)), AS_CAROL)
    assert refused.value.errors == {
        "more": "Give more than 8000: so much is used beyond the limit already."
    }
    history = far_over()
    history = history.then(*take(history, Approve(more=Decimal(8_001)), AS_CAROL))
    assert next_step(history.state, history.now, budget=Budget(tokens=1_000)) == AskModel()


@pytest.mark.parametrize("more", [Decimal("1000001"), Decimal("1e999999")])
def test_nobody_gives_more_than_can_be_meant(more: Decimal) -> None:
    with pytest.raises(InvalidArgs) as refused:
        take(out_of_calls(), Approve(more=more), AS_CAROL)
    assert refused.value.errors == {"more": "Give at most 1,000,000."}


@pytest.mark.parametrize("more", [0, -1, True, 1.5, "5", Decimal("NaN"), Decimal("Infinity")])
def test_what_is_no_number_above_nothing_is_no_more(more: Any) -> None:
    with pytest.raises(InvalidArgs) as refused:
        take(out_of_calls(), Approve(more=more), AS_CAROL)
    assert refused.value.errors == {"more": "Say how much more, as a number above nothing."}


@pytest.mark.parametrize("more", [5, Decimal(5), Decimal("5.0"), Decimal("0.5e1")])
def test_the_same_amount_is_recorded_as_the_same_text(more: int | Decimal) -> None:
    (decided,) = take(out_of_calls(), Approve(more=more), AS_CAROL)
    assert isinstance(decided, ApprovalDecided)
    assert decided.args == {"more": "5"}


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"model_calls": 0}, "budget.model_calls: Give a number above nothing, an int."),
        ({"model_calls": True}, "budget.model_calls: Give a number above nothing, an int."),
        ({"model_calls": Decimal("1.5")}, "budget.model_calls: Give a whole number."),
        ({"tokens": 10**13}, "budget.tokens: Give at most 1,000,000,000,000."),
        ({"cost_usd": Decimal("NaN")}, "budget.cost_usd: Give a number above nothing, an int or a"),
        ({"cost_usd": 0.1}, "budget.cost_usd: Give a number above nothing, an int or a Decimal."),
        ({"cost_usd": Decimal("0.0000001")}, "budget.cost_usd: Give at most 6 decimal places."),
        ({"minutes": Decimal(-1)}, "budget.minutes: Give a number above nothing, an int or a"),
        ({}, "budget: Give at least one of model_calls, tokens, cost_usd, minutes."),
        ({"on_reached": "shrug"}, "budget.on_reached: Say ask or stop."),
    ],
)
def test_a_budget_that_limits_nothing_is_refused_by_its_key(limits: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(said)}"):
        Budget(**limits)


DOLLAR = Budget(cost_usd=Decimal(1))
UNPRICED = Usage(input_tokens=7, is_priced=False)


def test_a_cost_that_nobody_knows_may_be_any() -> None:
    state = used(UNPRICED).state
    reached = DOLLAR.reached(state)
    assert reached == Reached("cost_usd", Decimal(0), Decimal(1))
    assert reached.in_a_sentence == (
        "This run can't be held to its budget: what its model costs is not known, beyond $0.00 of $1.00."
    )
    assert DOLLAR.more(reached) == Decimal("0.5")
    # Tokens are known; and what was said of the cost of one that is not known counts as nothing.
    assert Budget(tokens=8).reached(state) is None
    assert used(UNPRICED.model_copy(update={"cost_usd": Decimal(5)})).state.cost_usd == 0


def test_whoever_lets_it_go_on_without_knowing_is_asked_again_at_the_next_such_reply() -> None:
    history = used(UNPRICED)
    history = history.then(*more_wanted(history, DOLLAR))
    history = history.then(*take(history, Approve(), AS_CAROL))
    assert DOLLAR.reached(history.state) is None
    history = history.then(ModelReplied(text="", asked_at=1, model="scripted", usage=UNPRICED))
    assert DOLLAR.reached(history.state) == Reached("cost_usd", Decimal(0), Decimal("1.5"))


def test_a_run_that_can_not_be_held_to_its_cost_is_replayed_without_a_difference() -> None:
    for budget in (DOLLAR, Budget(cost_usd=Decimal(1), on_reached="stop")):
        history = used(UNPRICED)
        history = history.then(*more_wanted(history, budget))
        assert replay(history.recorded, budget) == replay(history.recorded) == []
    # What is known to be within it is no reason.
    wrong = used(Usage(cost_usd=Decimal("0.1")))
    fact = BudgetReached(budget="cost_usd", used="0.1", limit="1")
    assert replay(wrong.then(fact, *stop_of(fact)).recorded) != []


def stop_of(fact: BudgetReached) -> tuple[StopRequested]:
    sums = Reached(fact.budget, Decimal(fact.used), Decimal(fact.limit))
    return (StopRequested(by=BY_BUDGET, reason=sums.in_a_sentence),)


def test_what_a_reply_used_that_could_not_be_taken_counts() -> None:
    history = begun().then(ModelFailed(error="cut off", usage=Usage(output_tokens=8)))
    assert Budget(tokens=8).reached(history.state) is not None
    assert history.state.unanswered == 0
