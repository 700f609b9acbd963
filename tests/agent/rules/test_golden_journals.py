"""Golden journals: what was ever written is still read, and means what it meant."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import get_args

import pytest

from agent.rules.consent import denials_of
from agent.rules.events import Event, Receipt
from agent.rules.fold import fold
from agent.rules.ids import CallId
from agent.rules.recorded import dump_event
from agent.rules.shapes import run_shape, waited
from agent.rules.state import CallResult, RunState
from agent.rules.transcript import ToolMessage, transcript
from tests.agent.rules.golden import JOURNALS, read_golden

KINDS = {model.model_fields["kind"].default for model in get_args(get_args(Event)[0])}
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


def assert_part_of(written: object, dumped: object) -> None:
    """Everything of ``written`` stands in ``dumped``, at every depth."""
    if isinstance(written, dict) and isinstance(dumped, dict):
        for key, value in written.items():
            assert key in dumped
            assert_part_of(value, dumped[key])
    elif isinstance(written, list) and isinstance(dumped, list):
        for one, other in zip(written, dumped, strict=True):
            assert_part_of(one, other)
    else:
        assert written == dumped


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
