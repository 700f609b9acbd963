"""The journal's vocabulary on its way to the store and back, now and in later versions."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from agent.errors import UnknownEvent
from agent.rules import upcasts
from agent.rules.events import (
    CallReturned,
    Event,
    RunFinished,
    Usage,
    describe_event,
    dump_event,
    dump_text,
    load_event,
)
from agent.rules.fold import fold
from agent.rules.ids import CallId
from agent.rules.shapes import run_shape
from agent.rules.transcript import ToolMessage, transcript
from tests.agent.rules.golden import JOURNALS, read_golden
from tests.agent.rules.histories import BEGAN, asked, recorded, replied, waiting

KINDS = {model.model_fields["kind"].default for model in get_args(get_args(Event)[0])}


@pytest.mark.parametrize(
    ("fields", "kind", "version"),
    [
        ({"kind": "run_teleported", "where": "home"}, "run_teleported", 1),
        ({"kind": "run_teleported", "version": 3}, "run_teleported", 3),
        ({"kind": "run_finished", "version": 2, "answer": {"new": "form"}}, "run_finished", 2),
        ({"kind": "run_finished", "version": "2", "answer": "x"}, "run_finished", 2),
    ],
)
def test_what_a_newer_build_wrote_is_left_for_it(
    fields: dict[str, Any], kind: str, version: int
) -> None:
    with pytest.raises(UnknownEvent) as raised:
        load_event(fields)
    assert (raised.value.kind, raised.value.version) == (kind, version)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "run_finished"},
        {"kind": "run_finished", "answer": 5},
        {"kind": "run_finished", "answer": "x", "version": "first"},
        {"kind": "run_finished", "answer": "x", "version": None},
        {"kind": "run_finished", "answer": "x", "version": [1]},
        {"kind": "call_started", "call_id": "c", "attempt": 1, "deadline": "2026-11-29T12:00:00"},
        {"kind": "call_refused", "call_id": "c", "code": "mood", "message": "x"},
    ],
)
def test_what_no_build_could_have_written_is_a_validation_error(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        load_event(fields)


def test_fields_that_this_build_does_not_know_are_ignored_at_every_depth() -> None:
    fields = dump_event(replied(1, text="Hello."))
    fields["mood"] = "good"
    fields["usage"]["joules"] = 3
    fields["calls"][0]["colour"] = "red"
    assert load_event(fields) == replied(1, text="Hello.")


def test_fields_that_came_later_have_defaults() -> None:
    assert load_event({"kind": "run_finished", "answer": "Done."}) == RunFinished(answer="Done.")
    assert load_event({"kind": "call_returned", "call_id": "c", "output": None}) == CallReturned(
        call_id=CallId("c"), output=None
    )


def test_older_forms_are_brought_up_to_date_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def named(fields: upcasts.Fields) -> upcasts.Fields:
        return {"kind": "run_finished", "version": 0, "text": fields["said"]}

    def renamed(fields: upcasts.Fields) -> upcasts.Fields:
        return {"kind": "run_finished", "version": 1, "answer": fields["text"]}

    monkeypatch.setitem(upcasts.STEPS, ("run_ended", 7), named)
    monkeypatch.setitem(upcasts.STEPS, ("run_finished", 0), renamed)
    old = {"kind": "run_ended", "version": 7, "said": "Done."}
    assert load_event(old) == RunFinished(answer="Done.")
    assert old == {"kind": "run_ended", "version": 7, "said": "Done."}


def test_costs_keep_every_digit() -> None:
    usage = Usage(cost_usd=Decimal("0.000123456789012345678"))
    event = replied().model_copy(update={"usage": usage})
    assert load_event(json.loads(dump_text(dump_event(event)))) == event


@pytest.mark.parametrize("output", [float("nan"), float("inf"), {"a": [-float("inf")]}])
def test_what_is_not_json_never_becomes_text(output: Any) -> None:
    event = CallReturned(call_id=CallId("c"), output=output)
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump_text(dump_event(event))


def test_an_event_is_never_changed() -> None:
    event: Any = RunFinished(answer="x")
    with pytest.raises(ValidationError, match="frozen"):
        event.answer = "y"


def test_an_event_is_shown_with_its_place_in_the_journal() -> None:
    shown = describe_event(recorded(3, BEGAN, RunFinished(answer="Done.")))
    assert shown == {
        "seq": 3,
        "id": "event-3",
        "at": "2026-11-29T12:00:00Z",
        "hash": f"{3:064x}",
        "kind": "run_finished",
        "version": 1,
        "answer": "Done.",
    }


def test_the_chains_hash_is_not_hidden_by_the_approvals_own() -> None:
    event = asked(1)
    shown = describe_event(recorded(4, BEGAN, event))
    assert (shown["hash"], shown["binding_hash"]) == (f"{4:064x}", event.hash)


def test_no_event_has_a_field_that_hides_its_place() -> None:
    for model in get_args(get_args(Event)[0]):
        assert not {"seq", "id", "at", "run_id", "binding_hash"} & set(model.model_fields)


# Golden journals: what was ever written is still read


GOLDEN = sorted(path.stem for path in JOURNALS.glob("*.jsonl"))


@pytest.mark.parametrize("name", GOLDEN)
def test_every_journal_ever_written_still_folds(name: str) -> None:
    journal = read_golden(name)
    assert fold(journal).seq == len(journal)


def test_the_golden_journals_hold_every_kind_of_event() -> None:
    assert {one.event.kind for name in GOLDEN for one in read_golden(name)} == KINDS


@pytest.mark.parametrize("name", [name for name in GOLDEN if name.startswith("0.1.0-")])
def test_this_version_still_writes_what_it_wrote(name: str) -> None:
    """A field that is lost or renamed shows here. New optional fields may come, and only they."""
    lines = (JOURNALS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    for line, one in zip(lines, read_golden(name), strict=True):
        written = json.loads(line)["event"]
        assert written.items() <= dump_event(one.event).items()


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


def test_a_state_knows_where_its_journal_ended() -> None:
    assert waiting().state.head_hash == f"{4:064x}"
