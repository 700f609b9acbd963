"""What people and time did to a run, and what that amounts to."""

from __future__ import annotations

import pytest

from agent.errors import CorruptJournal
from agent.rules.calls import CallResult
from agent.rules.events import Event, RunFailed, RunFinished
from agent.rules.ids import ApprovalId, CallId, OperationId, RunId
from agent.rules.interventions import (
    BudgetReached,
    HistoryTaken,
    RunCancelled,
    TakenCall,
    TakenTurn,
)
from agent.rules.parts import Approvers, Effect, Patience, Receipt, Words
from agent.rules.state import LastingWord, Said
from tests.agent.rules.deciding import A1, A2
from tests.agent.rules.happenings import (
    CAROL,
    HOUR,
    LEGAL,
    asked_again,
    escalated,
    expired,
    held,
    out_of_calls,
    reminded,
    resumed,
    said,
    stop_wanted,
    waits,
)
from tests.agent.rules.histories import (
    ALICE,
    BOB,
    FINANCE,
    REFUND,
    SECOND,
    History,
    approved,
    asked,
    begun,
    in_review,
    judged,
    previewed,
    proposed_call,
    reopened,
    replied,
    started,
    steered,
    voted,
    waiting,
)

C1 = CallId("call_1")
CHAIN = Patience(expires=5 * HOUR, on_expiry="escalate", escalate=(LEGAL, CAROL))


def test_what_is_said_is_unseen_until_a_reply_that_was_asked_for_after_it() -> None:
    history = begun().then(said("one", ref="C0/1")).then(said("two", BOB))
    first = Said(2, history.now - SECOND, ALICE, "one", "C0/1")
    second = Said(3, history.now, BOB, "two", None)
    assert history.state.said == history.state.unseen == (first, second)
    history = history.then(replied(1, asked_at=2))
    assert history.state.unseen == (second,)
    assert history.state.replies[0].heard == (Words(text="one"),)
    history = history.then(said("three")).then(replied(2, asked_at=5))
    assert history.state.unseen == ()
    assert history.state.replies[1].heard == (Words(text="two"), Words(text="three"))
    assert len(history.state.said) == 3


def test_a_hold_is_kept_with_who_when_and_why_and_then_as_a_time() -> None:
    history = begun().then(held(reason="lunch"))
    assert history.state.held == LastingWord(BOB, history.now, "lunch")
    at = history.now
    history = history.then(resumed(), after=HOUR)
    assert history.state.held is None
    assert history.state.holds == ((at, at + HOUR),)
    history = history.then(held()).then(resumed())
    assert len(history.state.holds) == 2


@pytest.mark.parametrize(
    "end", [RunFinished(answer="Done."), RunFailed(error="no"), RunCancelled()]
)
def test_the_end_of_a_run_is_the_end_of_its_hold(end: Event) -> None:
    history = begun().then(held())
    at = history.now
    history = history.then(end, after=HOUR)
    assert history.state.held is None
    assert history.state.holds == ((at, at + HOUR),)


def test_what_was_not_held_is_not_resumed() -> None:
    with pytest.raises(CorruptJournal, match="the run was not held"):
        _ = begun().then(resumed()).state


def test_a_stop_closes_what_is_asked_but_not_what_became_of_an_effect() -> None:
    history = waiting().then(stop_wanted(reason="enough"))
    approval = history.state.approvals[A1]
    assert history.state.stop == LastingWord(BOB, history.now, "enough")
    assert (approval.status, approval.closed_at) == ("cancelled", history.now)
    assert history.state.ending is None
    review = in_review().then(stop_wanted()).state.approvals[A2]
    assert (review.status, review.closed_at) == ("pending", None)
    decided = waiting().then(approved(1)).then(stop_wanted()).state.approvals[A1]
    assert decided.status == "approved"


def test_a_cancelled_run_has_ended() -> None:
    history = begun().then(stop_wanted(), RunCancelled())
    assert (history.state.ending, history.state.ended_at) == ("cancelled", history.now)
    assert (history.state.answer, history.state.error) == (None, None)


def test_what_failed_while_it_was_to_be_stopped_is_taken_on_without_the_stop() -> None:
    history = begun().then(stop_wanted()).then(RunFailed(error="no")).then(reopened())
    assert history.state.stop is None


