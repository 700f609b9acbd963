"""What holds for every history that an engine, people and time could make."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.rules.binding import digest
from agent.rules.consent import is_enough
from agent.rules.events import CallStarted, ModelReplied
from agent.rules.fold import apply, fold
from agent.rules.ids import CallId
from agent.rules.json_text import dump_text
from agent.rules.recorded import dump_event, load_event
from agent.rules.shapes import waited
from agent.rules.state import RunState
from agent.rules.steps import AskModel, next_step
from agent.rules.transcript import AssistantMessage, Told, ToolMessage, UserMessage, transcript
from tests.agent.rules.histories import History
from tests.agent.rules.legal_histories import legal_histories

legally = settings(max_examples=75, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@legally
@given(legal_histories(), st.data())
def test_every_prefix_folds_and_folding_on_gives_the_same(
    history: History, data: st.DataObject
) -> None:
    state: RunState | None = None
    for one in history.recorded:
        state = apply(state, one)
        assert state.seq == one.seq
    assert state == history.state
    cut = data.draw(st.integers(1, history.length))
    kept = fold(history.recorded[:cut])
    assert fold(history.recorded[cut:], kept) == history.state


@legally
@given(legal_histories())
def test_every_event_comes_back_from_its_json_text(history: History) -> None:
    for one in history.recorded:
        text = dump_text(dump_event(one.event))
        assert load_event(json.loads(text)) == one.event
        assert dump_text(dump_event(load_event(json.loads(text)))) == text


@legally
@given(legal_histories())
def test_a_call_ends_once_and_stays_ended(history: History) -> None:
    ended: dict[CallId, object] = {}
    for length in range(1, history.length + 1):
        calls = history.first(length).state.calls
        for call_id, result in ended.items():
            assert calls[call_id].result == result
        for call in calls.values():
            assert (call.result is not None) == (call.status == "ended")
        ended |= {c.id: c.result for c in calls.values() if c.result is not None}


@legally
@given(legal_histories())
def test_a_call_that_has_ended_or_waits_for_a_person_is_never_started(history: History) -> None:
    for length in range(1, history.length):
        following = history.recorded[length].event
        if isinstance(following, CallStarted):
            call = history.first(length).state.calls[following.call_id]
            assert call.status in ("ready", "started")
            assert following.attempt == call.attempts + 1


@legally
@given(legal_histories())
def test_the_model_is_never_asked_while_a_call_is_open(history: History) -> None:
    for length in range(1, history.length):
        if isinstance(history.recorded[length].event, ModelReplied):
            assert history.first(length).state.open_calls == ()


@legally
@given(legal_histories())
def test_what_people_are_asked_about_starts_only_after_enough_yeses_to_exactly_it(
    history: History,
) -> None:
    for length in range(1, history.length):
        event = history.recorded[length].event
        if not isinstance(event, CallStarted):
            continue
        state = history.first(length).state
        call = state.calls[event.call_id]
        approval = state.approvals.get(call.approved_id) if call.approved_id else None
        assert call.verdict is not None
        if approval is not None:
            assert digest(approval.requested.args) == digest(dict(call.args))
            words = [word for word, _ in approval.yeses]
            assert is_enough(approval.requested.approvers, state.requester, words)


@legally
@given(legal_histories())
def test_an_approval_is_closed_exactly_when_nothing_can_be_decided_any_more(
    history: History,
) -> None:
    for length in range(1, history.length + 1):
        state = history.first(length).state
        for approval in state.approvals.values():
            assert (approval.closed_at is None) == (approval.status == "pending")
            assert (approval.decided is None) == (approval.decided_at is None)
            voters = [word.by for word, _ in approval.yeses]
            assert len(voters) == len(set(voters))
        asked = {a.requested.call_id for a in state.open_approvals}
        assert {state.calls[id].status for id in asked} <= {"waiting", "unknown"}


@legally
@given(legal_histories())
def test_a_run_never_waited_longer_than_it_lived(history: History) -> None:
    state = history.state
    assert timedelta() <= waited(state, history.now) <= history.now - state.started_at


@legally
@given(legal_histories())
def test_what_a_model_was_told_is_told_on_and_never_told_otherwise(history: History) -> None:
    told = Told()
    for length in range(1, history.length + 1):
        prefix = history.first(length)
        settled = told.messages[: told.settled]
        told = told.up_to(prefix.state)
        assert told.messages == transcript(prefix.state)
        assert told.messages[: len(settled)] == settled
        if next_step(prefix.state, prefix.now) == AskModel():
            assert told.settled == len(told.messages)


@legally
@given(legal_histories())
def test_a_decided_approval_is_decided_once(history: History) -> None:
    decisions = Counter(
        event.approval_id
        for event in (one.event for one in history.recorded)
        if event.kind == "approval_decided"
    )
    assert set(decisions.values()) <= {1}


@legally
@given(legal_histories())
def test_whenever_the_model_is_asked_each_call_has_exactly_one_result(history: History) -> None:
    for length in range(1, history.length + 1):
        prefix = history.first(length)
        state = prefix.state
        if next_step(state, prefix.now) == AskModel():
            assert_strict(state)


def assert_strict(state: RunState) -> None:
    """What the strictest provider demands: after a reply with calls a result for each, in order,
    before anything else."""
    messages = transcript(state)
    assert messages[0] == UserMessage(state.prompt)
    owed: list[str] = []
    for message in messages[1:]:
        if isinstance(message, ToolMessage):
            assert message.model_call_id == owed.pop(0)
        else:
            assert not owed
            assert isinstance(message, AssistantMessage)
            assert message.text.strip() or message.calls
            owed = [call.model_call_id for call in message.calls]
    assert not owed
    results = [m for m in messages if isinstance(m, ToolMessage)]
    assert len(results) == len(state.calls)
