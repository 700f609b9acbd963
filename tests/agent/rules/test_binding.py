"""What an approval is bound to, and when a yes still holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import JsonValue

from agent.rules.binding import binding_hash, digest
from agent.rules.events import Approvers
from agent.rules.judgement import InvalidCall, Judgement, has_consent
from agent.rules.state import Call
from tests.agent.rules.histories import (
    REFUND,
    History,
    approved,
    denied,
    in_review,
    settled,
    steered,
    waiting,
)
from tests.agent.rules.judges import RefundJudge


def test_the_hash_changes_with_each_part() -> None:
    hashes = [
        binding_hash("refund", "schema", {"amount": 180}, None),
        binding_hash("refund2", "schema", {"amount": 180}, None),
        binding_hash("refund", "schema2", {"amount": 180}, None),
        binding_hash("refund", "schema", {"amount": 180.01}, None),
        binding_hash("refund", "schema", {"amount": "180"}, None),
        binding_hash("refund", "schema", {"amount": 180, "note": None}, None),
        binding_hash("refund", "schema", {"other": 180}, None),
        binding_hash("refund", "schema", {}, None),
        binding_hash("refund", "schema", {"amount": 180}, ""),
        binding_hash("refund", "schema", {"amount": 180}, "to card 42"),
    ]
    assert len(set(hashes)) == len(hashes)


def test_the_order_of_keys_and_the_spelling_of_numbers_change_nothing() -> None:
    assert digest({"a": 1, "b": {"c": 2, "d": 3}}) == digest({"b": {"d": 3, "c": 2}, "a": 1})
    assert digest({"a": 180}) == digest({"a": 180.0})
    assert digest([1, 2]) != digest([2, 1])


def test_a_hash_is_the_same_in_every_version_of_this_program() -> None:
    """RFC 8785 and SHA-256, so that anybody can check it: sha256 of {"a":[1,"ä"],"b":null}."""
    known = "09d06402b1598786e7403149b3c484b8ab826d83c444852812290076db12646b"
    assert digest({"b": None, "a": [1.0, "ä"]}) == known


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        2**53,
        -(2**53),
        10**400,
        {"deep": [{"er": float("nan")}]},
        "\ud800",
        {1: "a key that is no text"},
        b"bytes",
        {1, 2},
    ],
    ids=lambda value: str(type(value).__name__),
)
def test_what_has_no_canonical_form_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        digest(value)
    with pytest.raises(ValueError, match=r"\w"):
        binding_hash("refund", "schema", {"x": value}, None)


def test_the_largest_safe_integer_is_bound() -> None:
    assert digest(2**53 - 1) != digest(2**53 - 2)


# When a yes still holds


def only_call(history: History) -> Call:
    (call,) = history.state.calls.values()
    return call


def judgement(args: dict[str, JsonValue] = REFUND, judge: RefundJudge | None = None) -> Judgement:
    return (judge or RefundJudge())("process_refund", args)


def consents(history: History, judged: Judgement) -> bool:
    return has_consent(history.state, only_call(history), judged)


def test_a_yes_to_exactly_this_call_holds() -> None:
    assert consents(waiting().then(approved(1)), judgement())


@pytest.mark.parametrize(
    "judged",
    [
        judgement({**REFUND, "amount": 181}),
        judgement({**REFUND, "order": "ORD-1"}),
        replace(judgement(), schema_digest="changed"),
        replace(judgement(), tool="another"),
        judgement(judge=RefundJudge(approvers=Approvers(groups=("S0BOARD",)))),
    ],
)
def test_a_yes_to_something_else_does_not(judged: Judgement) -> None:
    assert not consents(waiting().then(approved(1)), judged)


@pytest.mark.parametrize(
    "history", [waiting(), waiting().then(denied(1)), waiting().then(steered(1, REFUND))]
)
def test_nothing_but_a_yes_is_one(history: History) -> None:
    assert not consents(history, judgement())


def test_a_yes_still_holds_after_a_review_found_that_nothing_happened() -> None:
    assert consents(in_review().then(settled(2, "not_happened")), judgement())


def test_invalid_arguments_name_each_field() -> None:
    error = InvalidCall({"amount": "Enter a number.", "order": "This is needed."})
    assert str(error) == "amount: Enter a number.; order: This is needed."
    assert error.errors == {"amount": "Enter a number.", "order": "This is needed."}