def test_reminders_and_escalations_are_counted() -> None:
    history = waits(CHAIN).then(reminded(1, 3)).then(escalated(1))
    approval, call = history.state.approvals[A1], history.state.call(C1)
    assert (approval.reminders, approval.stage, call.stage) == (3, 1, 1)
    assert (approval.status, call.status) == ("pending", "waiting")
    history = history.then(escalated(1, 2))
    assert (history.state.approvals[A1].stage, history.state.call(C1).stage) == (2, 2)


def test_whoever_was_asked_as_well_may_decide_as_well() -> None:
    history = waits(CHAIN)
    assert history.state.approvals[A1].approvers == FINANCE
    history = history.then(escalated(1))
    assert history.state.approvals[A1].approvers == Approvers(groups=("S0FINANCE", "S0LEGAL"))
    history = history.then(escalated(1, 2))
    assert history.state.approvals[A1].approvers == Approvers(
        groups=("S0FINANCE", "S0LEGAL"), users=("U0CAROL",)
    )


def test_others_are_added_once_and_nothing_else_changes() -> None:
    asked_of = Approvers(users=("U0CAROL",), groups=("S0LEGAL",), count=2, one_from_each=("S0A",))
    assert asked_of.with_others(()) == asked_of
    assert asked_of.with_others((LEGAL, CAROL)) == asked_of


def test_what_nobody_decides_waits() -> None:
    history = waiting().then(expired(1))
    approval, call = history.state.approvals[A1], history.state.call(C1)
    assert (approval.status, approval.closed_at) == ("expired", history.now)
    assert (approval.decided, call.status, call.result) == (None, "waiting", None)


def test_where_silence_is_an_answer_the_call_has_ended() -> None:
    history = waiting().then(expired(1, "deny"))
    call = history.state.call(C1)
    assert (call.status, call.result) == ("ended", CallResult("expired", None))
    assert call.ended_at == history.now
    # It expired, and was not cancelled because its call ended.
    assert history.state.approvals[A1].status == "expired"


def test_where_silence_stops_the_run_the_call_stays_as_it_is() -> None:
    assert waiting().then(expired(1, "stop")).state.call(C1).status == "waiting"


def test_asked_again_a_call_is_asked_about_as_if_it_had_not_been() -> None:
    history = waits(CHAIN).then(previewed(1, "to card 42")).then(expired(1)).then(asked_again(1))
    call = history.state.call(C1)
    assert (call.status, call.again_because) == ("asking", "nobody decided in time")
    assert (call.previewed_at, call.stage) == (None, 0)
    assert history.state.approvals[A1].asked_again_at == history.now


def test_the_next_of_the_chain_is_asked_at_once() -> None:
    history = waits(CHAIN).then(expired(1, "escalate"))
    call = history.state.call(C1)
    assert (call.status, call.stage, call.again_because) == ("asking", 1, "nobody decided in time")
    assert history.state.approvals[A1].asked_again_at is None


def test_a_call_that_waits_no_more_is_not_asked_again() -> None:
    history = waiting().then(approved(1)).then(asked_again(1))
    assert history.state.call(C1).status == "ready"


def test_a_budget_that_nobody_decides_waits_until_it_is_asked_again() -> None:
    history = out_of_calls().then(expired(1))
    assert history.state.budget_id == A1
    assert history.state.approvals[A1].status == "expired"
    assert history.then(asked_again(1)).state.budget_id is None
    assert history.then(reminded(1)).then(escalated(1)).state.approvals[A1].stage == 1


def test_that_a_budget_is_reached_is_told_by_the_stop_behind_it() -> None:
    history = begun().then(BudgetReached(budget="tokens", used="2", limit="1"))
    assert history.state.ending is None
    assert history.state.stop is None


@pytest.mark.parametrize("event", [reminded(9), escalated(9), expired(9), asked_again(9)])
def test_of_what_was_never_asked_nothing_can_be_marked(event: Event) -> None:
    with pytest.raises(CorruptJournal, match="nothing has the id 'apr_9'"):
        _ = waiting().then(event).state


@pytest.mark.parametrize("event", [said(), held(), stop_wanted(), expired(1), reminded(1)])
def test_a_journal_that_has_one_of_these_is_of_the_newest_form(event: Event) -> None:
    assert waiting().then(event).state.form == 3


