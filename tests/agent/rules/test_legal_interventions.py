"""What holds whatever people and time do to a run."""

from __future__ import annotations

from collections import Counter

from hypothesis import given

from agent.rules.decisions import why_not
from agent.rules.events import ApprovalDecided, CallRefused, CallStarted, RunFinished
from agent.rules.interventions import (
    ApprovalEscalated,
    ApprovalExpired,
    ApprovalReminded,
    HistoryTaken,
    RunCancelled,
    StopRequested,
)
from agent.rules.replaying.replay import replay
from agent.rules.silence import next_time, whats_due
from agent.rules.steps import Suspend, next_step
from tests.agent.rules.histories import SECOND, History
from tests.agent.rules.legal_choices import DECIDERS, GRANTING_JUDGES
from tests.agent.rules.legal_histories import (
    Forked,
    Lived,
    legal_forks,
    legal_histories,
    legal_lives,
    operations_begun,
)
from tests.agent.rules.legally import legally, states_of, with_what_followed


@legally
@given(legal_histories())
def test_nothing_begins_while_a_run_is_held_or_after_it_is_to_be_stopped(history: History) -> None:
    for state, event in with_what_followed(history):
        if isinstance(event, CallStarted):
            assert state.held is None
            assert state.halts == ()
            assert state.stop is None
            assert not state.is_ended


@legally
@given(legal_histories())
def test_a_run_never_finishes_over_a_message_that_the_model_has_not_seen(history: History) -> None:
    for state, event in with_what_followed(history):
        if isinstance(event, RunFinished):
            assert state.unseen == ()


@legally
@given(legal_histories())
def test_nothing_begins_on_the_models_word_alone_over_a_message_that_it_has_not_seen(
    history: History,
) -> None:
    for state, event in with_what_followed(history):
        if isinstance(event, CallStarted) and state.unseen:
            call = state.call(event.call_id)
            assert call.approval_id is not None or call.attempts > 0


@legally
@given(legal_histories())
def test_what_people_are_asked_about_is_never_dropped_for_a_message(history: History) -> None:
    for state, event in with_what_followed(history):
        if isinstance(event, CallRefused) and event.code == "newer_message":
            assert state.unseen
            assert state.call(event.call_id).approval_id is None


@legally
@given(legal_histories())
def test_silence_is_marked_once_and_only_of_what_is_open(history: History) -> None:
    marked: Counter[tuple[str, str, int]] = Counter()
    for state, event in with_what_followed(history):
        match event:
            case ApprovalReminded(approval_id=approval_id, number=number):
                assert number > state.approvals[approval_id].reminders
            case ApprovalEscalated(approval_id=approval_id, stage=number):
                assert number == state.approvals[approval_id].stage + 1
            case ApprovalExpired(approval_id=approval_id):
                number = 0
            case _:
                continue
        assert state.approvals[approval_id].status == "pending"
        marked[event.kind, approval_id, number] += 1
    assert set(marked.values()) <= {1}


@legally
@given(legal_histories())
def test_whoever_decided_was_among_those_who_might_by_then(history: History) -> None:
    known = {one.principal: one for one in DECIDERS}
    for state, event in with_what_followed(history):
        if isinstance(event, ApprovalDecided):
            approval = state.approvals[event.approval_id]
            decider = known[event.by]
            assert why_not(approval.approvers, state.requesters, decider, approval.kind) is None
            assert approval.status == "pending"


@legally
@given(legal_histories())
def test_a_stopped_run_leaves_no_question_open_but_what_became_of_an_effect(
    history: History,
) -> None:
    for state in states_of(history):
        if state.stop is not None:
            assert {one.kind for one in state.open_approvals} <= {"review"}


@legally
@given(legal_histories())
def test_a_cancelled_run_has_a_review_for_every_effect_that_nobody_knows_of(
    history: History,
) -> None:
    state = history.state
    if state.ending == "cancelled" and isinstance(next_step(state, history.now), Suspend):
        raise AssertionError("an ended run waits for nothing")
    if history.recorded[-1].event == RunCancelled():
        reviewed = {one.requested.call_id for one in state.open_approvals}
        assert {call.id for call in state.open_calls if call.may_have_happened} <= reviewed


@legally
@given(legal_histories())
def test_one_stop_is_enough_and_silence_stops_but_once(history: History) -> None:
    for state, event in with_what_followed(history):
        if isinstance(event, StopRequested):
            assert state.stop is None
            assert not state.is_ended


@legally
@given(legal_histories())
def test_whoever_waits_for_a_time_wakes_at_the_first_that_falls_due(history: History) -> None:
    for state in states_of(history):
        step = next_step(state, state.updated_at)
        if isinstance(step, Suspend):
            assert whats_due(state, state.updated_at) == () or state.stop is not None
            due = next_time(state)
            if due is not None and state.stop is None:
                assert step.until is not None
                assert step.until <= due
                assert whats_due(state, due) != ()
                assert whats_due(state, due - SECOND / 1000) == ()


@legally
@given(legal_lives())
def test_this_build_would_take_the_same_steps_again(lived: Lived) -> None:
    assert lived.replay() == []


@legally
@given(legal_lives(GRANTING_JUDGES))
def test_so_it_would_under_grants_that_are_given_and_revoked(lived: Lived) -> None:
    assert lived.replay() == []


@legally
@given(legal_forks())
def test_a_fork_never_runs_what_had_run(forked: Forked) -> None:
    assert operations_begun(forked.original).isdisjoint(operations_begun(forked.history))
    history = forked.history.recorded[1].event
    assert isinstance(history, HistoryTaken)
    ended = {t.proposed.call_id for turn in history.turns for t in turn.calls if t.outcome}
    for _, event in with_what_followed(forked.history):
        assert getattr(event, "call_id", None) not in ended


@legally
@given(legal_forks())
def test_a_fork_is_a_run_like_any_other(forked: Forked) -> None:
    states_of(forked.history)
    assert replay(forked.history.recorded) == []
