"""A run as it may be shown: without what its calls' arguments say is secret, wherever that stands."""

from __future__ import annotations

import json

from agent.rules.events import ApprovalDecided, CallJudged, CallRefused, Event, RunFinished
from agent.rules.ids import ApprovalId
from agent.rules.interventions import (
    HistoryTaken,
    MessageReceived,
    PastCall,
    PastTurn,
    SessionContinued,
)
from agent.rules.long_conversations import ConversationSummarised
from agent.rules.parts import GivenFile, ProposedCall, Quoted, Summary
from agent.rules.recorded import dump_event
from agent.rules.shapes import approval_shape
from agent.rules.summing_up import summary_of
from agent.rules.veiling import known_in, veiled, veiled_event
from tests.agent.rules.histories import (
    ALICE,
    BEGAN,
    BOB,
    History,
    asked,
    begun,
    call_started,
    judged,
    left_unknown,
    progressed,
    replied,
    returned,
)

SCHEMA = {"properties": {"vault": {"type": "string", "format": "password", "writeOnly": True}}}
ARGS = {"vault": "s3cr3t-1", "order": "ORD-1"}
PROPOSED = '{"vault": "s3cr3t-1", "order": "ORD-1"}'


def of_a_secret(*events: Event) -> History:
    """A call with one was judged, and then this."""
    reply = replied(1)
    [call] = reply.calls
    proposed = call.model_copy(update={"arguments": PROPOSED})
    reply = reply.model_copy(update={"calls": (proposed,), "text": "I take s3cr3t-1."})
    verdict = judged(1, "ask").model_copy(update={"args": ARGS, "parameters": SCHEMA})
    assert isinstance(verdict, CallJudged)
    return begun("log in with s3cr3t-1").then(reply, verdict, *events)


def steered() -> ApprovalDecided:
    return ApprovalDecided(
        approval_id=ApprovalId("apr_1"),
        by=BOB,
        action="steer",
        authority="operator",
        args={"vault": "s3cr3t-2", "order": "ORD-1"},
        note="not s3cr3t-1",
    )


ALL = of_a_secret(
    asked(1).model_copy(update={"args": ARGS}),
    steered(),
)
RUNNING = of_a_secret(
    call_started(1, BEGAN),
    progressed(1, "trying s3cr3t-1"),
    returned(1, {"s3cr3t-1": ["with s3cr3t-1", 7]}),
    RunFinished(answer="In with s3cr3t-1."),
)


def test_every_form_in_which_a_call_had_them_is_known() -> None:
    assert known_in(ALL.state).texts == {"s3cr3t-1", "s3cr3t-2"}
    assert known_in(begun().state).texts == frozenset()


def test_the_state_that_is_shown_has_none_of_them_but_for_the_arguments() -> None:
    shown = veiled(RUNNING.state)
    [call] = shown.calls.values()
    assert call.args == ARGS
    assert call.result is not None
    for text in (shown.prompt, shown.answer, shown.replies[0].text, str(call.result.output)):
        assert "••••••••(8 characters)" in (text or "")
        assert "s3cr3t" not in (text or "")
    assert call.progress == "trying ••••••••(8 characters)"
    decided = veiled(ALL.state).approvals[ApprovalId("apr_1")].decided
    assert decided is not None
    assert decided.note == "not ••••••••(8 characters)"


def test_a_call_that_was_never_judged_is_shown_without_them_as_it_was_proposed() -> None:
    reply = replied(1)
    [call] = reply.calls
    reply = reply.model_copy(update={"calls": (call.model_copy(update={"arguments": PROPOSED}),)})
    refused = CallRefused(call_id=call.call_id, code="invalid_args", message="no such vault")
    state = begun().then(reply, refused).state
    [shown] = veiled(state, known_in(state, {call.tool: SCHEMA})).calls.values()
    assert "s3cr3t" not in shown.proposed.arguments
    assert "ORD-1" in shown.proposed.arguments


def test_a_run_without_any_is_shown_as_it_is() -> None:
    state = begun().then(replied(1), judged(1), call_started(1, BEGAN), left_unknown(1)).state
    assert veiled(state) is state


