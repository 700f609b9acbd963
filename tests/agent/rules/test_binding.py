"""What an approval is bound to."""

from __future__ import annotations

from typing import Any

import pytest

from agent.rules.binding import binding_hash, digest


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
