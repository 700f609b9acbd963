"""What holds for every history that an engine, people and time could make."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from agent.rules.binding import digest
from agent.rules.consent import is_enough
from agent.rules.events import CallStarted, ModelReplied, RunFinished
from agent.rules.fold import apply, fold
from agent.rules.ids import CallId
from agent.rules.interventions import MessageDeleted, MessageEdited
from agent.rules.json_text import dump_text
from agent.rules.long_conversations import ConversationShortened, ConversationSummarised
from agent.rules.recorded import dump_event, load_event
from agent.rules.shapes import approval_shape, run_shape
from agent.rules.state import RunState
from agent.rules.steps import AskModel, next_step
from agent.rules.transcript import Message, Told, ToolMessage, UserMessage, transcript
from agent.rules.waiting import waited
from tests.agent.rules.histories import History
from tests.agent.rules.legal_histories import legal_histories
from tests.agent.rules.legally import legally, states_of, with_what_followed


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
    for state in states_of(history):
        calls = state.calls
        for call_id, result in ended.items():
            assert calls[call_id].result == result
        for call in calls.values():
            assert (call.result is not None) == (call.status == "ended")
        ended |= {c.id: c.result for c in calls.values() if c.result is not None}


@legally
@given(legal_histories())
def test_a_call_that_has_ended_or_waits_for_a_person_is_never_started(history: History) -> None:
    for state, following in with_what_followed(history):
        if isinstance(following, CallStarted):
            call = state.calls[following.call_id]
            assert call.status in ("ready", "started")
            assert following.attempt == call.attempts + 1


@legally
@given(legal_histories())
def test_the_model_is_never_asked_while_a_call_is_open(history: History) -> None:
    for state, following in with_what_followed(history):
        if isinstance(following, ModelReplied):
            assert state.open_calls == ()


@legally
@given(legal_histories())
def test_what_people_are_asked_about_starts_only_after_enough_yeses_to_exactly_it(
    history: History,
) -> None:
    for state, event in with_what_followed(history):
        if not isinstance(event, CallStarted):
            continue
        call = state.calls[event.call_id]
        approval = state.approvals.get(call.approved_id) if call.approved_id else None
        assert call.verdict is not None
        if approval is not None:
            assert digest(approval.requested.args) == digest(dict(call.args))
            words = [word for word, _ in approval.yeses]
            assert is_enough(approval.approvers, state.requesters, words)


@legally
@given(legal_histories())
def test_an_approval_is_closed_exactly_when_nothing_can_be_decided_any_more(
    history: History,
) -> None:
    for state in states_of(history):
        for approval in state.approvals.values():
            assert (approval.closed_at is None) == (approval.status == "pending")
            assert (approval.decided is None) == (approval.decided_at is None)
            voters = [word.by for word, _ in approval.yeses]
            assert len(voters) == len(set(voters))
        asked = [a.requested.call_id for a in state.open_approvals]
        about = [call_id for call_id in asked if call_id is not None]
        assert {state.calls[call_id].status for call_id in about} <= {"waiting", "unknown"}
        assert len(asked) == len(set(asked)), "one open question on one thing"


@legally
@given(legal_histories())
def test_a_run_never_waited_longer_than_it_lived(history: History) -> None:
    for state in states_of(history):
        for now in (state.updated_at, state.updated_at + timedelta(hours=1)):
            assert timedelta() <= waited(state, now) <= now - state.started_at


@legally
@given(legal_histories())
def test_what_a_model_was_told_is_told_on_and_never_told_otherwise(history: History) -> None:
    told = Told()
    for state in states_of(history):
        settled, as_short = told.messages[: told.settled], told.shortened
        told = told.up_to(state)
        assert told.messages == transcript(state)
        if told.shortened == as_short:
            assert told.messages[: len(settled)] == settled
        if told.replies and next_step(state, state.updated_at) == AskModel():
            assert told.settled + len(state.unseen) == len(told.messages)


#: What changes what was told before.
TOLD_OTHERWISE = (MessageEdited, MessageDeleted, ConversationShortened, ConversationSummarised)


@legally
@given(legal_histories())
def test_what_a_model_is_told_begins_with_all_that_it_was_told_before(history: History) -> None:
    """But for what was edited, deleted or shortened since it was asked the last time; with a reply to words that
    were edited since, no run finishes."""
    states = states_of(history)
    before: tuple[Message, ...] = ()
    asked_before = 0
    for number, event in enumerate(one.event for one in history.recorded):
        if isinstance(event, RunFinished):
            since = history.recorded[asked_before:number]
            assert not any(isinstance(one.event, MessageEdited) for one in since)
        if isinstance(event, ModelReplied):
            told = transcript(states[event.asked_at - 1])
            since = history.recorded[asked_before : event.asked_at]
            if not any(isinstance(one.event, TOLD_OTHERWISE) for one in since):
                assert told[: len(before)] == before
            before, asked_before = told, event.asked_at


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
    for state in states_of(history):
        if next_step(state, state.updated_at) == AskModel():
            assert_strict(state)


@legally
@given(legal_histories())
def test_every_state_has_a_shape_for_other_programs(history: History) -> None:
    for state in states_of(history):
        shape = run_shape(state, now=state.updated_at)
        assert json.loads(json.dumps(shape)) == shape
        assert (shape["status"] in ("finished", "failed", "cancelled")) == state.is_ended
        for approval in state.approvals.values():
            json.dumps(approval_shape(approval, state))


def assert_strict(state: RunState) -> None:
    """What the strictest provider demands: after a reply with calls a result for each, in order,
    before anything else."""
    messages = transcript(state)
    assert messages[0] == UserMessage(state.prompt)
    owed: list[str] = []
    for message in messages[1:]:
        if isinstance(message, ToolMessage):
            assert message.model_call_id == owed.pop(0)
        elif isinstance(message, UserMessage):
            assert not owed
        else:
            assert not owed
            assert message.text.strip() or message.calls
            owed = [call.model_call_id for call in message.calls]
    assert not owed
    results = [m for m in messages if isinstance(m, ToolMessage)]
    # Of those that the summary stands for nothing is told one by one.
    told = state.replies[state.summarised :]
    assert len(results) == sum(len(reply.call_ids) for reply in told)
