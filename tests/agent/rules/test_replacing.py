"""The quick ``replace`` gives what the standard one gives."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from agent.rules.replacing import replace
from tests.agent.rules.histories import in_review

STATE = in_review().state
VALUES: list[tuple[Any, dict[str, Any]]] = [
    (STATE, {"seq": 99, "answer": "x"}),
    (next(iter(STATE.calls.values())), {"status": "ended", "attempts": 7}),
    (next(iter(STATE.approvals.values())), {"status": "settled"}),
]


@pytest.mark.parametrize(("value", "changes"), VALUES, ids=lambda v: type(v).__name__)
def test_it_changes_what_it_is_told_and_nothing_else(value: Any, changes: dict[str, Any]) -> None:
    before = dataclasses.asdict(value)
    changed = replace(value, **changes)
    assert changed == dataclasses.replace(value, **changes)
    assert type(changed) is type(value)
    assert dataclasses.asdict(value) == before


@pytest.mark.parametrize("value", [value for value, _ in VALUES], ids=lambda v: type(v).__name__)
def test_a_field_that_is_not_there_is_refused_and_a_copy_is_as_frozen(value: Any) -> None:
    with pytest.raises(TypeError, match="no field colour"):
        replace(value, colour="red")
    with pytest.raises(dataclasses.FrozenInstanceError):
        replace(value).status = "x"


def test_it_is_used_only_for_what_it_fits() -> None:
    for value, _ in VALUES:
        assert not hasattr(type(value), "__slots__")
        assert not hasattr(type(value), "__post_init__")
