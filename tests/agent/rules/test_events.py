"""The journal's vocabulary on its way to the store and back, now and in later versions."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from agent.errors import UnknownEvent
from agent.rules import upcasts
from agent.rules.events import MODELS, CallReturned, RunFinished
from agent.rules.ids import CallId
from agent.rules.json_text import dump_text
from agent.rules.parts import Usage
from agent.rules.recorded import describe_event, dump_event, load_event
from tests.agent.rules.histories import BEGAN, asked, recorded, replied, waiting


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
    for model in MODELS:
        assert not {"seq", "id", "at", "run_id", "binding_hash"} & set(model.model_fields)


def test_a_state_knows_where_its_journal_ended() -> None:
    assert waiting().state.head_hash == f"{4:064x}"
