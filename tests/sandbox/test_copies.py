"""What the sandbox hands out is nobody else's."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bot.sandbox.wire import copied

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10
)


@given(JSON)
def test_a_copy_is_the_same_and_shares_nothing_that_can_change(value: Any) -> None:
    copy = copied(value)
    assert copy == value
    assert not {id(one) for one in _changeable(copy)} & {id(one) for one in _changeable(value)}


def _changeable(value: Any) -> list[Any]:
    if not isinstance(value, dict | list):
        return []
    inside = value.values() if isinstance(value, dict) else value
    return [value, *(one for inner in inside for one in _changeable(inner))]