def test_a_question_of_the_agent_is_freed_of_them_but_for_its_options() -> None:
    args = {"question": "Is s3cr3t-1 right?", "options": ["s3cr3t-1", "no"]}
    question = asked(1, kind="question").model_copy(
        update={"approval_id": ApprovalId("apr_2"), "args": args, "reason": "Is s3cr3t-1 right?"}
    )
    shown = veiled(of_a_secret(question).state).approvals[ApprovalId("apr_2")].requested
    assert shown.args["question"] == shown.reason == "Is ••••••••(8 characters) right?"
    assert shown.args["options"] == args["options"]


def test_no_event_that_is_shown_has_one() -> None:
    for history in (ALL, RUNNING):
        known = known_in(history.state)
        for one in history.recorded:
            shown = veiled_event(one.event, history.state, known)
            assert "s3cr3t" not in json.dumps(dump_event(shown)), one.event.kind
            assert dump_event(shown)["kind"] == one.event.kind


def test_no_event_has_one_in_what_came_with_words_nor_in_a_summary() -> None:
    file = GivenFile(name="s3cr3t-1.txt", size=9, text="it is s3cr3t-1")
    quoted = Quoted(by=ALICE, text="try s3cr3t-1")
    said = MessageReceived(by=BOB, text="now", quoted=(quoted,), files=(file,))
    summary = Summary(text="took s3cr3t-1", said=("use s3cr3t-1",), done=("log_in: s3cr3t-1",))
    summarised = ConversationSummarised(replies=0, summary=summary, asked_at=1, model="m")
    known = known_in(ALL.state)
    for event in (
        said,
        summarised,
        HistoryTaken(of_run=ALL.state.run_id, up_to=3, summary=summary),
    ):
        shown = veiled_event(event, ALL.state, known)
        assert "s3cr3t" not in json.dumps(dump_event(shown)), event.kind
        assert type(shown).model_validate(shown.model_dump()) == shown


def test_a_question_as_programs_see_it_has_none() -> None:
    state = ALL.state
    shape = approval_shape(state.approvals[ApprovalId("apr_1")], state)
    assert "s3cr3t" not in json.dumps(shape["args"])
    assert "s3cr3t" not in json.dumps(shape["decision"]["args"])
    assert shape["args"]["order"] == "ORD-1"


def test_those_of_a_run_before_are_known_by_the_tools_that_are_here() -> None:
    [call] = replied(1).calls
    past = PastCall(proposed=call.model_copy(update={"arguments": PROPOSED}), told="ok")
    turn = PastTurn(said=("use s3cr3t-1",), text="I take s3cr3t-1.", calls=(past,))
    event = SessionContinued(of_run=begun().state.run_id, turns=(turn,))
    history = begun().then(event)
    known = known_in(history.state, {call.tool: SCHEMA})
    assert known.texts == {"s3cr3t-1"}
    shown = veiled_event(event, history.state, known)
    assert "s3cr3t" not in json.dumps(dump_event(shown))
    assert isinstance(shown, SessionContinued)
    assert isinstance(shown.turns[0].calls[0].proposed, ProposedCall)


def test_a_summary_has_none_of_them() -> None:
    history = of_a_secret(call_started(1, BEGAN), returned(1, "in with s3cr3t-1"))
    kept = summary_of(history.state, 1, "Logged in with s3cr3t-1.", None)
    assert len(kept.done) == 1
    assert "s3cr3t-1" not in kept.done[0]
    told = Summary(text=kept.text, said=("log in with s3cr3t-1",), done=("log_in: s3cr3t-1",))
    event = ConversationSummarised(replies=1, summary=told, asked_at=history.state.seq, model="m")
    summed_up = history.then(event)
    shown = veiled_event(event, summed_up.state, known_in(summed_up.state))
    assert "s3cr3t-1" not in json.dumps(dump_event(shown))
    assert "s3cr3t-1" not in str(veiled(summed_up.state).summary)
