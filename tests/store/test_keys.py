from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode

import pytest

from agent.errors import ConfigError
from store.keys import NO_KEYS, new_key, parse_keys, prove, prove_audit

ONE, TWO, THREE = (b64encode(bytes(range(n, n + 32))).decode() for n in (10, 50, 90))


def test_the_newest_comes_first() -> None:
    held = parse_keys(f"2026-11:{ONE}, 2025-01:{TWO}", THREE)
    assert held.ids == ("2026-11", "2025-01")
    assert held.cipher.newest == "2026-11"
    assert held.audit == bytes(range(90, 122))


@pytest.mark.parametrize("nothing", [None, "", "  "])
def test_nothing_said_is_nothing_kept(nothing: str | None) -> None:
    assert parse_keys(nothing, nothing) == NO_KEYS
    assert NO_KEYS.cipher.newest is None


def test_both_alphabets_of_base64_are_read() -> None:
    secret = bytes(range(255, 223, -1))
    assert "_" in urlsafe_b64encode(secret).decode()
    held = parse_keys(f"k:{urlsafe_b64encode(secret).decode()}")
    assert held.encryption[0].secret == secret


@pytest.mark.parametrize(
    ("encryption", "why"),
    [
        (ONE, "key 1 is not of the form ID:BASE64"),
        (f"k1:{ONE},{TWO}", "key 2 is not of the form ID:BASE64"),
        (f"k1:{ONE},", "key 2 is not of the form ID:BASE64"),
        (f"a b:{ONE}", "key 1 is not of the form ID:BASE64"),
        (f"{'k' * 41}:{ONE}", "key 1 is not of the form ID:BASE64"),
        (f"k1:{ONE},k1:{TWO}", "two keys have the id k1"),
        ("k1:c2hvcnQ=", "the key k1 has 5 bytes instead of 32"),
        ("k1:", "the key k1 has 0 bytes instead of 32"),
        (f"k1:{ONE}!", "the key k1 is no base64"),
        (f"k1:{ONE[:20]}\n{ONE[20:]}", "the key k1 is no base64"),
        (f"k1: {ONE}", "the key k1 is no base64"),
        (f"k1:{ONE[:-1]}", "the key k1 is no base64"),
        (f"k1:{ONE}=", "the key k1 is no base64"),
        (f"k1:{ONE}AAAA", "the key k1 is no base64"),
        (f"k1:+_{ONE[2:]}", "the key k1 is no base64"),
        (f"k1:{ONE[:10]}\u00e9{ONE[11:]}", "the key k1 is no base64"),
        (f"k1:{ONE[:-2]}l=", "a letter of it was changed"),
        (f"k1:{'A' * 43}=", "the key k1 was not made at random"),
        (f"k1:{b64encode(b'correct' * 4 + b'corr').decode()}", "the key k1 was not made at random"),
        (f"k1:{ONE},k2:{ONE}", "the keys k1 and k2 are one and the same"),
    ],
)
def test_a_wrong_one_is_said_in_one_line_and_never_shown(encryption: str, why: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_keys(encryption)
    said = str(refused.value)
    assert said.startswith("The setting PILOTHOUSE_ENCRYPTION_KEYS is wrong: ")
    assert why in said
    assert "\n" not in said
    assert ONE[:8] not in said


def test_a_wrong_audit_key_is_said_of_its_setting() -> None:
    with pytest.raises(ConfigError, match="PILOTHOUSE_AUDIT_KEY is wrong: it has 5 bytes"):
        parse_keys(None, "c2hvcnQ=")


def test_the_audit_key_is_a_key_of_its_own() -> None:
    with pytest.raises(ConfigError, match="AUDIT_KEY is wrong: it is the key k1 of") as refused:
        parse_keys(f"k1:{ONE}", ONE)
    assert ONE[:8] not in str(refused.value)


def test_nothing_that_is_printed_shows_a_key() -> None:
    held = parse_keys(f"k1:{ONE}", TWO)
    assert held.audit is not None
    for secret in (held.encryption[0].secret, held.audit):
        assert repr(secret) not in repr(held)


def test_a_key_proves_itself_alone() -> None:
    one, two = parse_keys(f"k1:{ONE},k2:{TWO}").encryption
    (renamed,) = parse_keys(f"k2:{ONE}").encryption
    assert len({prove(one), prove(two), prove(renamed), prove_audit(one.secret)}) == 4


def test_a_new_key_is_one_and_no_other() -> None:
    assert len({new_key(), new_key()}) == 2
    assert parse_keys(f"k1:{new_key()}").ids == ("k1",)