def taken() -> History:
    """The history of another run: one call that was carried out, and one that was never begun."""
    receipt = Receipt(status="committed", external_id="re_1")
    done = TakenCall(
        proposed=proposed_call(1),
        title="Refund an order",
        effect="idempotent",
        args=REFUND,
        attempts=2,
        outcome="ok",
        output="paid",
        told="It was paid.",
        receipt=receipt,
    )
    before = TakenCall(proposed=proposed_call(3), outcome="refused", told="No.")
    turns = (
        TakenTurn(said=("first",), text="I look.", calls=(done,)),
        TakenTurn(calls=(before,)),
        TakenTurn(text="And now?", calls=(TakenCall(proposed=proposed_call(2)),)),
    )
    return begun().then(HistoryTaken(of_run=RunId("run_0"), up_to=9, turns=turns))


def test_a_history_that_is_taken_over_is_past() -> None:
    state = taken().state
    assert state.taken_from == (RunId("run_0"), 9)
    first, _, second = state.replies
    assert (first.text, first.heard, first.call_ids, first.asked_at) == (
        "I look.",
        (Words(text="first"),),
        (C1,),
        2,
    )
    assert (second.text, second.heard) == ("And now?", ())
    assert first.group != second.group
    call = state.call(C1)
    assert (call.status, call.result) == ("ended", CallResult("ok", "paid"))
    assert (call.title, call.effect, call.args, call.attempts) == (
        "Refund an order",
        "idempotent",
        REFUND,
        2,
    )
    assert (call.told, call.ended_at) == ("It was paid.", taken().now)
    assert call.receipt == Receipt(status="committed", external_id="re_1")
    assert (state.model_calls, state.replies_before) == (0, 3)


def test_what_was_not_begun_there_is_open_here() -> None:
    state = taken().state
    (call,) = state.open_calls
    assert (call.id, call.status, call.told) == (CallId("call_2"), "proposed", None)
    assert call.operation_id == OperationId("op_2")
    assert list(state.current) == ["call_2"]
    assert list(state.earlier) == [C1, "call_3"]


def test_a_history_may_be_empty() -> None:
    state = begun().then(HistoryTaken(of_run=RunId("run_0"), up_to=1)).state
    assert (state.replies, dict(state.calls)) == ((), {})


def test_a_new_rule_begins_its_own_chain() -> None:
    """What was reached of one rule's escalations would else let those of another decide at once."""
    history = waits(CHAIN).then(escalated(1)).then(steered(1, {**REFUND, "amount": 90}))
    same = history.then(judged(1, "ask", patience=CHAIN)).state.call(C1)
    assert same.stage == 1
    other = CHAIN.model_copy(update={"escalate": (CAROL, LEGAL)})
    assert history.then(judged(1, "ask", patience=other)).state.call(C1).stage == 0


def test_votes_outlive_a_stop() -> None:
    history = waiting().then(voted(1)).then(stop_wanted())
    assert len(history.state.approvals[A1].votes) == 1


def test_a_superseded_question_that_nobody_decided_stays_expired() -> None:
    history = waiting().then(expired(1)).then(asked(1, approval=2, supersedes=1))
    first = history.state.approvals[A1]
    assert (first.status, first.superseded_by) == ("expired", ApprovalId("apr_2"))
    assert first.closed_at == history.now - SECOND


def test_a_read_that_a_stop_cut_off_ends_with_its_run() -> None:
    state = started("read").then(stop_wanted()).then(RunCancelled()).state
    (call,) = state.calls.values()
    assert (call.status, call.result) == ("ended", CallResult("cancelled", None))
    assert state.open_calls == ()


@pytest.mark.parametrize("effect", ["idempotent", "once"])
def test_what_may_have_happened_stays_open_when_its_run_is_stopped(effect: Effect) -> None:
    (call,) = started(effect).then(stop_wanted()).then(RunCancelled()).state.calls.values()
    assert (call.status, call.result) == ("started", None)


def test_a_read_of_a_run_that_failed_goes_on_if_that_does() -> None:
    (call,) = started("read").then(RunFailed(error="x")).state.calls.values()
    assert call.status == "started"
