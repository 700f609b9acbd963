"""By which words it is known again that a run was given up."""

from __future__ import annotations

import pytest

from agent.rules.given_up import is_given_up, never_ended
from tests.agent.rules.histories import call_started, started


@pytest.mark.parametrize("name", ["Refund an order", "process_refund"])
def test_a_call_that_never_ended_is_named_by_its_title_and_was_by_its_tool(name: str) -> None:
    begun_twice = started().then(call_started(1, started().now, 2)).state
    assert is_given_up(begun_twice, never_ended(name, 2))
    assert not is_given_up(begun_twice, never_ended(name, 3))
    assert not is_given_up(started().state, never_ended(name, 2))


def test_another_name_is_another_failure() -> None:
    begun_twice = started().then(call_started(1, started().now, 2)).state
    assert not is_given_up(begun_twice, never_ended("Drop a table", 2))
