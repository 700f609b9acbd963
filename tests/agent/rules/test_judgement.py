"""What is known of a call before it may run."""

from __future__ import annotations

from dataclasses import replace

from agent.rules.ids import CallId
from agent.rules.judgement import InvalidCall
from tests.agent.rules.histories import REFUND
from tests.agent.rules.judges import RefundJudge


def test_invalid_arguments_name_each_field() -> None:
    error = InvalidCall({"amount": "Enter a number.", "order": "This is needed."})
    assert str(error) == "amount: Enter a number.; order: This is needed."
    assert error.errors == {"amount": "Enter a number.", "order": "This is needed."}


def test_a_judgement_says_all_that_is_recorded_of_it() -> None:
    judgement = RefundJudge(can_preview=True, preview_must_match=True)("process_refund", REFUND)
    event = replace(judgement, is_question=True).of(CallId("call_1"), again_because="it changed")
    for name in ("title", "effect", "args", "parameters", "schema_digest", "verdict"):
        assert getattr(event, name) == getattr(judgement, name)
    assert (event.can_preview, event.preview_must_match, event.is_question) == (True, True, True)
    assert event.again_because == "it changed"
    assert judgement.of(CallId("call_1")).again_because is None
