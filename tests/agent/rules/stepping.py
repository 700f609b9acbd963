"""Tables of steps: for each prefix of a history, what is to be done right after it."""

from __future__ import annotations

from agent.rules.events import Event
from agent.rules.steps import AskModel, Step, next_step
from tests.agent.rules.histories import begun

#: One event and what is to be done right after it.
Row = tuple[Event, Step]


def follow(rows: list[Row]) -> None:
    """A run that has just begun, and these behind it."""
    history = begun()
    assert next_step(history.state, history.now) == AskModel()
    for number, (event, step) in enumerate(rows, 1):
        history = history.then(event)
        assert next_step(history.state, history.now) == step, f"after row {number}"
