"""What a call's arguments say is secret is taken out of any text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import JsonValue

from agent.rules.known_secrets import KnownSecrets, secrets_of

SECRET = {"type": "string", "format": "password", "writeOnly": True}
SCHEMA = {
    "properties": {"key": SECRET, "name": {"type": "string"}, "pin": {**SECRET, "type": "integer"}}
}


@pytest.mark.parametrize(
    ("args", "texts"),
    [
        ({"key": "s3cr3t", "name": "bob"}, {"s3cr3t"}),
        ({"key": "", "name": "bob"}, set()),
        ({"key": None}, set()),
        ({"pin": 1234}, {"1234"}),
        ({"headers": {"Authorization": "Bearer abc123XYZ"}}, {"abc123XYZ"}),
        ({"command": ["mysql", "--password", "hunter22"]}, {"hunter22"}),
        ({"password": "hunter22"}, {"hunter22"}),
    ],
)
def test_what_is_masked_where_it_is_shown_is_known(
    args: dict[str, JsonValue], texts: set[str]
) -> None:
    assert secrets_of(args, SCHEMA).texts == texts


@pytest.mark.parametrize(
    "text",
    [
        "key s3cr3t, done",
        "s3cr3t",
        'a "quo\\"ted\\n" one',
        repr("quo\"ted\n'"),
        json.dumps({"key": "quo\"ted\n'"}),
    ],
)
def test_it_is_hidden_however_it_is_written(text: str) -> None:
    known = KnownSecrets(frozenset({"s3cr3t", "quo\"ted\n'", 'quo"ted\n'}))
    hidden = known.hide(text)
    assert "••••••••" in hidden
    assert "s3cr3t" not in hidden
    assert "ted" not in hidden


def test_a_short_one_is_hidden_as_a_word_alone() -> None:
    known = KnownSecrets(frozenset({"cat"}))
    assert known.hide("cat, category") == "••••••••(3 characters), category"


def test_the_longer_of_two_is_hidden_whole() -> None:
    known = KnownSecrets(frozenset({"abcd"})) | KnownSecrets(frozenset({"abcdefgh"}))
    assert known.hide("abcdefgh") == "••••••••(8 characters)"


def test_it_is_hidden_at_any_depth() -> None:
    known = KnownSecrets(frozenset({"s3cr3t"}))
    value: Any = {"s3cr3t": ["s3cr3t!", 1, None, {"a": "b s3cr3t"}]}
    assert "s3cr3t" not in json.dumps(known.hide_in(value))
    assert KnownSecrets().hide_in(value) == value
