from __future__ import annotations

from base64 import b64decode, b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.chain import CHANGED, Unread
from store.cipher import Cipher, Key, key_of

OLD, NEW = Key("old", b"o" * 32), Key("2026-11", b"n" * 32)
BODY = '{"kind":"run_started","prompt":"refund ORD-3300 180"}'


@given(st.text(), st.integers(1, 2**62))
def test_what_was_kept_is_read_at_its_place(body: str, seq: int) -> None:
    cipher = Cipher([NEW, OLD])
    kept = cipher.keep("run_1", seq, body)
    assert cipher.read("run_1", seq, kept) == body
    assert key_of(kept) == "2026-11"


def test_what_is_kept_shows_nothing_of_it_not_even_that_it_is_the_same() -> None:
    cipher = Cipher([NEW])
    kept, again = cipher.keep("run_1", 1, BODY), cipher.keep("run_1", 1, BODY)
    assert kept != again
    assert BODY.encode() not in b64decode(kept.rpartition(":")[2])


def test_an_older_key_still_reads_and_the_newest_writes() -> None:
    kept = Cipher([OLD]).keep("run_1", 1, BODY)
    both = Cipher([NEW, OLD])
    assert both.read("run_1", 1, kept) == BODY
    assert key_of(both.keep("run_1", 1, BODY)) == NEW.id


def test_without_keys_a_body_is_kept_as_it_is() -> None:
    assert Cipher().keep("run_1", 1, BODY) == BODY


def test_what_was_written_before_there_were_keys_is_read() -> None:
    assert Cipher([NEW]).read("run_1", 1, BODY) == BODY
    assert key_of(BODY) is None


@pytest.mark.parametrize(("journal", "seq"), [("run_2", 1), ("run_1", 2), ("run_", 11)])
def test_it_can_be_moved_nowhere(journal: str, seq: int) -> None:
    cipher = Cipher([NEW])
    assert cipher.read(journal, seq, cipher.keep("run_1", 1, BODY)) == Unread(CHANGED)


@given(st.data())
def test_a_change_of_any_bit_shows(data: st.DataObject) -> None:
    cipher = Cipher([NEW])
    start, _, sealed = cipher.keep("run_1", 1, BODY).rpartition(":")
    raw = bytearray(b64decode(sealed))
    bit = data.draw(st.integers(0, len(raw) * 8 - 1))
    raw[bit // 8] ^= 1 << bit % 8
    assert cipher.read("run_1", 1, f"{start}:{b64encode(raw).decode()}") == Unread(CHANGED)


@pytest.mark.parametrize(
    "kept",
    ["sealed:2026-11:", "sealed:2026-11", "sealed:2026-11:AA==", "sealed:2026-11:!", None, b"x", 7],
)
def test_what_was_never_kept_is_no_crash(kept: object) -> None:
    assert Cipher([NEW]).read("run_1", 1, kept) == Unread(CHANGED)


@pytest.mark.parametrize("cipher", [Cipher(), Cipher([OLD])])
def test_a_key_that_is_missing_is_named(cipher: Cipher) -> None:
    found = cipher.read("run_1", 1, Cipher([NEW]).keep("run_1", 1, BODY))
    assert isinstance(found, Unread)
    assert "the key 2026-11" in found.why


def test_another_key_of_the_same_id_reads_nothing() -> None:
    kept = Cipher([NEW]).keep("run_1", 1, BODY)
    assert Cipher([Key(NEW.id, b"x" * 32)]).read("run_1", 1, kept) == Unread(CHANGED)
