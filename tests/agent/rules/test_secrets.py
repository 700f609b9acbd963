"""Which arguments are masked wherever they are shown."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, JsonValue, SecretStr

from agent.rules.json_text import dump_text
from agent.rules.secrets import MASK, hide_secrets, is_secret_name
from agent.rules.values import show_args


class Login(BaseModel):
    user: str
    key: SecretStr
    next: Login | None = None


class Args(BaseModel):
    key: SecretStr | None = None
    keys: list[SecretStr] = []
    by_name: dict[str, SecretStr] = {}
    login: Login | str = ""
    pair: tuple[str, SecretStr] | None = None
    password: str | int = ""
    free: Any = None


SCHEMA = Args.model_json_schema()


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        ({"key": "s3"}, {"key": MASK}),
        ({"key": None}, {"key": None}),
        ({"keys": ["s3", "t4"]}, {"keys": [MASK, MASK]}),
        ({"by_name": {"a": "s3"}}, {"by_name": {"a": MASK}}),
        ({"pair": ["a", "s3"]}, {"pair": ["a", MASK]}),
        (
            {"login": {"user": "bob", "key": "s3", "next": {"user": "eve", "key": "t4"}}},
            {"login": {"user": "bob", "key": MASK, "next": {"user": "eve", "key": MASK}}},
        ),
        ({"login": "bob"}, {"login": "bob"}),
        ({"password": "hunter2"}, {"password": MASK}),
        ({"password": 1234}, {"password": MASK}),
        ({"password": ""}, {"password": ""}),
        ({"free": {"key": "nobody declares it"}}, {"free": {"key": "nobody declares it"}}),
        ({"more": [1]}, {"more": [1]}),
        ({"more": []}, {"more": []}),
        (
            {"free": {"secret": {"value": "x", "is": True}, "password": ["x", 1]}},
            {"free": {"secret": {"value": MASK, "is": True}, "password": [MASK, MASK]}},
        ),
        ({"headers": [{"Authorization": ["Basic x"]}]}, {"headers": [{"Authorization": [MASK]}]}),
        ({"cookie": "a=b", "api_keys": "k"}, {"cookie": MASK, "api_keys": MASK}),
        ({"argv": ["--password", "hunter2", "x"]}, {"argv": ["--password", MASK, "x"]}),
        ({"argv": ["-u", "bob:pw", "-u", "1:2"]}, {"argv": ["-u", f"bob:{MASK}", "-u", "1:2"]}),
        ({"argv": ["--token", "$(reboot)"]}, {"argv": ["--token", "$(reboot)"]}),
        ({"argv": ["--token", "--help"]}, {"argv": ["--token", "--help"]}),
        ({"argv": ["--token-file", "x"]}, {"argv": ["--token-file", "x"]}),
    ],
)
def test_what_its_name_or_the_schema_calls_a_secret_is_masked(
    args: dict[str, JsonValue], shown: dict[str, JsonValue]
) -> None:
    assert hide_secrets(args, SCHEMA) == shown


@pytest.mark.parametrize(
    "name",
    [
        "passwords",
        "api_keys",
        "tokens",
        "password2",
        "password_new",
        "newPassword",
        "DB_PASS",
        "pwd",
        "clientSecret",
        "Authorization",
        "cookies",
    ],
)
def test_a_secret_is_known_by_its_name(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["secretary", "bypass", "token_count", "cookie_policy", "order"])
def test_what_only_begins_like_a_secrets_name_is_none(name: str) -> None:
    assert not is_secret_name(name)


def test_how_many_tokens_is_no_secret() -> None:
    assert hide_secrets({"max_tokens": 400}, {}) == {"max_tokens": 400}


def test_a_value_that_goes_very_deep_comes_to_an_end() -> None:
    deep: JsonValue = "x"
    for _ in range(400):
        deep = {"a": [deep]}
    assert hide_secrets({"it": deep}, {}) == {"it": deep}
    hidden = dump_text(hide_secrets({"secret": deep}, {}))
    assert MASK in hidden
    assert hidden.count('"a"') == 50


def test_arguments_in_words_have_masks_too() -> None:
    shown = show_args({"password": "hunter2", "login": {"user": "bob", "key": "s3"}}, SCHEMA)
    assert shown == {"password": MASK, "login": f'{{"user":"bob","key":"{MASK}"}}'}


def test_a_schema_that_leads_to_itself_comes_to_an_end() -> None:
    circle = {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}}
    assert hide_secrets({"a": {"b": 1}}, circle) == {"a": {"b": 1}}
