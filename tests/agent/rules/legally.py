"""Looking at legal histories: how many, and one state after the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from hypothesis import HealthCheck, settings

from agent.rules.events import Event
from agent.rules.fold import apply
from agent.rules.state import RunState
from tests.agent.rules.histories import History
from tests.examples import examples

legally = settings(
    max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


def states_of(history: History) -> list[RunState]:
    """The state after each event."""
    states: list[RunState] = []
    for one in history.recorded:
        states.append(apply(states[-1] if states else None, one))
    return states


def with_what_followed(history: History) -> Iterator[tuple[RunState, Event]]:
    """Each state, and the event right behind it."""
    states = states_of(history)
    for state, (_, one) in zip(states, pairwise(history.recorded), strict=False):
        yield state, one.event
