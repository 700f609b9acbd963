"""What globs match beside each other."""

from __future__ import annotations

import time
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.rules.globs import covers, overlap

#: Of the letters that a glob is made of, so that many of them match one another.
_GLOBS = st.text(alphabet="ab*?[]!-", max_size=6)
_NAMES = st.text(alphabet="abc[]!-", max_size=5)


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("*", "pay"),
        ("*", "git.*"),
        ("pay", "pay"),
        ("git.*", "git.git_*"),
        ("**", "*"),
        ("*_refund", "process_refund"),
        ("?*", "a*"),
        ("[a-d]*", "[bc]x"),
        ("[!x]", "[ab]"),
        ("[", "["),
    ],
)
def test_a_glob_covers_what_matches_no_more_than_it_does(wide: str, narrow: str) -> None:
    assert covers(wide, narrow)


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("pay", "*"),
        ("git.*", "git*"),
        ("?*", "*"),
        ("*_refund", "process_*"),
        ("[bc]x", "[a-d]*"),
        ("Pay", "pay"),
        ("[!x]", "[wxy]"),
    ],
)
def test_a_glob_covers_nothing_that_matches_more(wide: str, narrow: str) -> None:
    assert not covers(wide, narrow)


def test_globs_overlap_where_one_text_matches_both() -> None:
    assert overlap("git.*", "*_delete")
    assert overlap("pay", "p*")
    assert not overlap("git.*", "tracker.*")
    assert not overlap("[ab]", "[cd]")


@given(_GLOBS, _GLOBS, _NAMES)
def test_no_name_shows_the_answer_to_be_wrong(one: str, other: str, name: str) -> None:
    if covers(one, other) and fnmatchcase(name, other):
        assert fnmatchcase(name, one)
    if fnmatchcase(name, one) and fnmatchcase(name, other):
        assert overlap(one, other)


def test_what_would_take_too_long_is_not_certain() -> None:
    began = time.monotonic()
    assert not covers("*a" + "?" * 40, "*a" + "?" * 39 + "[ab]" + "*")
    assert time.monotonic() - began < 10
