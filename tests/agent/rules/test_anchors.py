from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from agent.rules.anchors import Anchor, Head, NoAnchor, anchor_of, dump_anchor, load_anchor

AT = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
HEADS = (Head(journal="run_1", seq=3, hash="b" * 64), Head(journal="control", seq=0, hash=""))


def test_an_anchor_is_read_as_it_was_written() -> None:
    anchor = anchor_of(HEADS, AT)
    assert load_anchor(dump_anchor(anchor)) == anchor
    assert [head.journal for head in anchor.heads] == ["control", "run_1"]
    assert anchor.taken_at == "2026-11-29T12:00:00Z"


def test_an_anchor_has_the_form_of_the_first_release() -> None:
    """Were this to change, no anchor that was kept could be read."""
    assert json.loads(dump_anchor(anchor_of(HEADS, AT))) == {
        "pilothouse_anchor": 1,
        "taken_at": "2026-11-29T12:00:00Z",
        "heads": [
            {"journal": "control", "seq": 0, "hash": ""},
            {"journal": "run_1", "seq": 3, "hash": "b" * 64},
        ],
        "hash": "48a9c9e99bd92c8b12dffc4769964a0edb667e28a5791d3bd98203099539e125",
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [('"seq": 3', '"seq": 2'), ("bbb", "bba"), ("2026", "2027"), ('"run_1"', '"run_2"')],
)
def test_an_anchor_that_was_changed_is_refused(old: str, new: str) -> None:
    text = dump_anchor(anchor_of(HEADS, AT))
    assert old in text
    with pytest.raises(NoAnchor, match="changed"):
        load_anchor(text.replace(old, new))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", "null", '{"hash": 1}', '{"pilothouse_anchor": 2, "hash": ""}']
)
def test_what_is_no_anchor_is_refused(text: str) -> None:
    with pytest.raises(NoAnchor, match="no anchor"):
        load_anchor(text)


def test_an_anchor_may_be_empty() -> None:
    assert load_anchor(dump_anchor(anchor_of((), AT))) == Anchor(
        taken_at="2026-11-29T12:00:00Z", heads=()
    )
