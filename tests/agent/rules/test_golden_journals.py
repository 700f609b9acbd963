"""Golden journals: what was ever written is still read, and means what it meant."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from agent.rules.calls import CallResult
from agent.rules.consent import denials_of
from agent.rules.events import MODELS
from agent.rules.fold import fold
from agent.rules.ids import CallId
from agent.rules.parts import Receipt
from agent.rules.recorded import dump_event
from agent.rules.shapes import run_shape
from agent.rules.state import RunState
from agent.rules.transcript import ToolMessage, UserMessage, transcript
from agent.rules.waiting import waited
from tests.agent.rules.golden import JOURNALS, assert_part_of, read_golden

KINDS = {model.model_fields["kind"].default for model in MODELS}
GOLDEN = sorted(path.stem for path in JOURNALS.glob("*.jsonl"))


@pytest.mark.parametrize("name", GOLDEN)
def test_every_journal_ever_written_still_folds(name: str) -> None:
    journal = read_golden(name)
    assert fold(journal).seq == len(journal)


def test_the_golden_journals_hold_every_kind_of_event() -> None:
    assert {one.event.kind for name in GOLDEN for one in read_golden(name)} == KINDS


@pytest.mark.parametrize("name", [name for name in GOLDEN if name.startswith("0.1.0-")])
def test_this_version_still_writes_what_it_wrote(name: str) -> None:
    """A field that is lost, renamed or changed shows here. New fields may come, and only they."""
    lines = (JOURNALS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    for line, one in zip(lines, read_golden(name), strict=True):
        written = json.loads(line)["event"]
        dumped = dump_event(one.event)
        assert written.pop("version") <= dumped["version"]
        assert_part_of(written, dumped)


def test_the_steered_refund_still_means_what_it_meant() -> None:
    state = fold(read_golden("0.1.0-refund-steered"))
    shape = run_shape(state, now=state.updated_at)
    assert shape == {
        "id": "run_golden_1",
        "agent": "refunds",
        "session": "ses_1",
        "prompt": "refund ORD-3300 180",
        "requester": "slack:T0PILOT:U0ALICE",
        "status": "finished",
        "waiting_for": None,
        "blocked": None,
        "next_step": None,
        "state_version": 15,
        "holder": None,
        "answer": "Refund of $90.00 for ORD-3300 is complete.",
        "error": None,
        "approvals": [],
        "calls": [
            {
                "call_id": "call_1",
                "operation_id": "op_1",
                "tool": "search_policy",
                "status": "ok",
                "attempts": 1,
                "receipt": None,
            },
            {
                "call_id": "call_2",
                "operation_id": "op_2",
                "tool": "process_refund",
                "status": "ok",
                "attempts": 1,
                "receipt": {"status": "committed", "external_id": "re_1"},
            },
        ],
        "usage": {
            "model_calls": 3,
            "input_tokens": 140,
            "output_tokens": 40,
            "cost_usd": 0.0012,
        },
        "started_at": "2026-11-29T12:00:00.000Z",
        "updated_at": "2026-11-29T12:02:13.000Z",
        "ended_at": "2026-11-29T12:02:13.000Z",
        "waited_seconds": 120.0,
        "thread": None,
    }
    refund = state.calls[CallId("call_2")]
    assert (refund.args, refund.original_args) == (
        {"order": "ORD-3300", "amount": 90},
        {"order": "ORD-3300", "amount": 180},
    )


def test_the_unknown_effect_still_means_what_it_meant() -> None:
    state = fold(read_golden("0.1.0-effect-unknown"))
    outcomes = {call.id: call.result.outcome for call in state.calls.values() if call.result}
    assert outcomes == {
        "call_1": "happened",
        "call_2": "denied",
        "call_3": "refused",
        "call_4": "guided",
    }
    assert [(a.id, a.kind, a.status, a.superseded_by) for a in state.approvals.values()] == [
        ("apr_1", "call", "approved", "apr_3"),
        ("apr_2", "call", "denied", None),
        ("apr_3", "call", "approved", "apr_4"),
        ("apr_4", "review", "settled", "apr_5"),
        ("apr_5", "review", "settled", None),
        ("apr_6", "call", "steered", None),
    ]
    assert (state.ending, state.error) == ("failed", "no such model")
    results = [m.output for m in transcript(state) if isinstance(m, ToolMessage)]
    assert len(results) == 4


def approvals_of(state: RunState) -> list[tuple[str, str, str, str | None]]:
    return [(a.id, a.kind, a.status, a.superseded_by) for a in state.approvals.values()]


def test_what_was_asked_of_several_still_means_what_it_meant() -> None:
    state = fold(read_golden("0.1.0-asked-of-several"))
    assert approvals_of(state) == [
        ("apr_1", "question", "answered", None),
        ("apr_2", "call", "approved", "apr_3"),
        ("apr_3", "call", "steered", "apr_4"),
        ("apr_4", "call", "approved", None),
        ("apr_5", "call", "denied", None),
        ("apr_6", "call", "denied", None),
    ]
    grown = [
        [(word.by.rpartition(":")[2], word.groups) for word, _ in approval.yeses]
        for approval in state.approvals.values()
        if approval.status == "approved"
    ]
    assert grown == [[("U0BOB", ("S0FINANCE",)), ("U0GRACE", ("S0LEGAL",))]] * 2
    refund = state.calls[CallId("call_2")]
    assert (refund.preview_changes, refund.approved_id, refund.args["amount"]) == (1, "apr_4", 90)
    assert refund.rechecked_at is not None
    assert refund.verdict is not None
    assert refund.verdict.valid_for == timedelta(hours=1)
    assert denials_of(state, "process_refund", {"order": "ORD-3300", "amount": 180}) == 2
    assert [m.output for m in transcript(state) if isinstance(m, ToolMessage)] == [
        "A person answered: staging",
        "A person changed the arguments; it was executed with"
        ' {"order":"ORD-3300","amount":90}.\n{"refund":"re_1"}',
        "Denied by the agent's own decider. It was not executed and will not be."
        " Reason: above the limit",
        "Denied by a person. It was not executed and will not be."
        " Nobody will be asked about exactly this again. Reason: no",
        "Not executed and not queued."
        " People have denied exactly this in this run, and are not asked again.",
    ]
    assert state.ending == "finished"


def test_what_failed_and_was_taken_on_again_still_means_what_it_meant() -> None:
    state = fold(read_golden("0.1.0-failed-and-taken-on-again"))
    (call,) = state.calls.values()
    assert (call.attempts, call.result) == (2, CallResult("ok", "paid"))
    assert call.receipt == Receipt(status="committed", external_id="pay_1")
    assert approvals_of(state) == [
        ("apr_1", "review", "settled", "apr_2"),
        ("apr_2", "review", "cancelled", None),
    ]
    assert (state.ending, state.answer, state.reopened) == ("finished", "ORD-1 is paid.", 2)
    # Five minutes until it was checked, and a second until it answered after all.
    assert waited(state, state.updated_at) == timedelta(minutes=5, seconds=1)


def test_what_people_and_time_did_still_means_what_it_meant() -> None:
    state = fold(read_golden("0.1.0-people-and-time"))
    assert approvals_of(state) == [
        ("apr_1", "call", "expired", "apr_2"),
        ("apr_2", "call", "expired", "apr_3"),
        ("apr_3", "call", "approved", None),
    ]
    first, second, third = state.approvals.values()
    assert (first.reminders, first.stage, first.approvers.groups) == (
        2,
        1,
        ("S0FINANCE", "S0LEGAL"),
    )
    assert second.approvers.users == ("U0CAROL",)
    assert (second.asked_again_at is not None, third.requested.again_because) == (
        True,
        "nobody decided in time",
    )
    assert [(said.text, said.seq) for said in state.said] == [
        ("it is urgent", 12),
        ("only look at it", 19),
    ]
    assert [tuple(words.text for words in reply.heard) for reply in state.replies] == [
        (),
        ("it is urgent",),
        ("only look at it",),
        (),
    ]
    outcomes = [call.result.outcome for call in state.calls.values() if call.result]
    assert outcomes == ["ok", "refused", "ok"]
    # Six hours until nobody was left, and a minute until it was resumed.
    assert waited(state, state.updated_at) == timedelta(hours=6, minutes=1)
    assert (state.ending, state.answer) == ("finished", "ORD-1 is paid, and open.")


def test_what_was_stopped_still_means_what_it_meant() -> None:
    by_a_person = fold(read_golden("0.1.0-stopped-by-a-person"))
    assert by_a_person.stop is not None
    assert (by_a_person.ending, by_a_person.stop.reason) == ("cancelled", "wrong order")
    assert [one[1:3] for one in approvals_of(by_a_person)] == [
        ("call", "cancelled"),
        ("review", "settled"),
    ]
    by_silence = fold(read_golden("0.1.0-stopped-by-silence"))
    assert by_silence.stop is not None
    assert (by_silence.ending, by_silence.stop.by) == ("cancelled", "policy:silence")
    outcomes = {
        call.tool: call.result and call.result.outcome for call in by_silence.calls.values()
    }
    assert outcomes == {"ship": "expired", "close": None}


def test_what_was_used_up_still_means_what_it_meant() -> None:
    asks = fold(read_golden("0.1.0-a-budget-that-asks"))
    assert asks.allowances == {"model_calls": Decimal(1)}
    assert [one[1:3] for one in approvals_of(asks)] == [
        ("budget", "approved"),
        ("budget", "denied"),
    ]
    assert (asks.ending, asks.model_calls) == ("cancelled", 2)
    stops = fold(read_golden("0.1.0-a-budget-that-stops"))
    assert stops.stop is not None
    assert stops.stop.reason == "This run has used its budget: 1 of 1 model calls."


def test_what_was_forked_still_means_what_it_meant() -> None:
    state = fold(read_golden("0.1.0-forked"))
    assert state.taken_from is not None
    assert [type(message).__name__ for message in transcript(state)] == [
        "UserMessage",
        "AssistantMessage",
        "ToolMessage",
        "ToolMessage",
        "UserMessage",
        "AssistantMessage",
    ]
    assert state.model_calls == 1


def test_what_went_on_with_a_conversation_still_means_what_it_meant() -> None:
    state = fold(read_golden("0.1.0-a-conversation"))
    assert [getattr(one, "text", None) or "a result" for one in transcript(state)] == [
        *("find ORD-1", "a result", "a result", "Found."),
        *("[So far the earlier runs of this conversation: they have ended. What follows is new.]",),
        *("when?", "Yesterday."),
    ]
    assert (state.calls, state.model_calls) == ({}, 1)


def test_what_was_rewritten_still_means_what_it_meant() -> None:
    state = fold(read_golden("0.1.0-rewritten"))
    assert [one.text for one in state.quoted] == ["ORD-1!"], "and not what was said to it as well"
    assert [(one.text, one.is_guidance) for one in state.said] == [
        ("not ORD-2", False),
        ("find it first", True),
        ("and ORD-5, too", False),
    ]
    assert (state.form, state.ending, state.deleted) == (6, "cancelled", frozenset({"ts-6"}))


def test_the_newest_edit_still_holds() -> None:
    state = fold(read_golden("0.1.0-edits-out-of-order"))
    (quote,), (said,) = state.quoted, state.said
    assert (state.prompt, quote.text, said.text) == ("newer", "newer", "newer")
    assert {state.as_of, quote.as_of, said.as_of} == {datetime(2026, 11, 29, 11, 59, 1, tzinfo=UTC)}
    assert (state.form, state.answer) == (6, "It is open.")


def test_what_was_handed_on_still_means_what_it_meant() -> None:
    state = fold(read_golden("0.1.0-handed-on"))
    assert [one.text for one in state.said_earlier] == ["and ORD-5, too"]
    told = [one.text for one in transcript(state) if isinstance(one, UserMessage)]
    assert told[-2:] == ["and ORD-5, too", "go on"]
    assert (state.form, state.answer) == (6, "ORD-5 is open.")
